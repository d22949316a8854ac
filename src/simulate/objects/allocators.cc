#include "simulate/objects/allocators.h"

#include <cstdio>
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit::objects {
namespace {

constexpr uint8_t kNone = Allocator::kNone;

struct Named {
  std::string_view name;
  Allocator what;
};

constexpr Allocator kOfSize{Allocator::Kind::allocates, 0, kNone, kNone};
constexpr Allocator kAligned{Allocator::Kind::allocates, 1, kNone, kNone};
constexpr Allocator kFrees{Allocator::Kind::frees, kNone, kNone, 0};

constexpr Named kOfC[] = {
    {"malloc", kOfSize},
    {"calloc", {Allocator::Kind::allocates, 1, 0, kNone}},
    {"realloc", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"reallocarray", {Allocator::Kind::reallocates, 2, 1, 0}},
    {"aligned_alloc", kAligned},
    {"memalign", kAligned},
    {"posix_memalign", {Allocator::Kind::stores_block, 2, kNone, 0}},
    {"valloc", kOfSize},
    {"pvalloc", kOfSize},
    {"free", kFrees},
    {"cfree", kFrees},
    {"free_sized", kFrees},
    {"free_aligned_sized", kFrees},
};

/// Interpreters and databases have these, which hand out parts of what they have got from malloc or
/// mmap.
constexpr Named kOfPrograms[] = {
    {"PyObject_Malloc", kOfSize},
    {"PyObject_Calloc", {Allocator::Kind::allocates, 1, 0, kNone}},
    {"PyObject_Realloc", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"PyObject_Free", kFrees},
    {"PyMem_Malloc", kOfSize},
    {"PyMem_Calloc", {Allocator::Kind::allocates, 1, 0, kNone}},
    {"PyMem_Realloc", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"PyMem_Free", kFrees},
    {"PyMem_RawMalloc", kOfSize},
    {"PyMem_RawCalloc", {Allocator::Kind::allocates, 1, 0, kNone}},
    {"PyMem_RawRealloc", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"PyMem_RawFree", kFrees},
    {"sqlite3_malloc", kOfSize},
    {"sqlite3_malloc64", kOfSize},
    {"sqlite3_realloc", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"sqlite3_realloc64", {Allocator::Kind::reallocates, 1, kNone, 0}},
    {"sqlite3_free", kFrees},
};

// Names are mangled: operator new, new[], delete, delete[] with whatever follows the size (m:
// size_t).
constexpr Named kOfCpp[] = {
    {"_Znwm", kOfSize}, {"_Znam", kOfSize}, {"_ZdlPv", kFrees}, {"_ZdaPv", kFrees}};

constexpr std::string_view kPrefixes[] = {"je_", "tc_", "mi_", "__libc_"};

/// "1" to "6", as it counts from 0.
std::optional<uint8_t> parse_argument(std::string_view text) {
  constexpr uint64_t kMostArguments = 6;  // that are handed over in registers
  const auto number = find_number(text, 10);
  if (!number || *number < 1 || *number > kMostArguments) return std::nullopt;
  return static_cast<uint8_t>(*number - 1);
}

/// What comes behind the symbol: "2", "1*2", "frees", "frees:2".
std::optional<Allocator> parse_arguments(std::string_view text) {
  constexpr std::string_view kFreeing = "frees";
  if (text.starts_with(kFreeing)) {
    text.remove_prefix(kFreeing.size());
    if (!text.empty() && !text.starts_with(':')) return std::nullopt;
    const auto block = text.empty() ? std::optional<uint8_t>(0) : parse_argument(text.substr(1));
    if (!block) return std::nullopt;
    return Allocator{Allocator::Kind::frees, kNone, kNone, *block};
  }
  const size_t times = text.find('*');
  const auto size = parse_argument(text.substr(0, times));
  if (!size) return std::nullopt;
  if (times == std::string_view::npos) {
    return Allocator{Allocator::Kind::allocates, *size, kNone, kNone};
  }
  const auto count = parse_argument(text.substr(times + 1));
  if (!count) return std::nullopt;
  return Allocator{Allocator::Kind::allocates, *size, *count, kNone};
}

}  // namespace

Result<OwnAllocator> parse_allocator(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view symbol = text.substr(0, colon);
  const auto what = colon == std::string_view::npos ? std::optional(kOfSize)
                                                    : parse_arguments(text.substr(colon + 1));
  if (symbol.empty() || !what || text.find('\n') != std::string_view::npos) {
    return Error{
        fmt::format("'{}' is no allocator: write SYMBOL, SYMBOL:SIZE, SYMBOL:SIZE*COUNT or "
                    "SYMBOL:frees[:BLOCK], with the numbers of arguments, from 1 to 6",
                    printable(text))};
  }
  return OwnAllocator{std::string(symbol), *what};
}

std::string allocators_file_path(const std::string& folder) {
  return folder + "/allocators";
}

Result<void> write_allocators_file(const std::string& path, const std::vector<std::string>& texts) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  bool is_written = file != nullptr;
  for (const std::string& text : texts) {
    is_written = is_written && std::fputs((text + "\n").c_str(), file.get()) >= 0;
  }
  if (!is_written || std::fflush(file.get()) != 0) return Error{"cannot write '" + path + "'"};
  return {};
}

Result<std::vector<OwnAllocator>> read_allocators_file(const std::string& path) {
  std::vector<OwnAllocator> allocators;
  if (!file_exists(path)) return allocators;
  ASSIGN_OR_RETURN(const std::string text, read_file(path, 1 << 20));
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    ASSIGN_OR_RETURN(OwnAllocator one, parse_allocator(line));
    allocators.push_back(std::move(one));
  }
  return allocators;
}

std::optional<Allocator> find_allocator(std::string_view symbol) {
  for (const Named& one : kOfCpp) {
    if (symbol.starts_with(one.name)) return one.what;
  }
  for (const Named& one : kOfPrograms) {
    if (symbol == one.name) return one.what;
  }
  for (const std::string_view prefix : kPrefixes) {
    if (symbol.starts_with(prefix)) {
      symbol.remove_prefix(prefix.size());
      break;
    }
  }
  for (const Named& one : kOfC) {
    if (symbol == one.name) return one.what;
  }
  return std::nullopt;
}

std::optional<Allocator> find_range_mark(std::string_view symbol) {
  if (symbol == "culprit_range_mark") return Allocator{Allocator::Kind::marks, 2, kNone, 1};
  if (symbol == "culprit_thread_range_mark") {
    return Allocator{Allocator::Kind::marks_own, 2, kNone, 1};
  }
  return std::nullopt;
}

}  // namespace culprit::objects
