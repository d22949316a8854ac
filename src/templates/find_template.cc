#include "templates/find_template.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cpuid.h"
#include "base/file.h"
#include "base/text.h"
#include "toml/toml_folder.h"

namespace culprit {
namespace {

constexpr uint64_t kMostBytes = 4 << 20;

TemplateFile unreadable(const std::string& path, const Error& error) {
  TemplateFile out;
  out.value.file = path;
  out.mistake = TomlMistake{path, 0, error.message};
  return out;
}

/// A base may not be a variant itself: one level is enough, and ends.
TemplateFile read_with_base(const std::string& path, bool may_have_base) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text) return unreadable(path, text.error());
  const std::string base_name = find_base_name(*text, path);
  const bool is_name = !base_name.empty() && base_name.find('/') == std::string::npos;
  if (!may_have_base || !is_name) return parse_template_file(*text, path);
  const std::string folder = path.substr(0, path.rfind('/') + 1);  // "" without a slash
  const std::string base_path = folder + base_name + std::string(kTomlSuffix);
  if (!file_exists(base_path)) return parse_template_file(*text, path);
  TemplateFile base = read_with_base(base_path, false);
  if (base.mistake) return base;
  return parse_template_file(*text, path, &base.value);
}

}  // namespace

TemplateFile read_template_file(const std::string& path) {
  return read_with_base(path, true);
}

Result<Template> read_template(const std::string& path) {
  TemplateFile file = read_template_file(path);
  if (file.mistake) return file.mistake->error();
  return std::move(file.value);
}

std::string template_path(const std::string& folder, const std::string& name) {
  return folder + "/" + name + std::string(kTomlSuffix);
}

std::vector<std::string> list_templates(const std::string& folder) {
  return list_toml_names(folder);
}

Result<Template> find_template(const std::string& name_or_path, const std::string& folder) {
  if (is_toml_path(name_or_path)) return read_template(name_or_path);
  const std::vector<std::string> known = list_templates(folder);
  if (std::find(known.begin(), known.end(), name_or_path) != known.end()) {
    return read_template(template_path(folder, name_or_path));
  }
  if (known.empty()) {
    return Error{fmt::format("no template '{}': there are none in '{}'; give a file (.toml)",
                             printable(name_or_path), printable(folder))};
  }
  const std::string nearest = nearest_word(name_or_path, known);
  return Error{fmt::format(
      "no template '{}'{}: there are {}; or give a file (.toml)", printable(name_or_path),
      nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), fmt::join(known, ", "))};
}

size_t compute_match(const Template& candidate, const std::string& cpuid) {
  size_t best = 0;
  for (const std::string& pattern : candidate.cpuid) {
    if (matches_cpuid(cpuid, pattern)) best = std::max(best, pattern.size());
  }
  return best;
}

Result<Template> match_template(const std::string& folder, const std::string& cpuid) {
  std::optional<Template> best;
  size_t most = 0;
  std::optional<Error> unreadable_one;
  for (const std::string& name : list_templates(folder)) {
    Result<Template> candidate = read_template(template_path(folder, name));
    if (!candidate) {
      unreadable_one = candidate.error();
      continue;
    }
    const size_t match = compute_match(*candidate, cpuid);
    if (match <= most) continue;
    most = match;
    best = std::move(*candidate);
  }
  if (best) return std::move(*best);
  if (unreadable_one) return *unreadable_one;
  return Error{fmt::format(
      "no template is for the CPU '{}': its cycles are not accounted for; culprit templates "
      "lists those that there are, docs/manual.md says how to add one",
      printable(cpuid))};
}

}  // namespace culprit
