// The function is run with expressions instead of numbers, block by block, until nothing changes:
// registers, stack slots and bounds of expressions are carried along edges; where ways meet, what
// differs becomes an unknown of its own. Tables that were understood give new edges, along which
// the walk goes on. Blocks from which no indirect jump is reached are left out. Ways that are found
// later take knowledge away: a table that no longer holds in the end is dropped.

#include "code/jump_tables.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "code/blocks.h"
#include "code/expressions.h"

namespace culprit {
namespace {

constexpr int kMostVisits = 50;  // of a block

struct Flags {
  ExpressionId of = kNoExpression;
  uint64_t with = 0;
  friend bool operator==(const Flags&, const Flags&) = default;
};

/// A map of few keys in one piece, ascending: states are copied along every edge.
template <class Key, class Value>
class FlatMap {
 public:
  /// nullptr: there is no such key.
  [[nodiscard]] const Value* find(const Key& key) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    return at != entries_.end() && at->first == key ? &at->second : nullptr;
  }
  /// The value of the key, which is `value` if there was none.
  Value& find_or_add(const Key& key, const Value& value) {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    if (at != entries_.end() && at->first == key) return at->second;
    return entries_.insert(at, {key, value})->second;
  }
  /// Drops the keys of which it is true.
  template <class Condition>
  void drop_if(Condition condition) {
    std::erase_if(entries_, [&](const Entry& one) { return condition(one.first); });
  }
  /// Drops the keys that `other` does not have, and those for which join(ours, theirs) is false,
  /// which may change ours.
  template <class Join>
  void meet(const FlatMap& other, Join join) {
    size_t kept = 0;
    auto theirs = other.entries_.begin();
    for (Entry& ours : entries_) {
      while (theirs != other.entries_.end() && theirs->first < ours.first) ++theirs;
      const bool is_common = theirs != other.entries_.end() && theirs->first == ours.first;
      if (is_common && join(ours.second, theirs->second)) entries_[kept++] = ours;
    }
    entries_.resize(kept);
  }
  friend bool operator==(const FlatMap&, const FlatMap&) = default;

 private:
  using Entry = std::pair<Key, Value>;
  static bool is_before(const Entry& entry, const Key& key) { return entry.first < key; }
  std::vector<Entry> entries_;
};

/// What is known where a block begins, or on the way through it.
struct State {
  std::array<ExpressionId, kGeneralRegisters> registers{};
  FlatMap<std::pair<ExpressionId, uint8_t>, ExpressionId> memory;  // by address and bytes
  FlatMap<ExpressionId, uint64_t> bounds;  // the largest value, where a test says so
  Flags flags;
  friend bool operator==(const State&, const State&) = default;
};

struct Visited {
  std::map<std::pair<size_t, bool>, State> ways;  // as the blocks that come here left it
  State state;  // what all of them had in common at the last visit
  int visits = 0;
};

/// "From" of the function's entry.
constexpr size_t kEntered = SIZE_MAX;

class TableFinder {
 public:
  TableFinder(std::span<const Instruction> instructions, std::span<const Effect> effects,
              bool is_x86, const ReadImage& read)
      : instructions_(instructions),
        effects_(effects),
        read_(read),
        stack_pointer_(is_x86 ? 4 : 31),
        // rax, rcx, rdx, rsi, rdi, r8 to r11; x0 to x18 and x30
        lost_at_calls_(is_x86 ? 0x0fc7 : 0x4007ffff),
        blocks_(find_blocks(instructions)) {}

  std::vector<JumpTable> find() {
    // A table's targets may lie inside of what was one block: begin again with it cut there.
    for (int round = 0; round < 8; ++round) {
      walk();
      if (!cut_blocks()) break;
    }
    std::vector<JumpTable> found;
    for (auto& [at, table] : tables_) found.push_back(std::move(table));
    return found;
  }

 private:
  void walk() {
    expressions_ = {};
    tables_.clear();
    find_ways_to_tables();
    places_.assign(blocks_.size(), {});
    open_.clear();
    State entry;
    for (uint8_t i = 0; i < kGeneralRegisters; ++i) entry.registers[i] = expressions_.unknown(i);
    from_ = kEntered;
    reach(0, entry);
    while (!open_.empty()) {
      from_ = *open_.begin();
      open_.erase(open_.begin());
      Visited& place = places_[from_];
      State together = meet(from_);
      if (place.visits != 0 && together == place.state) continue;
      place.state = std::move(together);
      if (++place.visits > kMostVisits) {
        tables_.clear();  // what was found may not hold
        return;
      }
      run(from_);
    }
  }

  /// Marks the blocks from which an indirect jump can be reached: what is known elsewhere is of no
  /// use. Edges of tables add none, as they come from such a jump.
  void find_ways_to_tables() {
    std::vector<std::pair<size_t, size_t>> edges;  // to, from
    std::vector<size_t> open;
    leads_to_table_.assign(blocks_.size(), false);
    for (size_t block = 0; block < blocks_.size(); ++block) {
      const Instruction& last = instructions_[blocks_[block].last - 1];
      if (last.flow == Flow::indirect_jump) {
        leads_to_table_[block] = true;
        open.push_back(block);
      }
      const bool jumps = last.flow == Flow::jump || last.flow == Flow::branch;
      if (const auto to = find_target(last.target); jumps && to) edges.emplace_back(*to, block);
      const bool goes_on =
          last.flow == Flow::next || last.flow == Flow::call || last.flow == Flow::branch;
      if (goes_on && has_next(block)) edges.emplace_back(block + 1, block);
    }
    std::sort(edges.begin(), edges.end());
    while (!open.empty()) {
      const size_t to = open.back();
      open.pop_back();
      for (auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair(to, size_t{0}));
           edge != edges.end() && edge->first == to; ++edge) {
        if (leads_to_table_[edge->second]) continue;
        leads_to_table_[edge->second] = true;
        open.push_back(edge->second);
      }
    }
  }

  [[nodiscard]] bool has_next(size_t block) const {
    return block + 1 < blocks_.size() && blocks_[block + 1].begin == blocks_[block].end;
  }
  [[nodiscard]] std::optional<size_t> find_target(std::optional<LinkAddress> target) const {
    const auto block = target ? culprit::find_block(blocks_, *target) : std::nullopt;
    return block && blocks_[*block].begin == *target ? block : std::nullopt;
  }

  bool cut_blocks() {
    std::vector<LinkAddress> leaders;
    for (const auto& [at, table] : tables_) {
      for (const LinkAddress target : table.targets) {
        const auto block = culprit::find_block(blocks_, target);
        if (block && blocks_[*block].begin != target) leaders.push_back(target);
      }
    }
    if (leaders.empty()) return false;
    for (const Block& block : blocks_) leaders.push_back(block.begin);
    std::sort(leaders.begin(), leaders.end());
    blocks_ = find_blocks(instructions_, leaders);
    return true;
  }

  // --- states meet ----------------------------------------------------------------------

  /// Thousands of ways may come to one block: they meet when it is visited, all at once.
  void reach(size_t block, const State& with) {
    if (!leads_to_table_[block]) return;
    const auto [way, is_new] = places_[block].ways.try_emplace({from_, is_taken_}, with);
    if (!is_new) {
      if (way->second == with) return;
      way->second = with;
    }
    open_.insert(block);
  }

  /// What all ways to a block have in common.
  State meet(size_t block) {
    const std::map<std::pair<size_t, bool>, State>& ways = places_[block].ways;
    State together = ways.begin()->second;
    uint32_t differ = 0;  // registers, a bit each
    for (auto other = std::next(ways.begin()); other != ways.end(); ++other) {
      for (uint8_t i = 0; i < kGeneralRegisters; ++i) {
        const bool is_other = together.registers[i] != other->second.registers[i];
        differ |= uint32_t{is_other} << i;  // without a branch: it is often the other way
      }
      meet(other->second, together);
    }
    for (uint8_t i = 0; i < kGeneralRegisters; ++i) {
      if ((differ >> i & 1) != 0)
        together.registers[i] = expressions_.unknown(meeting_name(block, i));
    }
    return together;
  }

  /// Memory, bounds and flags.
  static void meet(const State& with, State& state) {
    state.memory.meet(with.memory,
                      [](ExpressionId ours, ExpressionId theirs) { return ours == theirs; });
    state.bounds.meet(with.bounds, [](uint64_t& ours, uint64_t theirs) {
      ours = std::max(ours, theirs);
      return true;
    });
    if (!(state.flags == with.flags)) state.flags = {};
  }

  /// Unknowns are named by where they come from, so that the walk comes to an end.
  [[nodiscard]] uint64_t meeting_name(size_t block, uint8_t reg) const {
    return (uint64_t{1} << 62) + blocks_[block].first * kGeneralRegisters + reg;
  }
  static uint64_t lost_name(size_t instruction, uint8_t reg) {
    return (uint64_t{1} << 61) + instruction * kGeneralRegisters + reg;
  }

  // --- one block ------------------------------------------------------------------------

  void run(size_t block) {
    State state = places_[block].state;
    const Block& range = blocks_[block];
    for (size_t i = range.first; i < range.last; ++i) step(i, state);
    const size_t last = range.last - 1;
    switch (instructions_[last].flow) {
      case Flow::next:
      case Flow::call:
        go_on(block, state);
        break;
      case Flow::jump:
        jump_to(instructions_[last].target, state);
        break;
      case Flow::branch:
        branch(block, state);
        break;
      case Flow::indirect_jump:
        jump_by_table(block, state);
        break;
      case Flow::returns:
      case Flow::trap:
        break;
    }
  }

  void go_on(size_t block, const State& state) {
    if (has_next(block)) reach(block + 1, state);
  }

  void jump_to(std::optional<LinkAddress> target, const State& state) {
    if (const auto block = find_target(target)) reach(*block, state);
  }

  void branch(size_t block, const State& state) {
    const size_t last = blocks_[block].last - 1;
    State taken = state;
    State on = state;
    const Flags& flags = state.flags;
    if (flags.of != kNoExpression) {
      switch (effects_[last].condition) {
        case EffectCondition::above:
          bound(flags.of, flags.with, on);
          break;
        case EffectCondition::below_or_equal:
          bound(flags.of, flags.with, taken);
          break;
        case EffectCondition::above_or_equal:
          if (flags.with > 0) bound(flags.of, flags.with - 1, on);
          break;
        case EffectCondition::below:
          if (flags.with > 0) bound(flags.of, flags.with - 1, taken);
          break;
        case EffectCondition::other:
          break;
      }
    }
    is_taken_ = true;
    jump_to(instructions_[last].target, taken);
    is_taken_ = false;
    go_on(block, on);
  }

  static void bound(ExpressionId what, uint64_t largest, State& state) {
    uint64_t& known = state.bounds.find_or_add(what, largest);
    known = std::min(known, largest);
  }

  // --- one instruction ------------------------------------------------------------------

  ExpressionId value_of(const EffectTerm& term, const State& state) {
    if (term.reg == kNoRegister) return expressions_.constant(0);
    ExpressionId value = state.registers[term.reg];
    if (term.bits < 64) value = expressions_.extend(value, term.bits, term.is_signed);
    return expressions_.scale(value, term.shift);
  }

  ExpressionId value_of(const EffectSum& sum, const State& state) {
    return expressions_.add(
        expressions_.add(value_of(sum.first, state), value_of(sum.second, state)),
        expressions_.constant(sum.constant));
  }

  ExpressionId load(const Effect& effect, const State& state) {
    const ExpressionId address = value_of(effect.sum, state);
    const ExpressionId* const known = state.memory.find({address, effect.bytes});
    const ExpressionId raw = known != nullptr ? *known : expressions_.load(address, effect.bytes);
    return effect.bytes == 8
               ? raw
               : expressions_.extend(raw, static_cast<uint8_t>(effect.bytes * 8), effect.is_signed);
  }

  [[nodiscard]] bool is_stack(ExpressionId address, const State& state) const {
    const ExpressionId base = expressions_.base_of(address);
    return base == expressions_.base_of(state.registers[stack_pointer_]) ||
           base == frame_pointer_base(state);
  }
  [[nodiscard]] ExpressionId frame_pointer_base(const State& state) const {
    return expressions_.base_of(state.registers[stack_pointer_ == 4 ? 5 : 29]);
  }

  /// A store somewhere: what is remembered of memory but the stack's slots may be old.
  void forget_memory(State& state) {
    state.memory.drop_if([&](const auto& one) { return !is_stack(one.first, state); });
  }

  void store(const Effect& effect, State& state) {
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

  void step(size_t i, State& state) {
    const Effect& effect = effects_[i];
    const bool is_call = instructions_[i].flow == Flow::call;
    ExpressionId value = kNoExpression;
    Flags flags;
    if (effect.compares) {
      if (effect.bytes != 0) {
        // The value that was compared is what a load behind it will find there.
        const ExpressionId address = value_of(effect.sum, state);
        const ExpressionId raw = effect.sum.is_known ? load(effect, state) : kNoExpression;
        if (raw != kNoExpression) state.memory.find_or_add({address, effect.bytes}, raw);
        flags = {raw, effect.immediate};
      } else {
        flags = {value_of(effect.compared, state), effect.immediate};
      }
    }
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
      if ((lost >> reg & 1) != 0 && !keeps_stack) {
        state.registers[reg] = expressions_.unknown(lost_name(i, reg));
      }
    }
    if (effect.written == kNoRegister) return;
    if (value == kNoExpression) {
      value = expressions_.unknown(lost_name(i, effect.written));
    } else if (effect.written_bits == 32) {
      value = expressions_.extend(value, 32, false);
    }
    state.registers[effect.written] = value;
  }

  void remember_load(const Effect& effect, ExpressionId value, State& state) {
    if (effect.is_signed) return;
    state.memory.find_or_add({value_of(effect.sum, state), effect.bytes}, value);
  }

  // --- tables ---------------------------------------------------------------------------

  void jump_by_table(size_t block, const State& state) {
    const size_t last = blocks_[block].last - 1;
    tables_.erase(last);
    std::optional<JumpTable> table = read_table(last, state);
    // Several dispatches that share one jump: each way comes with a table's entry of its own.
    const std::map<std::pair<size_t, bool>, State>& ways = places_[block].ways;
    if (!table && ways.size() > 1 && effects_[last].kind == EffectKind::jump) {
      for (const auto& [from, entered] : ways) {
        State at_end = entered;
        for (size_t i = blocks_[block].first; i < last; ++i) step(i, at_end);
        std::optional<JumpTable> more = read_table(last, at_end);
        if (!more) return;
        if (table) {
          more->targets.insert(more->targets.end(), table->targets.begin(), table->targets.end());
          more->is_complete = more->is_complete && table->is_complete;
        }
        table = std::move(more);
      }
    }
    if (!table) return;
    std::sort(table->targets.begin(), table->targets.end());
    table->targets.erase(std::unique(table->targets.begin(), table->targets.end()),
                         table->targets.end());
    for (const LinkAddress to : table->targets) jump_to(to, state);
    tables_[last] = *std::move(table);
  }

  std::optional<JumpTable> read_table(size_t last, const State& state) {
    const Effect& effect = effects_[last];
    if (effect.kind != EffectKind::jump || !effect.sum.is_known) return std::nullopt;
    ExpressionId target = value_of(effect.sum, state);
    if (effect.bytes != 0) target = expressions_.load(target, effect.bytes);
    const std::optional<TableShape> shape = expressions_.find_table(target);
    if (!shape) return std::nullopt;
    const IndexBound index = bound_of(shape->index, state);
    if (index.largest >= kLongestJumpTable) return std::nullopt;
    JumpTable table;
    table.from = instructions_[last].address;
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

  struct IndexBound {
    uint64_t largest = UINT64_MAX;
    bool is_tested = false;  // by a comparison or a mask
  };
  [[nodiscard]] IndexBound bound_of(ExpressionId index, const State& state) const {
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

  std::optional<LinkAddress> to_target(const TableShape& shape, uint64_t entry,
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

  std::span<const Instruction> instructions_;
  std::span<const Effect> effects_;
  const ReadImage& read_;
  uint8_t stack_pointer_;
  uint32_t lost_at_calls_;
  std::vector<Block> blocks_;
  Expressions expressions_;
  std::vector<Visited> places_;
  std::vector<bool> leads_to_table_;  // by block
  size_t from_ = kEntered;            // the block that is run
  bool is_taken_ = false;             // its conditional branch
  std::set<size_t> open_;
  std::map<size_t, JumpTable> tables_;  // by index of the jump
};

}  // namespace

std::vector<JumpTable> find_jump_tables(std::span<const Instruction> instructions,
                                        std::span<const Effect> effects, bool is_x86,
                                        const ReadImage& read) {
  if (instructions.empty() || instructions.size() > kMostFollowedInstructions) return {};
  return TableFinder(instructions, effects, is_x86, read).find();
}

}  // namespace culprit
