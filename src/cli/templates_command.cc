// `culprit templates`: which CPUs have a template and how much of the tree it covers; what one
// says; whether they are right.

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/cpuid.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "templates/find_template.h"
#include "templates/lint.h"
#include "templates/template_text.h"
#include "toml/toml_folder.h"

namespace culprit {
namespace {

/// The folder of the templates that are shipped.
/// Errors: it is not where an installation or a build has it.
Result<std::string> shipped_folder() {
  const std::string folder = find_templates();
  if (folder.empty()) {
    return Error{
        "the templates are not beside this culprit (../share/culprit/templates): give a "
        "file (.toml)"};
  }
  return folder;
}

/// All that are shipped; those that fit this machine's CPU best are here.
Result<std::vector<ListedTemplate>> read_list(const std::string& cpuid) {
  ASSIGN_OR_RETURN(const std::string folder, shipped_folder());
  std::vector<ListedTemplate> out;
  std::vector<size_t> matches;
  for (const std::string& name : list_templates(folder)) {
    ASSIGN_OR_RETURN(Template whole, read_template(template_path(folder, name)));
    matches.push_back(cpuid.empty() ? 0 : compute_match(whole, cpuid));
    out.push_back({std::move(whole), false});
  }
  const size_t most = matches.empty() ? 0 : *std::max_element(matches.begin(), matches.end());
  for (size_t i = 0; i < out.size(); ++i) out[i].is_here = most > 0 && matches[i] == most;
  return out;
}

Result<std::string> print_list(const TemplatesCommand& command) {
  const Result<std::string> here = read_cpuid();
  const std::string cpuid = here ? *here : "";
  ASSIGN_OR_RETURN(const std::vector<ListedTemplate> list, read_list(cpuid));
  return print_template_list(list, cpuid, command.format);
}

Result<std::string> print_one(const TemplatesCommand& command) {
  ASSIGN_OR_RETURN(const Template whole, find_template(command.names[0], find_templates()));
  return print_template(whole, command.format);
}

/// Names and paths → paths; none: all that are shipped.
Result<std::vector<std::string>> lint_paths(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  if (names.empty()) {
    ASSIGN_OR_RETURN(const std::string folder, shipped_folder());
    for (const std::string& name : list_templates(folder)) {
      paths.push_back(template_path(folder, name));
    }
    if (paths.empty()) return Error{"there is no template in '" + printable(folder) + "'"};
  }
  for (const std::string& name : names) {
    if (is_toml_path(name)) {
      paths.push_back(name);
      continue;
    }
    ASSIGN_OR_RETURN(const Template whole, find_template(name, find_templates()));
    paths.push_back(whole.file);
  }
  return paths;
}

int run_lint(const TemplatesCommand& command) {
  const Result<std::vector<std::string>> paths = lint_paths(command.names);
  if (!paths) return fail(paths.error());
  std::string text;
  size_t count = 0;
  for (const std::string& path : *paths) {
    for (const LintFinding& finding : lint_template_file(path)) {
      text += fmt::format("{}:{}: {}\n", printable(finding.file), finding.line, finding.message);
      ++count;
    }
    const Result<Template> whole = read_template(path);
    if (!whole) continue;
    text += fmt::format("{}: {}\n", printable(whole->name), describe(count_name_checks(*whole)));
  }
  text += fmt::format("{} template{}, {} finding{}\n", paths->size(), paths->size() == 1 ? "" : "s",
                      count, count == 1 ? "" : "s");
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return count == 0 ? 0 : 1;
}

}  // namespace

int run(const TemplatesCommand& command) {
  if (command.action == TemplatesAction::lint) return run_lint(command);
  const Result<std::string> text =
      command.action == TemplatesAction::show ? print_one(command) : print_list(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
