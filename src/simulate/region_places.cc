#include "simulate/region_places.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <vector>

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "binary/debug_info.h"
#include "binary/demangle.h"
#include "binary/elf_file.h"
#include "binary/resolvers.h"
#include "binary/symbols.h"
#include "simulate/qemu/qemu_command.h"

namespace culprit {
namespace {

/// The names nearest to `wanted`, at most three.
std::string suggest(const std::string& wanted, std::vector<std::string> names) {
  std::vector<std::string> nearest;
  while (nearest.size() < 3) {
    const std::string next = nearest_word(wanted, names);
    if (next.empty()) break;
    nearest.push_back(printable(next));
    std::erase(names, next);
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(nearest, ", "));
}

/// A part of a function that GCC has put elsewhere is entered by a jump: it is no function.
bool is_cold_part(std::string_view linked) {
  return linked.find(".cold") != linked.npos;
}

bool is_meant(std::string_view linked, const std::string& symbol) {
  const std::string name = demangle(linked);
  return linked == symbol || name == symbol || without_parameters(name) == symbol;
}

/// The functions that `symbol` was inlined into, at most three, by the program's debug information.
std::vector<std::string> find_callers_of_inlined(const std::string& symbol, const ElfFile& elf,
                                                 const Symbols& symbols, const std::string& path) {
  Result<DebugInfo> debug = DebugInfo::open(elf, elf, nullptr, path);
  if (!debug) return {};
  const DebugFacts facts = debug->read(ranges_of(symbols));
  std::vector<std::string> callers;
  for (const RangeFacts& range : facts.ranges) {
    const bool has_it = std::ranges::any_of(range.inlines, [&](const DebugInline& call) {
      return is_meant(facts.strings[call.name], symbol);
    });
    if (!has_it || !range.function || callers.size() == 3) continue;
    const std::string caller = demangle(facts.strings[range.function->name]);
    const std::string name(without_parameters(caller));
    if (std::ranges::find(callers, name) == callers.end()) callers.push_back(name);
  }
  return callers;
}

Result<counting::RegionPlaces> find_in_file(const std::string& symbol, const std::string& path) {
  ASSIGN_OR_RETURN(const Fd fd, open_readable(path));
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::map(fd.get(), path));
  const Result<ElfFile> opened = ElfFile::open(file.bytes());
  if (!opened) {
    return Error{fmt::format("cannot look for '{}' in '{}': {}", printable(symbol), printable(path),
                             opened.error().message)};
  }
  const ElfFile& elf = *opened;
  const Symbols symbols = Symbols::read(elf, nullptr);
  counting::RegionPlaces region{whole_path(path), {}};
  std::vector<std::string> names;
  for (const Symbol& one : symbols.all()) {
    const std::string name = demangle(one.name);
    names.emplace_back(without_parameters(name));
    if (is_cold_part(one.name) || !is_meant(one.name, symbol)) continue;
    if (is_resolver(elf, one.begin)) {
      return Error{fmt::format(
          "'{}' in {} is not what is called: the dynamic linker asks it which of several functions "
          "is to be called in its place (ifunc); name that one",
          printable(symbol), printable(path))};
    }
    if (const auto offset = elf.to_file_offset(one.begin)) region.offsets.push_back(offset->value);
  }
  if (!region.offsets.empty()) return region;
  const std::vector<std::string> callers = find_callers_of_inlined(symbol, elf, symbols, path);
  if (!callers.empty()) {
    return Error{fmt::format(
        "'{}' has no code of its own in {}: it is inlined into {}; name {} instead",
        printable(symbol), printable(path), printable(fmt::format("{}", fmt::join(callers, ", "))),
        printable(callers.front()))};
  }
  return Error{fmt::format("there is no function '{}' in {}{}{}", printable(symbol),
                           printable(path), suggest(symbol, names),
                           names.empty() ? ": it has no symbols" : "")};
}

}  // namespace

std::string whole_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> whole(::realpath(path.c_str(), nullptr),
                                                          std::free);
  return whole ? whole.get() : path;
}

std::vector<AddressRange> ranges_of(const Symbols& symbols) {
  std::vector<AddressRange> ranges;
  for (const Symbol& one : symbols.all()) {
    const bool is_apart = ranges.empty() || ranges.back().end <= one.begin;
    if (is_apart && one.begin < one.end) ranges.push_back({one.begin, one.end});
  }
  return ranges;
}

Result<counting::RegionPlaces> find_region(const std::string& text, const std::string& program) {
  const size_t colon = text.find(':');
  const bool is_scope = colon != std::string::npos && text.substr(colon).starts_with("::");
  if (colon != std::string::npos && !is_scope) {
    const std::string file = text.substr(0, colon);
    const bool is_path = file.find('/') != std::string::npos;  // as no function's name has it there
    if (is_path || file_exists(file)) return find_in_file(text.substr(colon + 1), file);
  }
  ASSIGN_OR_RETURN(const std::string path, find_simulated_program(program));
  return find_in_file(text, path);
}

}  // namespace culprit
