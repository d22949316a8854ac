// A call tree by callees goes down from the outermost callers; one by callers goes up
// from the sampled code:
//
//     stacks      main;f;g 3     main;h;g 1
//     callees     main 4                 callers     g 4
//                   f 3                                f 3
//                     g 3                                main 3
//                   h 1                                h 1
//                     g 1                                main 1

#include "report/tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "model/counts.h"
#include "print/values.h"
#include "report/row_filter.h"
#include "report/row_key.h"

namespace culprit {

namespace {

constexpr size_t kNoNode = SIZE_MAX;

struct Node {
  RowKey key;
  size_t parent = kNoNode;
  size_t depth = 0;
  Sums all;  // with everything below
  Sums self;
};

struct ChildKey {
  size_t parent;
  RowKey key;
  friend bool operator==(const ChildKey&, const ChildKey&) = default;
};

struct ChildKeyHash {
  size_t operator()(const ChildKey& child) const noexcept {
    return RowKeyHash()(child.key) ^ (child.parent * 0x9e3779b97f4a7c15);
  }
};

/// Grows nodes; children come after their parents.
class TreeBuilder {
 public:
  TreeBuilder(CodeIndex& code, const ReportOptions& options, Levels levels)
      : code_(code), options_(options), levels_(levels), keys_(code, levels) {}

  void add(const StackCount& count, size_t event, const Sum& sum) {
    std::vector<RowKey> path = path_of(count);
    size_t node = kNoNode;
    for (const RowKey& key : path) {
      node = child(node, key);
      nodes_[node].all[event] += sum;
    }
    if (node != kNoNode) nodes_[node].self[event] += sum;
  }

  std::vector<Node>& nodes() { return nodes_; }
  RowKeys& keys() { return keys_; }

 private:
  size_t child(size_t parent, const RowKey& key) {
    const auto [at, is_new] = children_.try_emplace({parent, key}, nodes_.size());
    if (is_new) {
      const size_t events = code_.profile().events.size();
      const size_t depth = parent == kNoNode ? 0 : nodes_[parent].depth + 1;
      nodes_.push_back({key, parent, depth, Sums(events), Sums(events)});
    }
    return at->second;
  }

  /// Keys of the frames at one address, innermost first, inlined ones included.
  const std::vector<RowKey>& frames_at(const Location& location) {
    const auto [at, is_new] = frames_.try_emplace(location);
    if (is_new) {
      std::vector<Frame> frames = code_.frames(location);
      if (frames.empty()) frames.emplace_back();
      for (const Frame& frame : frames) {
        at->second.push_back(keys_.of_frame({}, location, frame));
      }
    }
    return at->second;
  }

  /// The way from the root of the tree to the leaf.
  std::vector<RowKey> path_of(const StackCount& count) {
    std::vector<RowKey> path;
    for (const Location& location : stack_locations(code_.profile(), count.stack)) {
      for (const RowKey& key : frames_at(location)) {
        // A tree by module alone has one node for a stay in one module.
        if (!levels_.code() && !path.empty() && path.back() == key) continue;
        path.push_back(key);
      }
    }
    if (options_.tree == Tree::callees) std::reverse(path.begin(), path.end());
    if (levels_.context()) {
      path.insert(path.begin(), keys_.of_context(count.context));
    }
    return path;
  }

  CodeIndex& code_;
  const ReportOptions& options_;
  Levels levels_;
  RowKeys keys_;
  std::vector<Node> nodes_;
  std::unordered_map<ChildKey, size_t, ChildKeyHash> children_;
  std::unordered_map<Location, std::vector<RowKey>> frames_;
};

/// Tells whether the innermost code of a stack passes the filters.
class LeafFilter {
 public:
  LeafFilter(CodeIndex& code, const std::vector<Filter>& filters)
      : filters_(filters), keys_(code, levels_of(filters)) {}

  bool keeps(ContextId context, const Location& leaf) {
    if (filters_.empty()) return true;
    const RowKey key = keys_.of_location(keys_.of_context(context), leaf);
    const auto [at, is_new] = verdicts_.try_emplace(key);
    if (is_new) at->second = passes(filters_, keys_.describe(key));
    return at->second;
  }

 private:
  static Levels levels_of(const std::vector<Filter>& filters) {
    Levels levels;
    for (const Filter& filter : filters) levels.add(filter.level);
    return levels;
  }

  const std::vector<Filter>& filters_;
  RowKeys keys_;
  std::unordered_map<RowKey, bool, RowKeyHash> verdicts_;
};

/// Whether all of a node is in one node below it: wrappers, which are shown but say little.
std::vector<bool> find_wrappers(const std::vector<Node>& nodes) {
  std::vector<bool> wrappers(nodes.size());
  for (const Node& node : nodes) {
    if (node.parent == kNoNode || node.all.empty()) continue;
    const Node& parent = nodes[node.parent];
    const bool is_all = parent.self[0].empty() && parent.all[0].value > 0 &&
                        parent.all[0].value == node.all[0].value &&
                        parent.all[0].samples == node.all[0].samples;
    if (is_all) wrappers[node.parent] = true;
  }
  return wrappers;
}

/// The nodes with the largest values; a parent has at least its child's, and comes
/// first among equals, so what is kept hangs together. Wrappers do not use up the limit.
std::vector<bool> choose_nodes(const std::vector<Node>& nodes, const std::vector<bool>& wrappers,
                               const ReportTable& table) {
  std::vector<size_t> order(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto value = [&](size_t node) {
    return nodes[node].all.empty() ? 0 : nodes[node].all[0].value;
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  const size_t limit = table.options.limit == 0 ? nodes.size() : table.options.limit;
  const double scale = table.events.empty() ? 1 : table.events[0].scale;
  const double minimum =
      table.totals.empty() ? 0 : table.totals[0].value * table.options.minimum_percent / 100;
  std::vector<bool> chosen(nodes.size());
  size_t taken = 0;
  for (size_t i = 0; i < order.size() && taken < limit; ++i) {
    const size_t node = order[i];
    const size_t parent = nodes[node].parent;
    // Other events than the first may break the order of sizes: never leave a gap.
    const bool hangs = parent == kNoNode || chosen[parent];
    chosen[node] = hangs && static_cast<double>(value(node)) * scale >= minimum;
    if (chosen[node] && !wrappers[node]) ++taken;
  }
  return chosen;
}

/// Appends the chosen nodes in tree order.
void list_nodes(const std::vector<Node>& nodes, const std::vector<bool>& chosen,
                const std::vector<bool>& wrappers, RowKeys& keys, const RowOrder& before,
                ReportTable& table) {
  std::vector<ReportRow> rows(nodes.size());
  std::vector<std::vector<size_t>> children(nodes.size());
  std::vector<size_t> pending;  // a stack of nodes still to list, the next one last
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!chosen[i]) continue;
    rows[i] = keys.describe(nodes[i].key);
    if (!nodes[i].key.code) rows[i].function.reset();
    if (nodes[i].depth > 0 || nodes[i].key.code) {
      rows[i].process.reset();
      rows[i].process_id.reset();
      rows[i].thread.reset();
      rows[i].thread_id.reset();
    }
    rows[i].depth = nodes[i].depth;
    rows[i].passes_through = wrappers[i];
    rows[i].values = to_values(table.events, nodes[i].all);
    rows[i].self = to_values(table.events, nodes[i].self);
    (nodes[i].parent == kNoNode ? pending : children[nodes[i].parent]).push_back(i);
  }
  const auto last_first = [&](size_t a, size_t b) { return before(rows[b], rows[a]); };
  std::sort(pending.begin(), pending.end(), last_first);
  while (!pending.empty()) {
    const size_t node = pending.back();
    pending.pop_back();
    table.rows.push_back(std::move(rows[node]));
    std::sort(children[node].begin(), children[node].end(), last_first);
    pending.insert(pending.end(), children[node].begin(), children[node].end());
  }
}

Result<Levels> tree_levels(const ReportOptions& options) {
  Levels levels = Levels::of(options.by);
  if (levels.address()) {
    return Error{"a call tree goes by function, line or module, not by block or instruction"};
  }
  if (!levels.code() && !levels.module) levels.function = true;
  return levels;
}

}  // namespace

Result<void> make_tree(CodeIndex& code, const RowOrder& before, ReportTable& table) {
  const Profile& profile = code.profile();
  if (profile.stack_counts.empty()) {
    return Error{"this profile has no call stacks: record them with culprit record -g"};
  }
  ASSIGN_OR_RETURN(const Levels levels, tree_levels(table.options));
  TreeBuilder tree(code, table.options, levels);
  LeafFilter filter(code, table.options.filters);

  // What the samples hold, less what the stacks hold, has no stack.
  Sums shown(profile.events.size());
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (filter.keeps(histogram.context, at)) shown[event] += sum;
    });
  }
  Sums with_stack(profile.events.size());
  for_each_stack_count(profile, [&](const StackCount& count, size_t event, const Sum& sum) {
    if (!filter.keeps(count.context, profile.stacks[count.stack.value].location)) return;
    tree.add(count, event, sum);
    with_stack[event] += sum;
  });

  const std::vector<Node>& nodes = tree.nodes();
  const std::vector<bool> wrappers = find_wrappers(nodes);
  const std::vector<bool> chosen = choose_nodes(nodes, wrappers, table);
  list_nodes(nodes, chosen, wrappers, tree.keys(), before, table);
  Sums rest(profile.events.size());
  Sums apart(profile.events.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (chosen[i]) continue;
    add_sums(rest, nodes[i].self);
    ++table.rest_rows;
    if (nodes[i].parent != kNoNode) continue;  // in the row of its root, shown or not
    add_sums(apart, nodes[i].all);
    ++table.rest_apart_rows;
  }
  if (table.rest_rows > 0) table.rest = to_values(profile.events, rest);
  if (table.rest_apart_rows > 0) table.rest_apart = to_values(profile.events, apart);

  Sums without(profile.events.size());
  bool some_without = false;
  for (size_t event = 0; event < without.size(); ++event) {
    const Sum& all = shown[event];
    const Sum& known = with_stack[event];
    if (all.samples < known.samples || all.value < known.value) {
      return Error{"this profile is damaged: its stacks hold more samples than its code"};
    }
    without[event] = {all.samples - known.samples, all.value - known.value,
                      std::max(0.0, all.variance - known.variance)};
    some_without = some_without || !without[event].empty();
  }
  if (some_without) {
    ReportRow row;
    row.function = "[no stack]";
    row.values = row.self = to_values(profile.events, without);
    table.rows.push_back(std::move(row));
  }
  table.shown = to_values(profile.events, shown);
  return {};
}

}  // namespace culprit
