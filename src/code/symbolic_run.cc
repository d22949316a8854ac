#include "code/symbolic_run.h"

#include <algorithm>

namespace culprit {
namespace {

void bound(ExpressionId what, uint64_t largest, SymbolicState& state) {
  uint64_t& known = state.bounds.find_or_add(what, largest);
  known = std::min(known, largest);
}

}  // namespace

SymbolicState SymbolicRun::make_entry_state() {
  SymbolicState state;
  for (uint8_t reg = 0; reg < kGeneralRegisters; ++reg) {
    state.registers[reg] = expressions_.unknown(reg);
  }
  return state;
}

// --- values -----------------------------------------------------------------------------

ExpressionId SymbolicRun::value_of(const EffectTerm& term, const SymbolicState& state) {
  if (term.reg == kNoRegister) return expressions_.constant(0);
  ExpressionId value = state.registers[term.reg];
  if (term.bits < 64) value = expressions_.extend(value, term.bits, term.is_signed);
  return expressions_.scale(value, term.shift);
}

ExpressionId SymbolicRun::value_of(const EffectSum& sum, const SymbolicState& state) {
  return expressions_.add(expressions_.add(value_of(sum.first, state), value_of(sum.second, state)),
                          expressions_.constant(sum.constant));
}

ExpressionId SymbolicRun::load(const Effect& effect, const SymbolicState& state) {
  const ExpressionId address = value_of(effect.sum, state);
  const ExpressionId* const known = state.memory.find({address, effect.bytes});
  const ExpressionId raw = known != nullptr ? *known : expressions_.load(address, effect.bytes);
  return effect.bytes == 8
             ? raw
             : expressions_.extend(raw, static_cast<uint8_t>(effect.bytes * 8), effect.is_signed);
}

// --- memory -----------------------------------------------------------------------------

/// Addresses from the stack pointer or the frame pointer.
bool SymbolicRun::is_stack(ExpressionId address, const SymbolicState& state) const {
  const uint8_t frame_pointer = stack_pointer_ == 4 ? 5 : 29;
  const ExpressionId base = expressions_.base_of(address);
  return base == expressions_.base_of(state.registers[stack_pointer_]) ||
         base == expressions_.base_of(state.registers[frame_pointer]);
}

/// A store somewhere: what is remembered of memory but the stack's slots may be old.
void SymbolicRun::forget_memory(SymbolicState& state) const {
  state.memory.drop_if([&](const auto& one) { return !is_stack(one.first, state); });
}

void SymbolicRun::store(const Effect& effect, SymbolicState& state) {
  const ExpressionId address = value_of(effect.sum, state);
  if (!effect.sum.is_known || !is_stack(address, state)) {
    forget_memory(state);
    return;
  }
  const uint64_t begin = expressions_.offset_of(address);
  state.memory.drop_if([&](const auto& one) {
    if (expressions_.base_of(one.first) != expressions_.base_of(address)) return false;
    const auto distance = static_cast<int64_t>(expressions_.offset_of(one.first) - begin);
    return distance < effect.bytes && distance > -int64_t{one.second};
  });
  const ExpressionId value = value_of(effect.source, state);
  state.memory.find_or_add({address, effect.bytes}, value) = value;
}

void SymbolicRun::remember_load(const Effect& effect, ExpressionId value, SymbolicState& state) {
  if (effect.is_signed) return;
  state.memory.find_or_add({value_of(effect.sum, state), effect.bytes}, value);
}

// --- one instruction --------------------------------------------------------------------

ComparedFlags SymbolicRun::compare(const Effect& effect, SymbolicState& state) {
  if (effect.bytes == 0) return {value_of(effect.compared, state), effect.immediate};
  // The value that was compared is what a load behind it will find there.
  const ExpressionId address = value_of(effect.sum, state);
  const ExpressionId raw = effect.sum.is_known ? load(effect, state) : kNoExpression;
  if (raw != kNoExpression) state.memory.find_or_add({address, effect.bytes}, raw);
  return {raw, effect.immediate};
}

void SymbolicRun::step(size_t i, SymbolicState& state) {
  const Effect& effect = effects_[i];
  const bool is_call = instructions_[i].flow == Flow::call;
  ExpressionId value = kNoExpression;
  const ComparedFlags flags = effect.compares ? compare(effect, state) : ComparedFlags{};
  switch (effect.kind) {
    case EffectKind::sum:
      if (effect.sum.is_known) value = value_of(effect.sum, state);
      break;
    case EffectKind::mask:
      value = expressions_.mask(value_of(effect.sum, state), effect.immediate);
      break;
    case EffectKind::load:
      if (effect.sum.is_known) value = load(effect, state);
      if (value != kNoExpression) remember_load(effect, value, state);
      break;
    case EffectKind::store:
      store(effect, state);
      break;
    case EffectKind::other:
    case EffectKind::jump:
      break;
  }
  if (effect.may_store || is_call) forget_memory(state);
  if (effect.sets_flags || is_call) state.flags = flags;
  const uint32_t lost = effect.lost | (is_call ? lost_at_calls_ : 0);
  for (uint8_t reg = 0; reg < kGeneralRegisters; ++reg) {
    const bool keeps_stack = is_call && reg == stack_pointer_;
    if ((lost >> reg & 1) != 0 && !keeps_stack) state.registers[reg] = make_lost(i, reg);
  }
  if (effect.written == kNoRegister) return;
  if (value == kNoExpression) {
    value = make_lost(i, effect.written);
  } else if (effect.written_bits == 32) {
    value = expressions_.extend(value, 32, false);
  }
  state.registers[effect.written] = value;
}

SymbolicRun::Branched SymbolicRun::branch(size_t instruction, const SymbolicState& state) const {
  Branched ways{state, state};
  const ComparedFlags& flags = state.flags;
  if (flags.of == kNoExpression) return ways;
  switch (effects_[instruction].condition) {
    case EffectCondition::above:
      bound(flags.of, flags.with, ways.on);
      break;
    case EffectCondition::below_or_equal:
      bound(flags.of, flags.with, ways.taken);
      break;
    case EffectCondition::above_or_equal:
      if (flags.with > 0) bound(flags.of, flags.with - 1, ways.on);
      break;
    case EffectCondition::below:
      if (flags.with > 0) bound(flags.of, flags.with - 1, ways.taken);
      break;
    case EffectCondition::other:
      break;
  }
  return ways;
}

// --- tables -----------------------------------------------------------------------------

ExpressionId SymbolicRun::target_of(const Effect& jump, const SymbolicState& state) {
  const ExpressionId target = value_of(jump.sum, state);
  return jump.bytes == 0 ? target : expressions_.load(target, jump.bytes);
}

bool SymbolicRun::is_lost(ExpressionId one) const {
  const Expression& what = expressions_.at(one);
  return what.kind == ExpressionKind::unknown && what.number >= kLostNames &&
         what.number < kMeetingNames;
}

bool SymbolicRun::reads_no_table(size_t jump, const SymbolicState& state) {
  const Effect& effect = effects_[jump];
  if (effect.kind != EffectKind::jump || !effect.sum.is_known) return true;
  const ExpressionId target = target_of(effect, state);
  if (is_lost(target)) return true;
  const Expression& what = expressions_.at(target);
  if (what.kind != ExpressionKind::load) return what.kind == ExpressionKind::constant;
  const ExpressionId base = expressions_.base_of(what.first);
  const Expression& from = expressions_.at(base);
  return from.kind == ExpressionKind::constant || is_lost(base) ||
         (from.kind == ExpressionKind::load && !is_stack(from.first, state));
}

std::optional<JumpTable> SymbolicRun::read_table(size_t jump, const SymbolicState& state) {
  const Effect& effect = effects_[jump];
  if (effect.kind != EffectKind::jump || !effect.sum.is_known) return std::nullopt;
  const std::optional<TableShape> shape = expressions_.find_table(target_of(effect, state));
  if (!shape) return std::nullopt;
  const IndexBound index = bound_of(shape->index, state);
  if (index.largest >= kLongestJumpTable) return std::nullopt;
  JumpTable table;
  table.from = instructions_[jump].address;
  table.is_complete = index.is_tested;
  for (uint64_t i = 0; i <= index.largest; ++i) {
    const auto entry = read_(LinkAddress(shape->table + (i << shape->index_shift)), shape->bytes);
    const std::optional<LinkAddress> to =
        entry ? to_target(*shape, *entry, index.is_tested) : std::nullopt;
    if (!to) {
      // A table without a tested bound ends where what follows cannot be part of it.
      if (index.is_tested || shape->bytes != 8 || table.targets.size() < 2) return std::nullopt;
      table.is_complete = false;
      break;
    }
    table.targets.push_back(*to);
  }
  return table;
}

SymbolicRun::IndexBound SymbolicRun::bound_of(ExpressionId index,
                                              const SymbolicState& state) const {
  const Expression& what = expressions_.at(index);
  IndexBound best{expressions_.largest(index), what.kind == ExpressionKind::mask};
  const auto take = [&](const IndexBound& other) {
    if (other.largest < best.largest || (other.largest == best.largest && other.is_tested)) {
      best = other;
    }
  };
  const auto tested = [&](ExpressionId one) -> IndexBound {
    const uint64_t* const found = state.bounds.find(one);
    return found == nullptr ? IndexBound{} : IndexBound{*found, true};
  };
  take(tested(index));
  if (what.kind == ExpressionKind::zero_extended) {
    take(bound_of(what.first, state));
  } else if (what.kind == ExpressionKind::sign_extended) {
    // A bound of the low bits is one of the whole where their sign bit is 0.
    const uint64_t sign = uint64_t{1} << (what.number - 1);
    const ExpressionId low = expressions_.find_zero_extended(what.first, what.number);
    for (const IndexBound& one :
         {bound_of(what.first, state), low == kNoExpression ? IndexBound{} : tested(low)}) {
      if (one.largest < sign) take(one);
    }
  }
  return best;
}

std::optional<LinkAddress> SymbolicRun::to_target(const TableShape& shape, uint64_t entry,
                                                  bool may_leave) const {
  uint64_t value = entry;
  if (shape.is_signed && shape.bytes < 8) {
    const unsigned unused = 64 - shape.bytes * 8U;
    value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
  }
  const LinkAddress to(shape.base + (value << shape.entry_shift));
  const LinkAddress begin = instructions_.front().address;
  const LinkAddress end = instructions_.back().end();
  if (to < begin || to >= end) {
    // The cold part of the function, or a table of functions. Both stand in code.
    return may_leave && read_(to, 1) ? std::optional(to) : std::nullopt;
  }
  const auto at = std::lower_bound(
      instructions_.begin(), instructions_.end(), to,
      [](const Instruction& one, LinkAddress address) { return one.address < address; });
  if (at == instructions_.end() || at->address != to || at->bad) return std::nullopt;
  return to;
}

}  // namespace culprit
