// `culprit templates`: which CPUs have a template and how much of the tree it covers; what one
// says; whether they are right.

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "templates/find_template.h"
#include "templates/lint.h"
#include "toml/toml_folder.h"

#include "base/cpuid.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/program_files.h"
#include "cli/template_tree.h"
#include "cli/terminal.h"

namespace culprit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "culprit-templates-1";

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

struct Listed {
  Template whole;
  size_t match = 0;  // with this machine's CPU
};

Result<std::vector<Listed>> read_list(const std::string& cpuid) {
  ASSIGN_OR_RETURN(const std::string folder, shipped_folder());
  std::vector<Listed> out;
  for (const std::string& name : list_templates(folder)) {
    ASSIGN_OR_RETURN(Template whole, read_template(template_path(folder, name)));
    const size_t match = cpuid.empty() ? 0 : compute_match(whole, cpuid);
    out.push_back({std::move(whole), match});
  }
  return out;
}

Result<std::string> print_list(const TemplatesCommand& command) {
  const Result<std::string> here = read_cpuid();
  const std::string cpuid = here ? *here : "";
  ASSIGN_OR_RETURN(const std::vector<Listed> list, read_list(cpuid));
  size_t most = 0;
  for (const Listed& listed : list) most = std::max(most, listed.match);
  Json json{{"schema", kSchema}, {"cpu", cpuid}};
  json["templates"] = Json::array();
  std::string text =
      fmt::format("{:<20}  {:<24}  {:<9}  {}\n", "template", "branches of 11", "validated", "CPU");
  for (const Listed& listed : list) {
    const Template& whole = listed.whole;
    const bool is_here = most > 0 && listed.match == most;
    json["templates"].push_back({{"name", printable(whole.name)},
                                 {"description", printable(whole.description)},
                                 {"validated", whole.is_validated},
                                 {"full", count_branches(whole, Coverage::full)},
                                 {"partial", count_branches(whole, Coverage::partial)},
                                 {"none", count_branches(whole, Coverage::none)},
                                 {"is_here", is_here}});
    text += fmt::format("{:<20}  {:<24}  {:<9}  {}{}\n", printable(whole.name),
                        coverage_in_words(whole), whole.is_validated ? "yes" : "no",
                        printable(whole.description), is_here ? "  <- this machine" : "");
  }
  if (most == 0) {
    text += fmt::format(
        "\nNone is for this machine's CPU ({}): docs/manual.md, \"Templates\", "
        "says how to add one.\n",
        cpuid.empty() ? "which does not say what it is" : printable(cpuid));
  }
  text += "\nNext  culprit templates show NAME   its branches, events and penalties\n";
  return command.format == Format::json ? json.dump(1) + "\n" : text;
}

Result<std::string> print_one(const TemplatesCommand& command) {
  ASSIGN_OR_RETURN(const Template whole, find_template(command.names[0], find_templates()));
  if (command.format != Format::json) return print_template(whole);
  Json json{{"schema", kSchema}};
  json["template"] = json_of(whole);
  return json.dump(1) + "\n";
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

int run_templates(const TemplatesCommand& command) {
  if (command.action == TemplatesAction::lint) return run_lint(command);
  const Result<std::string> text =
      command.action == TemplatesAction::show ? print_one(command) : print_list(command);
  if (!text) return fail(text.error());
  if (const Result<void> written = write_output(*text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
