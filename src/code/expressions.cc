#include "code/expressions.h"

#include <algorithm>
#include <utility>

namespace culprit {

ExpressionId Expressions::make(const Expression& what) {
  const ExpressionId id = known_.find_or_add(ExpressionHash()(what), all_.size(),
                                             [&](size_t one) { return all_[one] == what; });
  if (id == all_.size()) all_.push_back(what);
  return id;
}

ExpressionId Expressions::base_of(ExpressionId address) const {
  const Expression& what = all_[address];
  return what.kind == ExpressionKind::sum && is(what.second, ExpressionKind::constant) ? what.first
                                                                                       : address;
}

uint64_t Expressions::offset_of(ExpressionId address) const {
  const Expression& what = all_[address];
  return what.kind == ExpressionKind::sum && is(what.second, ExpressionKind::constant)
             ? all_[what.second].number
             : 0;
}

ExpressionId Expressions::add(ExpressionId first, ExpressionId second) {
  uint64_t constant_part = 0;
  const auto split = [&](ExpressionId& one) {
    if (is(one, ExpressionKind::constant)) {
      constant_part += all_[one].number;
      one = kNoExpression;
      return;
    }
    constant_part += offset_of(one);
    one = base_of(one);
  };
  split(first);
  split(second);
  if (first == kNoExpression) std::swap(first, second);
  if (first == kNoExpression) return constant(constant_part);
  ExpressionId sum = first;
  if (second != kNoExpression) {
    sum = make({ExpressionKind::sum, std::min(first, second), std::max(first, second), 0});
  }
  return constant_part == 0 ? sum : make({ExpressionKind::sum, sum, constant(constant_part), 0});
}

ExpressionId Expressions::scale(ExpressionId what, uint8_t shift) {
  if (shift == 0) return what;
  const Expression of = all_[what];
  if (of.kind == ExpressionKind::constant) return constant(of.number << shift);
  if (of.kind == ExpressionKind::shifted && of.number + shift < 64) {
    return make({ExpressionKind::shifted, of.first, kNoExpression, of.number + shift});
  }
  return make({ExpressionKind::shifted, what, kNoExpression, shift});
}

ExpressionId Expressions::extend(ExpressionId what, uint8_t bits, bool is_signed) {
  if (bits >= 64) return what;
  const Expression of = all_[what];
  const uint64_t low = (uint64_t{1} << bits) - 1;
  if (of.kind == ExpressionKind::constant) {
    const bool is_negative = is_signed && (of.number >> (bits - 1) & 1) != 0;
    return constant(is_negative ? of.number | ~low : of.number & low);
  }
  if (largest(what) <= (is_signed ? low >> 1 : low)) return what;
  if ((of.kind == ExpressionKind::zero_extended || of.kind == ExpressionKind::sign_extended) &&
      of.number >= bits) {
    return extend(of.first, bits, is_signed);
  }
  return make({is_signed ? ExpressionKind::sign_extended : ExpressionKind::zero_extended, what,
               kNoExpression, bits});
}

ExpressionId Expressions::mask(ExpressionId what, uint64_t bits) {
  const Expression of = all_[what];
  if (of.kind == ExpressionKind::constant) return constant(of.number & bits);
  return make({ExpressionKind::mask, what, kNoExpression, bits});
}

ExpressionId Expressions::load(ExpressionId address, uint8_t bytes) {
  return make({ExpressionKind::load, address, kNoExpression, bytes});
}

ExpressionId Expressions::find_zero_extended(ExpressionId what, uint64_t bits) const {
  const Expression wanted{ExpressionKind::zero_extended, what, kNoExpression, bits};
  return known_.find(ExpressionHash()(wanted), [&](size_t one) { return all_[one] == wanted; })
      .value_or(kNoExpression);
}

uint64_t Expressions::largest(ExpressionId id) const {
  const Expression& what = all_[id];
  switch (what.kind) {
    case ExpressionKind::constant:
    case ExpressionKind::mask:
      return what.number;
    case ExpressionKind::zero_extended:
      return std::min(largest(what.first), (uint64_t{1} << what.number) - 1);
    case ExpressionKind::load:
      return what.number >= 8 ? UINT64_MAX : (uint64_t{1} << (what.number * 8)) - 1;
    case ExpressionKind::unknown:
    case ExpressionKind::sum:
    case ExpressionKind::shifted:
    case ExpressionKind::sign_extended:
      return UINT64_MAX;
  }
  return UINT64_MAX;
}

std::optional<TableShape> Expressions::find_table(ExpressionId target) const {
  TableShape shape;
  shape.base = offset_of(target);
  ExpressionId at = base_of(target);
  const auto shift_off = [&](uint8_t& shift) {
    if (!is(at, ExpressionKind::shifted)) return;
    shift = static_cast<uint8_t>(all_[at].number);
    at = all_[at].first;
  };
  shift_off(shape.entry_shift);
  if (is(at, ExpressionKind::sign_extended)) {
    shape.is_signed = true;
    at = all_[at].first;
  } else if (is(at, ExpressionKind::zero_extended)) {
    at = all_[at].first;
  }
  if (!is(at, ExpressionKind::load)) return std::nullopt;
  shape.bytes = static_cast<uint8_t>(all_[at].number);
  const ExpressionId address = all_[at].first;
  shape.table = offset_of(address);
  at = base_of(address);
  if (shape.table == 0 || is(at, ExpressionKind::constant)) return std::nullopt;
  shift_off(shape.index_shift);
  // Entries lie side by side.
  if (uint64_t{1} << shape.index_shift != shape.bytes) return std::nullopt;
  if (shape.bytes == 8 ? shape.base != 0 : shape.base == 0) return std::nullopt;
  shape.index = at;
  return shape;
}

}  // namespace culprit
