// Most tables are near: the bound, the table and the jump stand in a few blocks, and what these do
// to unknown registers tells everything. Each jump is tried so at first: its own block alone, then
// by the ways that lead there, a block longer each time.
//
// For the jumps that this leaves open the whole function is run with expressions instead of
// numbers, block by block, until nothing changes: registers, stack slots and bounds of expressions
// are carried along edges; where ways meet, what differs becomes an unknown of its own. Tables that
// were understood give new edges, along which the walk goes on. Blocks from which no open jump is
// reached are left out. Ways that are found later take knowledge away: a table that no longer holds
// in the end is dropped.

#include "code/jump_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "code/blocks.h"
#include "code/symbolic_run.h"

namespace culprit {
namespace {

constexpr int kMostVisits = 50;     // of a block
constexpr int kMostNearRuns = 12;   // of ways that lead to one jump
constexpr int kMostVainRuns = 100;  // in a function: jumps of one interpreter are all alike
constexpr int kMostRounds = 8;

struct Visited {
  std::map<std::pair<size_t, bool>, SymbolicState> ways;  // as the blocks that come here left it
  SymbolicState state;  // what all of them had in common at the last visit
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
        run_(instructions, effects, is_x86, read),
        blocks_(find_blocks(instructions)) {}

  std::vector<JumpTable> find() {
    for (int round = 0; round < kMostRounds; ++round) {
      run_.forget_expressions();
      tables_.clear();
      find_near_tables();
      if (learn_targets()) continue;
      if (open_jumps_.empty()) break;
      walk();
      if (!learn_targets()) break;
    }
    std::vector<JumpTable> found;
    for (auto& [at, table] : tables_) found.push_back(std::move(table));
    return found;
  }

 private:
  // --- blocks and edges -------------------------------------------------------------------

  [[nodiscard]] bool has_next(size_t block) const {
    return block + 1 < blocks_.size() && blocks_[block + 1].begin == blocks_[block].end;
  }
  [[nodiscard]] std::optional<size_t> find_target(std::optional<LinkAddress> target) const {
    const auto block = target ? culprit::find_block(blocks_, *target) : std::nullopt;
    return block && blocks_[*block].begin == *target ? block : std::nullopt;
  }
  [[nodiscard]] const Instruction& last_of(size_t block) const {
    return instructions_[blocks_[block].last - 1];
  }

  struct Edge {
    size_t to;
    size_t from;
    bool is_taken;  // by a branch
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  /// The edges that instructions name, in order of where they lead to. Many jumps need none.
  const std::vector<Edge>& direct_edges() {
    if (edges_) return *edges_;
    std::vector<Edge>& edges = edges_.emplace();
    for (size_t block = 0; block < blocks_.size(); ++block) {
      const Instruction& last = last_of(block);
      const bool jumps = last.flow == Flow::jump || last.flow == Flow::branch;
      if (const auto to = jumps ? find_target(last.target) : std::nullopt) {
        edges.push_back({*to, block, last.flow == Flow::branch});
      }
      const bool goes_on =
          last.flow == Flow::next || last.flow == Flow::call || last.flow == Flow::branch;
      if (goes_on && has_next(block)) edges.push_back({block + 1, block, false});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

  /// Whether targets of tables lie where none were thought to be, so that all begins again: inside
  /// of what was one block, or within a way that was taken for the only one to its jump.
  bool learn_targets() {
    std::vector<LinkAddress> learned;
    for (const auto& [at, table] : tables_) {
      learned.insert(learned.end(), table.targets.begin(), table.targets.end());
    }
    std::sort(learned.begin(), learned.end());
    learned.erase(std::unique(learned.begin(), learned.end()), learned.end());
    std::vector<LinkAddress> leaders;
    bool is_new = false;
    for (const LinkAddress target : learned) {
      const auto block = culprit::find_block(blocks_, target);
      if (!block) continue;
      const bool is_inside = blocks_[*block].begin != target;
      if (is_inside) leaders.push_back(target);
      is_new = is_new || is_inside || (within_ways_.contains(*block) && !is_target(target));
    }
    if (!is_new) return false;
    learned.insert(learned.end(), targets_.begin(), targets_.end());
    std::sort(learned.begin(), learned.end());
    targets_ = std::move(learned);
    if (!leaders.empty()) {
      for (const Block& block : blocks_) leaders.push_back(block.begin);
      std::sort(leaders.begin(), leaders.end());
      blocks_ = find_blocks(instructions_, leaders);
    }
    return true;
  }

  [[nodiscard]] bool is_target(LinkAddress address) const {
    return std::binary_search(targets_.begin(), targets_.end(), address);
  }

  // --- near tables ------------------------------------------------------------------------

  /// Sorts the indirect jumps: those with a table nearby, those without any, and the open ones.
  void find_near_tables() {
    edges_.reset();
    open_jumps_.clear();
    within_ways_.clear();
    int vain_runs = 0;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (last_of(block).flow != Flow::indirect_jump) continue;
      const size_t jump = blocks_[block].last - 1;
      JumpTable table;
      std::vector<Edge> way;
      std::vector<size_t> entered;
      const int allowed = vain_runs < kMostVainRuns ? kMostNearRuns : 1;
      int left = allowed;
      const Near near = read_near_table(block, way, left, table, entered);
      if (near == Near::open) {
        open_jumps_.insert(jump);
        vain_runs += allowed - std::max(left, 0);
      }
      if (near != Near::table) continue;
      sort_targets(table);
      tables_[jump] = std::move(table);
      within_ways_.insert(entered.begin(), entered.end());
    }
  }

  enum class Near { table, none, open };

  /// Adds what the jump at the block's end reads when it is come to by `way`, the last edge first;
  /// and if that is not enough, by each way that goes on from there backwards. `entered` are the
  /// blocks that are believed to have no other edges to them than those that instructions name.
  Near read_near_table(size_t block, std::vector<Edge>& way, int& runs_left, JumpTable& table,
                       std::vector<size_t>& entered) {
    if (--runs_left < 0) return Near::open;
    const size_t jump = blocks_[block].last - 1;
    const SymbolicState state = run_way(block, way);
    if (std::optional<JumpTable> read = run_.read_table(jump, state); read && read->is_complete) {
      read->targets.insert(read->targets.end(), table.targets.begin(), table.targets.end());
      table = *std::move(read);
      return Near::table;
    }
    if (run_.reads_no_table(jump, state)) return Near::none;
    const size_t begin = way.empty() ? block : way.back().from;
    if (begin == 0 || is_target(blocks_[begin].begin)) return Near::open;
    std::optional<Near> all;
    const std::vector<Edge>& edges = direct_edges();
    for (auto edge = std::lower_bound(edges.begin(), edges.end(), Edge{begin, 0, false});
         edge != edges.end() && edge->to == begin; ++edge) {
      way.push_back(*edge);
      const Near near = read_near_table(block, way, runs_left, table, entered);
      way.pop_back();
      if (near == Near::open || near != all.value_or(near)) return Near::open;
      all = near;
    }
    entered.push_back(begin);
    return all.value_or(Near::open);
  }

  /// What is known before the block's last instruction if it is entered by this way alone.
  SymbolicState run_way(size_t block, const std::vector<Edge>& way) {
    SymbolicState state = run_.make_entry_state();  // nothing is known where it begins
    for (auto edge = way.rbegin(); edge != way.rend(); ++edge) {
      const Block& range = blocks_[edge->from];
      for (size_t i = range.first; i < range.last; ++i) run_.step(i, state);
      if (last_of(edge->from).flow != Flow::branch) continue;
      SymbolicRun::Branched branched = run_.branch(range.last - 1, state);
      state = std::move(edge->is_taken ? branched.taken : branched.on);
    }
    for (size_t i = blocks_[block].first; i + 1 < blocks_[block].last; ++i) run_.step(i, state);
    return state;
  }

  static void sort_targets(JumpTable& table) {
    std::sort(table.targets.begin(), table.targets.end());
    table.targets.erase(std::unique(table.targets.begin(), table.targets.end()),
                        table.targets.end());
  }

  // --- the whole function -----------------------------------------------------------------

  void walk() {
    find_ways_to_tables();
    places_.assign(blocks_.size(), {});
    open_.clear();
    from_ = kEntered;
    reach(0, run_.make_entry_state());
    while (!open_.empty()) {
      from_ = *open_.begin();
      open_.erase(open_.begin());
      Visited& place = places_[from_];
      SymbolicState together = meet(from_);
      if (place.visits != 0 && together == place.state) continue;
      place.state = std::move(together);
      if (++place.visits > kMostVisits) {
        for (const size_t jump : open_jumps_) tables_.erase(jump);  // what was found may not hold
        return;
      }
      run(from_);
    }
  }

  /// Marks the blocks from which an open jump can be reached: what is known elsewhere is of no
  /// use.
  void find_ways_to_tables() {
    std::vector<Edge> edges = direct_edges();
    std::vector<size_t> open;
    leads_to_table_.assign(blocks_.size(), false);
    for (size_t block = 0; block < blocks_.size(); ++block) {
      if (last_of(block).flow != Flow::indirect_jump) continue;
      const size_t jump = blocks_[block].last - 1;
      if (open_jumps_.contains(jump)) {
        leads_to_table_[block] = true;
        open.push_back(block);
      } else if (const auto near = tables_.find(jump); near != tables_.end()) {
        for (const LinkAddress target : near->second.targets) {
          if (const auto to = find_target(target)) edges.push_back({*to, block, false});
        }
      }
    }
    std::sort(edges.begin(), edges.end());
    while (!open.empty()) {
      const size_t to = open.back();
      open.pop_back();
      for (auto edge = std::lower_bound(edges.begin(), edges.end(), Edge{to, 0, false});
           edge != edges.end() && edge->to == to; ++edge) {
        if (leads_to_table_[edge->from]) continue;
        leads_to_table_[edge->from] = true;
        open.push_back(edge->from);
      }
    }
  }

  /// Thousands of ways may come to one block: they meet when it is visited, all at once.
  void reach(size_t block, const SymbolicState& with) {
    if (!leads_to_table_[block]) return;
    const auto [way, is_new] = places_[block].ways.try_emplace({from_, is_taken_}, with);
    if (!is_new) {
      if (way->second == with) return;
      way->second = with;
    }
    open_.insert(block);
  }

  /// What all ways to a block have in common.
  SymbolicState meet(size_t block) {
    const std::map<std::pair<size_t, bool>, SymbolicState>& ways = places_[block].ways;
    SymbolicState together = ways.begin()->second;
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
        together.registers[i] = run_.make_unknown(blocks_[block].first, i);
    }
    return together;
  }

  /// Memory, bounds and flags.
  static void meet(const SymbolicState& with, SymbolicState& state) {
    state.memory.meet(with.memory,
                      [](ExpressionId ours, ExpressionId theirs) { return ours == theirs; });
    state.bounds.meet(with.bounds, [](uint64_t& ours, uint64_t theirs) {
      ours = std::max(ours, theirs);
      return true;
    });
    if (!(state.flags == with.flags)) state.flags = {};
  }

  void run(size_t block) {
    SymbolicState state = places_[block].state;
    const Block& range = blocks_[block];
    for (size_t i = range.first; i < range.last; ++i) run_.step(i, state);
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

  void go_on(size_t block, const SymbolicState& state) {
    if (has_next(block)) reach(block + 1, state);
  }

  void jump_to(std::optional<LinkAddress> target, const SymbolicState& state) {
    if (const auto block = find_target(target)) reach(*block, state);
  }

  void branch(size_t block, const SymbolicState& state) {
    const size_t last = blocks_[block].last - 1;
    const SymbolicRun::Branched ways = run_.branch(last, state);
    is_taken_ = true;
    jump_to(instructions_[last].target, ways.taken);
    is_taken_ = false;
    go_on(block, ways.on);
  }

  void jump_by_table(size_t block, const SymbolicState& state) {
    const size_t last = blocks_[block].last - 1;
    if (open_jumps_.contains(last)) read_open_table(block, state);
    const auto table = tables_.find(last);
    if (table == tables_.end()) return;
    for (const LinkAddress to : table->second.targets) jump_to(to, state);
  }

  void read_open_table(size_t block, const SymbolicState& state) {
    const size_t last = blocks_[block].last - 1;
    tables_.erase(last);
    std::optional<JumpTable> table = run_.read_table(last, state);
    // Several dispatches that share one jump: each way comes with a table's entry of its own.
    const std::map<std::pair<size_t, bool>, SymbolicState>& ways = places_[block].ways;
    if (!table && ways.size() > 1 && effects_[last].kind == EffectKind::jump) {
      for (const auto& [from, entered] : ways) {
        SymbolicState at_end = entered;
        for (size_t i = blocks_[block].first; i < last; ++i) run_.step(i, at_end);
        std::optional<JumpTable> more = run_.read_table(last, at_end);
        if (!more) return;
        if (table) {
          more->targets.insert(more->targets.end(), table->targets.begin(), table->targets.end());
          more->is_complete = more->is_complete && table->is_complete;
        }
        table = std::move(more);
      }
    }
    if (!table) return;
    sort_targets(*table);
    tables_[last] = *std::move(table);
  }

  std::span<const Instruction> instructions_;
  std::span<const Effect> effects_;
  SymbolicRun run_;
  std::vector<Block> blocks_;
  std::optional<std::vector<Edge>> edges_;  // that instructions name, once they were wanted
  std::vector<LinkAddress> targets_;        // of tables, known from earlier rounds; ascending
  std::set<size_t> within_ways_;            // blocks that are entered by one way only, as it seems
  std::set<size_t> open_jumps_;             // instructions
  std::map<size_t, JumpTable> tables_;      // by index of the jump

  // Of the walk over the whole function:
  std::vector<Visited> places_;
  std::vector<bool> leads_to_table_;  // by block
  size_t from_ = kEntered;            // the block that is run
  bool is_taken_ = false;             // its conditional branch
  std::set<size_t> open_;
};

}  // namespace

std::vector<JumpTable> find_jump_tables(std::span<const Instruction> instructions,
                                        std::span<const Effect> effects, bool is_x86,
                                        const ReadImage& read) {
  if (instructions.empty() || instructions.size() > kMostFollowedInstructions) return {};
  return TableFinder(instructions, effects, is_x86, read).find();
}

}  // namespace culprit
