#pragma once

// The template files of a folder, and which of them is for a CPU.

#include <string>
#include <vector>

#include "base/result.h"
#include "templates/template.h"
#include "templates/template_toml.h"

namespace culprit {

/// Reads a file, and the base beside it that it may be a variant of.
/// Errors: file, line, what is wrong; the system's reason.
Result<Template> read_template(const std::string& path);

/// Reads it with its mistake kept apart, as lint needs it.
TemplateFile read_template_file(const std::string& path);

/// A path (with a slash or .toml), or the name of a template in `folder`.
/// Errors: there is none of that name (those that there are), or it cannot be read.
Result<Template> find_template(const std::string& name_or_path, const std::string& folder);

/// The names of the templates in `folder`, in order; none if there is no such folder.
std::vector<std::string> list_templates(const std::string& folder);
std::string template_path(const std::string& folder, const std::string& name);

/// Whether it says that it is for the CPU of this name (cpuid.h): the number of characters of
/// the pattern that says so, the most if several do; 0: no.
size_t compute_match(const Template& candidate, const std::string& cpuid);

/// The template for a CPU: the one whose pattern says most.
/// Errors: none is for it; or one that may have been cannot be read.
Result<Template> match_template(const std::string& folder, const std::string& cpuid);

}  // namespace culprit
