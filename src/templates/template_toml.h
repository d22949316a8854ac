#pragma once

// Template files (data/templates/*.toml): text → Template. The shape, with all its keys, is
// in docs/manual.md, "Templates"; a file that is short and whole is power9.toml.
//
// A file may be a variant of another, base = "ivy-bridge-ep": what it leaves out is the
// base's; a row of the same event, a formula of the same label, a rule of the same name and
// the coverage of a branch replace the base's.

#include <string>
#include <string_view>

#include "base/result.h"
#include "templates/template.h"
#include "toml/toml_file.h"

namespace culprit {

/// What a file says, and the first thing that is wrong with it (then the rest of it counts
/// for nothing). `base`: the template that the file's base = names, if it names one.
struct TemplateFile {
  Template value;
  std::optional<TomlMistake> mistake;
};
TemplateFile parse_template_file(std::string_view text, const std::string& file,
                                 const Template* base = nullptr);

/// The name in base = "..."; "" if the file is none's variant, or no TOML.
std::string find_base_name(std::string_view text, const std::string& file);

/// Parses a template for whoever needs a right one.
/// Errors: file, line, what is wrong.
Result<Template> parse_template(std::string_view text, const std::string& file,
                                const Template* base = nullptr);

}  // namespace culprit
