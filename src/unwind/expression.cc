#include "unwind/expression.h"

#include <dwarf.h>
#include <vector>

namespace culprit {

namespace {

constexpr size_t kDeepestStack = 64;

bool is_between(unsigned atom, unsigned first, unsigned last) {
  return atom >= first && atom <= last;
}

class Evaluation {
 public:
  explicit Evaluation(const ExpressionInput& input) : input_(input) {}

  std::optional<uint64_t> run(std::span<const Dwarf_Op> operations, ExpressionFailure& failure) {
    for (const Dwarf_Op& operation : operations) {
      if (operation.atom == DW_OP_stack_value) break;  // says that this is all
      if (!step(operation) || stack_.size() > kDeepestStack) {
        failure = failure_;
        return std::nullopt;
      }
    }
    failure = stack_.empty() ? ExpressionFailure::damaged : ExpressionFailure::none;
    if (stack_.empty()) return std::nullopt;
    return stack_.back();
  }

 private:
  bool push(std::optional<uint64_t> value) {
    if (value) stack_.push_back(*value);
    return value.has_value();
  }

  bool step(const Dwarf_Op& operation) {
    const unsigned atom = operation.atom;
    const uint64_t number = operation.number;
    if (is_between(atom, DW_OP_lit0, DW_OP_lit31)) return push(atom - DW_OP_lit0);
    if (is_between(atom, DW_OP_breg0, DW_OP_breg31)) {
      return push_register(atom - DW_OP_breg0, number);
    }
    if (is_between(atom, DW_OP_const1u, DW_OP_consts)) return push(number);
    switch (atom) {
      case DW_OP_bregx:
        return number < Registers::kCount &&
               push_register(static_cast<unsigned>(number), operation.number2);
      case DW_OP_call_frame_cfa:
        return push(input_.cfa);
      case DW_OP_nop:
        return true;
      case DW_OP_dup:
        return push(at(0));
      case DW_OP_over:
        return push(at(1));
      case DW_OP_pick:
        return push(at(number));
      default:
        return step_down(atom, number);
    }
  }

  /// Operations on what is on the stack.
  bool step_down(unsigned atom, uint64_t number) {
    if (stack_.empty()) return false;
    const uint64_t top = stack_.back();
    stack_.pop_back();
    switch (atom) {
      case DW_OP_drop:
        return true;
      case DW_OP_deref:
        return push_memory(top);
      case DW_OP_plus_uconst:
        return push(top + number);
      case DW_OP_neg:
        return push(0 - top);
      case DW_OP_not:
        return push(~top);
      default:
        break;
    }
    if (stack_.empty()) return false;
    const uint64_t second = stack_.back();
    stack_.pop_back();
    if (atom == DW_OP_swap) return push(top) && push(second);
    return push(compute(atom, second, top));
  }

  static std::optional<uint64_t> compute(unsigned atom, uint64_t left, uint64_t right) {
    const auto signed_left = static_cast<int64_t>(left);
    const auto signed_right = static_cast<int64_t>(right);
    switch (atom) {
      case DW_OP_plus:
        return left + right;
      case DW_OP_minus:
        return left - right;
      case DW_OP_mul:
        return left * right;
      case DW_OP_and:
        return left & right;
      case DW_OP_or:
        return left | right;
      case DW_OP_xor:
        return left ^ right;
      case DW_OP_shl:
        return right < 64 ? left << right : 0;
      case DW_OP_shr:
        return right < 64 ? left >> right : 0;
      case DW_OP_shra:
        return static_cast<uint64_t>(signed_left >> (right < 64 ? right : 63));
      case DW_OP_eq:
        return left == right ? 1 : 0;
      case DW_OP_ne:
        return left != right ? 1 : 0;
      case DW_OP_ge:
        return signed_left >= signed_right ? 1 : 0;
      case DW_OP_gt:
        return signed_left > signed_right ? 1 : 0;
      case DW_OP_le:
        return signed_left <= signed_right ? 1 : 0;
      case DW_OP_lt:
        return signed_left < signed_right ? 1 : 0;
      default:
        return std::nullopt;  // jumps, calls, types: no compiler puts them into unwind tables
    }
  }

  [[nodiscard]] std::optional<uint64_t> at(uint64_t depth) const {
    if (depth >= stack_.size()) return std::nullopt;
    return stack_[stack_.size() - 1 - depth];
  }

  bool push_register(unsigned number, uint64_t offset) {
    const std::optional<uint64_t> value = input_.registers.get(number);
    return value && push(*value + offset);
  }

  bool push_memory(uint64_t address) {
    if (push(input_.read(address))) return true;
    failure_ = ExpressionFailure::memory;
    return false;
  }

  const ExpressionInput& input_;
  ExpressionFailure failure_ = ExpressionFailure::damaged;
  std::vector<uint64_t> stack_;
};

}  // namespace

std::optional<uint64_t> compute_expression(std::span<const Dwarf_Op> operations,
                                           const ExpressionInput& input,
                                           ExpressionFailure& failure) {
  return Evaluation(input).run(operations, failure);
}

}  // namespace culprit
