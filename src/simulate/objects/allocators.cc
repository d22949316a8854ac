#include "simulate/objects/allocators.h"

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

}  // namespace

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
  if (symbol != "culprit_range_mark") return std::nullopt;
  return Allocator{Allocator::Kind::marks, 2, kNone, 1};
}

}  // namespace culprit::objects
