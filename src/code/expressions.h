#pragma once

// Expressions over values that a function starts with or meets: equal ones have one number.
//
//     lea 0xe08(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax
//     rax = 0x2004 + sign_extended(load4(0x2004 + (zero_extended(rdi, 32) << 2)), 32)
//
// Sums are kept as one constant and what is added to it, in the order of their numbers.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/row_index.h"

namespace culprit {

using ExpressionId = uint32_t;
inline constexpr ExpressionId kNoExpression = UINT32_MAX;

enum class ExpressionKind : uint8_t {
  unknown,        // number: its name
  constant,       // number
  sum,            // first + second; the second is a constant if there is one
  shifted,        // first << number
  zero_extended,  // the low `number` bits of first
  sign_extended,
  mask,  // first & number
  load,  // `number` bytes at first, the others 0
};

struct Expression {
  ExpressionKind kind = ExpressionKind::unknown;
  ExpressionId first = kNoExpression;
  ExpressionId second = kNoExpression;
  uint64_t number = 0;
  friend bool operator==(const Expression&, const Expression&) = default;
};

struct ExpressionHash {
  size_t operator()(const Expression& what) const noexcept {
    uint64_t hash = what.number * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
    hash = (hash ^ (uint64_t{what.first} << 32 | what.second)) * 0xbf58476d1ce4e5b9;
    hash ^= hash >> 32;
    return static_cast<size_t>((hash ^ static_cast<uint64_t>(what.kind)) * 0x94d049bb133111eb);
  }
};

/// target = base + (entry << entry_shift), entry = `bytes` at table + (index << index_shift)
struct TableShape {
  uint64_t base = 0;
  uint64_t table = 0;
  uint8_t bytes = 0;
  bool is_signed = false;
  uint8_t entry_shift = 0;
  uint8_t index_shift = 0;
  ExpressionId index = kNoExpression;
};

class Expressions {
 public:
  ExpressionId unknown(uint64_t name) {
    return make({ExpressionKind::unknown, kNoExpression, kNoExpression, name});
  }
  ExpressionId constant(uint64_t value) {
    return make({ExpressionKind::constant, kNoExpression, kNoExpression, value});
  }
  ExpressionId add(ExpressionId first, ExpressionId second);
  ExpressionId scale(ExpressionId what, uint8_t shift);
  ExpressionId extend(ExpressionId what, uint8_t bits, bool is_signed);
  ExpressionId mask(ExpressionId what, uint64_t bits);
  ExpressionId load(ExpressionId address, uint8_t bytes);

  [[nodiscard]] const Expression& at(ExpressionId id) const { return all_[id]; }
  /// The largest value that it can have by its form.
  [[nodiscard]] uint64_t largest(ExpressionId id) const;
  [[nodiscard]] ExpressionId find_zero_extended(ExpressionId what, uint64_t bits) const;
  /// An address is its base and a constant offset.
  [[nodiscard]] ExpressionId base_of(ExpressionId address) const;
  [[nodiscard]] uint64_t offset_of(ExpressionId address) const;

  [[nodiscard]] std::optional<TableShape> find_table(ExpressionId target) const;

 private:
  ExpressionId make(const Expression& what);
  [[nodiscard]] bool is(ExpressionId id, ExpressionKind kind) const {
    return all_[id].kind == kind;
  }

  std::vector<Expression> all_;
  RowIndex known_;
};

}  // namespace culprit
