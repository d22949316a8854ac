#include "unwind/frame_rules.h"

#include <dwarf.h>
#include <span>

namespace culprit {

namespace {

constexpr size_t kLongestExpression = 256;

using Operations = std::span<const Dwarf_Op>;

/// "register + offset", the usual CFA.
std::optional<ValueRule> parse_register_offset(Operations operations) {
  if (operations.size() != 1) return std::nullopt;
  const Dwarf_Op& only = operations.front();
  ValueRule rule;
  rule.kind = ValueRule::Kind::in_register;
  if (only.atom == DW_OP_bregx && only.number < Registers::kCount) {
    rule.source = static_cast<uint8_t>(only.number);
    rule.offset = static_cast<int64_t>(only.number2);
    return rule;
  }
  if (only.atom >= DW_OP_breg0 && only.atom <= DW_OP_breg31) {
    rule.source = static_cast<uint8_t>(only.atom - DW_OP_breg0);
    rule.offset = static_cast<int64_t>(only.number);
    return rule;
  }
  return std::nullopt;
}

/// "(at) CFA + offset", the usual place of a register.
std::optional<ValueRule> parse_cfa_offset(Operations operations, bool is_value) {
  if (operations.empty() || operations.size() > 2) return std::nullopt;
  if (operations.front().atom != DW_OP_call_frame_cfa) return std::nullopt;
  ValueRule rule;
  rule.kind = is_value ? ValueRule::Kind::is_cfa : ValueRule::Kind::at_cfa;
  if (operations.size() == 2) {
    if (operations.back().atom != DW_OP_plus_uconst) return std::nullopt;
    rule.offset = static_cast<int64_t>(operations.back().number);
  }
  return rule;
}

/// "in another register".
std::optional<ValueRule> parse_register(Operations operations) {
  if (operations.size() != 1) return std::nullopt;
  const Dwarf_Op& only = operations.front();
  const bool is_short = only.atom >= DW_OP_reg0 && only.atom <= DW_OP_reg31;
  const uint64_t number = is_short ? only.atom - DW_OP_reg0 : only.number;
  if (!is_short && only.atom != DW_OP_regx) return std::nullopt;
  if (number >= Registers::kCount) return std::nullopt;
  ValueRule rule;
  rule.kind = ValueRule::Kind::in_register;
  rule.source = static_cast<uint8_t>(number);
  return rule;
}

std::optional<ValueRule> make_expression(Operations operations, bool is_value) {
  if (operations.size() > kLongestExpression) return std::nullopt;
  ValueRule rule;
  rule.kind = is_value ? ValueRule::Kind::is_expression : ValueRule::Kind::at_expression;
  rule.expression.assign(operations.begin(), operations.end());
  return rule;
}

std::optional<ValueRule> make_register_rule(Operations operations) {
  if (const auto rule = parse_register(operations)) return rule;
  const bool is_value = operations.back().atom == DW_OP_stack_value;
  if (is_value) operations = operations.first(operations.size() - 1);
  if (const auto rule = parse_cfa_offset(operations, is_value)) return rule;
  return make_expression(operations, is_value);
}

/// One rule at work.
struct Application {
  const Registers& registers;
  const ReadWord& read;
  std::optional<uint64_t> cfa;
  StepFailure failure = StepFailure::none;

  std::optional<uint64_t> fail(StepFailure why) {
    failure = why;
    return std::nullopt;
  }

  std::optional<uint64_t> load(uint64_t address) {
    const std::optional<uint64_t> word = read(address);
    return word ? word : fail(StepFailure::memory);
  }

  std::optional<uint64_t> compute(const ValueRule& rule) {
    ExpressionFailure why = ExpressionFailure::none;
    const auto value = compute_expression(rule.expression, {registers, read, cfa}, why);
    if (value) return value;
    return fail(why == ExpressionFailure::memory ? StepFailure::memory : StepFailure::damaged);
  }

  std::optional<uint64_t> find(const ValueRule& rule) {
    const auto offset = static_cast<uint64_t>(rule.offset);
    switch (rule.kind) {
      case ValueRule::Kind::in_register: {
        const std::optional<uint64_t> base = registers.get(rule.source);
        return base ? std::optional(*base + offset) : fail(StepFailure::damaged);
      }
      case ValueRule::Kind::at_cfa:
        return load(cfa.value_or(0) + offset);
      case ValueRule::Kind::is_cfa:
        return cfa.value_or(0) + offset;
      case ValueRule::Kind::at_expression: {
        const std::optional<uint64_t> address = compute(rule);
        return address ? load(*address) : std::nullopt;
      }
      case ValueRule::Kind::is_expression:
        return compute(rule);
    }
    return fail(StepFailure::damaged);
  }
};

/// A register that was saved below the stack pointer has been popped: the function is about to
/// return. Compilers leave the rule as it was, because the memory still holds the value; but
/// what is below the stack pointer is not copied, and the register holds it, too.
bool is_restored(const ValueRule& rule, uint64_t cfa, uint64_t stack_pointer) {
  if (rule.kind != ValueRule::Kind::at_cfa || rule.offset >= 0) return false;
  const uint64_t address = cfa + static_cast<uint64_t>(rule.offset);
  return address < stack_pointer && cfa >= stack_pointer;
}

}  // namespace

std::optional<FrameRules> make_frame_rules(Dwarf_Frame* frame, const Architecture& architecture) {
  FrameRules rules;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  const int return_address = dwarf_frame_info(frame, &begin, &end, &rules.is_signal_frame);
  if (return_address < 0 || return_address >= static_cast<int>(Registers::kCount)) {
    return std::nullopt;
  }
  rules.return_address = static_cast<uint8_t>(return_address);

  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &operations, &count) != 0 || count == 0) return std::nullopt;
  auto cfa = parse_register_offset({operations, count});
  if (!cfa) cfa = make_expression({operations, count}, true);
  if (!cfa) return std::nullopt;
  rules.cfa = *std::move(cfa);

  for (unsigned number = 0; number < Registers::kCount; ++number) {
    // The CFA is defined as the caller's stack pointer.
    if (number == architecture.stack_pointer && !rules.is_signal_frame) continue;
    Dwarf_Op few[3];
    if (dwarf_frame_register(frame, static_cast<int>(number), few, &operations, &count) != 0) {
      continue;  // the table knows nothing of this one
    }
    const bool is_as_it_was = count == 0 && operations == nullptr;
    if (is_as_it_was) continue;
    auto rule = count == 0 ? std::nullopt : make_register_rule({operations, count});
    if (rule) {
      rule->target = static_cast<uint8_t>(number);
      rules.registers.push_back(*std::move(rule));
    } else {
      rules.lost |= uint64_t{1} << number;
    }
  }
  return rules;
}

std::optional<Step> apply(const FrameRules& rules, const Architecture& architecture,
                          const Registers& registers, const ReadWord& read, StepFailure& failure) {
  Application application{registers, read, std::nullopt};
  const std::optional<uint64_t> cfa = application.find(rules.cfa);
  failure = application.failure;
  if (!cfa) return std::nullopt;
  application.cfa = cfa;

  Step step;
  step.cfa = *cfa;
  const uint64_t stack_pointer = registers.get(architecture.stack_pointer).value_or(0);
  step.registers = registers;
  // It is the callee's: the caller's must be found by a rule.
  if (architecture.pc_register != Architecture::kNone) {
    step.registers.forget(uint64_t{1} << architecture.pc_register);
  }
  step.registers.forget(rules.lost);
  step.registers.set(architecture.stack_pointer, *cfa);
  const uint64_t return_address_bit = uint64_t{1} << rules.return_address;
  for (const ValueRule& rule : rules.registers) {
    if (is_restored(rule, *cfa, stack_pointer)) continue;
    if (const std::optional<uint64_t> value = application.find(rule)) {
      step.registers.set(rule.target, *value);
    } else if (rule.target == rules.return_address) {
      failure = application.failure;
      return std::nullopt;
    } else {
      step.registers.forget(uint64_t{1} << rule.target);  // missed only if another frame needs it
    }
  }
  failure = StepFailure::none;
  if (rules.is_outermost()) return step;
  step.pc = step.registers.get(rules.return_address);
  if (!step.pc) {
    failure = StepFailure::damaged;
    return std::nullopt;
  }
  *step.pc &= architecture.code_address_mask;
  // The caller's own return address must be found anew: a table that forgets it is damaged.
  if (!rules.is_signal_frame) step.registers.forget(return_address_bit);
  return step;
}

}  // namespace culprit
