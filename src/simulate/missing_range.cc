#include "simulate/missing_range.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "binary/demangle.h"
#include "simulate/objects/elf_objects.h"

namespace culprit {
namespace {

constexpr size_t kMostNames = 6;

std::vector<std::string> variables_of(const std::string& path) {
  std::vector<std::string> names;
  const Result<Fd> fd = open_readable(path);
  if (!fd) return names;
  const Result<MappedFile> file = MappedFile::map(fd->get(), path);
  if (!file) return names;
  const auto elf = objects::parse_elf_objects(file->bytes());
  if (!elf) return names;
  for (const objects::ElfVariable& one : elf->variables) names.push_back(one.name);
  return names;
}

/// Whether the source may call it so: "table" of "table.3", "main.table" (clang) and "ns::table".
bool may_be_called(const std::string& symbol, std::string_view wanted) {
  if (without_number(symbol) == wanted) return true;
  const std::string_view in_function = without_number(symbol);
  const size_t dot = in_function.rfind('.');
  if (dot != std::string_view::npos && in_function.substr(dot + 1) == wanted) return true;
  const std::string plain = demangle(symbol);
  return plain == wanted || last_part(plain) == wanted;
}

}  // namespace

std::string describe_missing(const objects::Range& range, const std::vector<std::string>& files) {
  std::string nearest;
  for (const std::string& path : files) {
    if (!range.is_in(path)) continue;
    const std::vector<std::string> variables = variables_of(path);
    std::vector<std::string> meant;
    for (const std::string& one : variables) {
      if (may_be_called(one, range.symbol)) meant.push_back(printable(one));
    }
    if (!meant.empty()) {
      const size_t further = meant.size() - std::min(meant.size(), kMostNames);
      meant.resize(meant.size() - further);
      std::string names = fmt::format("{}", fmt::join(meant, " or "));
      if (further > 0) names += fmt::format(" ({} more)", further);
      return fmt::format("'{}' may be {} of {}: name {}", printable(range.symbol), names,
                         printable(base_name(path)), meant.size() > 1 ? "one of them" : "that");
    }
    if (!nearest.empty()) continue;
    std::vector<std::string> stems;
    for (const std::string& one : variables) stems.emplace_back(without_number(one));
    nearest = printable(nearest_word(range.symbol, stems));
  }
  return fmt::format("no variable '{}' in {}{}", printable(range.symbol),
                     range.file.empty() ? "any file that ran" : printable(range.file),
                     nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest));
}

}  // namespace culprit
