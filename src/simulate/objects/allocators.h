#pragma once

// Functions that allocate and free memory, or mark parts of it (include/culprit/range.h), known by
// their names: what they are handed and what they give back.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::objects {

struct Allocator {
  enum class Kind : uint8_t {
    none,
    allocates,     // argument `size` is the block's, times `count` if there is one; returns it
    reallocates,   // the same, argument `block` is no more if one is returned
    stores_block,  // as allocates; puts the block where argument `block` points, and returns 0
    frees,         // argument `block`
    marks,         // argument 0 names a range of `size` bytes from `block` on
    marks_own,     // the same, for the thread that calls it
  };
  static constexpr uint8_t kNone = 0xff;

  Kind kind = Kind::none;
  uint8_t size = kNone;  // numbers of arguments, from 0
  uint8_t count = kNone;
  uint8_t block = kNone;
  friend bool operator==(const Allocator&, const Allocator&) = default;
};

/// An allocator is known by the name of its symbol: malloc and its like, also with the prefixes of
/// jemalloc, tcmalloc and mimalloc, and C++'s operators new and delete.
std::optional<Allocator> find_allocator(std::string_view symbol);
/// --allocator: a function of the program's own that allocates, or frees. Arguments count from 1.
///
///     pool_get            argument 1 is the size
///     arena_alloc:2       argument 2 is the size
///     array_new:1*2       argument 1 times argument 2
///     pool_put:frees      argument 1 is the block that is no more
///     arena_free:frees:2
struct OwnAllocator {
  std::string symbol;
  Allocator what;
  friend bool operator==(const OwnAllocator&, const OwnAllocator&) = default;
};
/// Errors: what is wrong with the text.
Result<OwnAllocator> parse_allocator(std::string_view text);

/// The host side tells them to the program's process by a file in the folder of counts, as they are
/// written.
std::string allocators_file_path(const std::string& folder);
Result<void> write_allocators_file(const std::string& path, const std::vector<std::string>& texts);
/// No such file is no allocator. Errors: not of this kind.
Result<std::vector<OwnAllocator>> read_allocators_file(const std::string& path);

/// Of a function that marks ranges, which may be local to its file.
std::optional<Allocator> find_range_mark(std::string_view symbol);

}  // namespace culprit::objects
