// The call graph of a profile with branch records as a Graphviz digraph: functions with their
// share and calls, and who called whom how often.
//
//     f0 [label="main\n12.0 %"]
//     f1 [label="grind\n65.0 %\ncalled 1.20 k"]
//     f0 -> f1 [label="1.20 k"]

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <vector>

#include "base/names.h"
#include "base/text.h"
#include "branches/branch_events.h"
#include "branches/branch_scale.h"
#include "branches/call_graph.h"
#include "branches/event_names.h"
#include "exports/branch_image.h"
#include "exports/dot_text.h"
#include "exports/exports.h"

namespace culprit {

namespace {

class CallPicture {
 public:
  CallPicture(CodeIndex& code, const CallGraphOptions& options, const BranchScale& scale)
      : code_(code), options_(options), scale_(scale) {
    graph_ = make_call_graph(code, EventId(0u));  // branch records' own event comes first
    choose();
  }

  [[nodiscard]] bool empty() const { return kept_.empty(); }
  [[nodiscard]] bool has_calls() const { return !graph_.edges.empty(); }

  std::string write() {
    std::string text = std::string(kDotMark) + "digraph calls {\n";
    text += "  label=" + dot_quoted(title()) + "; labelloc=t; fontname=\"sans-serif\";\n";
    text += "  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n";
    for (const size_t node : kept_) text += write_node(node);
    for (const CallGraph::Edge& edge : graph_.edges) {
      if (is_kept_[edge.caller] && is_kept_[edge.callee]) text += write_edge(edge);
    }
    return text + "}\n";
  }

 private:
  /// The functions with the largest shares, then those that are called most.
  void choose() {
    const auto weight = [&](size_t i) {
      const CallGraph::Node& node = graph_.nodes[i];
      return std::pair(node.share_of_event, node.calls + node.calls_made);
    };
    kept_.resize(graph_.nodes.size());
    std::iota(kept_.begin(), kept_.end(), size_t{0});
    std::erase_if(kept_, [&](size_t i) {
      return 100 * graph_.nodes[i].share_of_event < options_.minimum_percent ||
             !image_matches(code_, graph_.nodes[i].image, options_.image);
    });
    std::stable_sort(kept_.begin(), kept_.end(),
                     [&](size_t a, size_t b) { return weight(a) > weight(b); });
    if (options_.limit > 0 && kept_.size() > options_.limit) kept_.resize(options_.limit);
    is_kept_.resize(graph_.nodes.size());
    for (const size_t node : kept_) is_kept_[node] = true;
  }

  [[nodiscard]] std::string calls(uint64_t records) const {
    return format_si(static_cast<double>(records) * scale_.per_branch);
  }

  /// What is left out is said.
  std::string title() const {
    uint64_t all = 0;
    uint64_t drawn = 0;
    for (const CallGraph::Edge& edge : graph_.edges) {
      all += edge.count;
      if (is_kept_[edge.caller] && is_kept_[edge.callee]) drawn += edge.count;
    }
    std::string text =
        fmt::format("calls {}: {}", scale_.is_exact ? "counted" : "by branch records", calls(all));
    if (drawn < all) text += fmt::format(", {} of them drawn", calls(drawn));
    if (kept_.size() < graph_.nodes.size()) {
      text += fmt::format("; {} of {} functions", format_thousands(kept_.size()),
                          format_thousands(graph_.nodes.size()));
    }
    return text + "; shares of " + describe_shares();
  }

  [[nodiscard]] std::string describe_shares() const {
    const Profile& profile = code_.profile();
    const std::string& event = profile.strings.text(profile.events[0].name);
    return event == branch_events::kInstructions ? "executed instructions" : event;
  }

  std::string name(const CallGraph::Node& node) {
    const ImageFacts* facts = code_.facts(node.image);
    if (facts == nullptr || node.function == CodePlace::kNone) {
      return std::string(base_name(code_.module(node.image)));
    }
    constexpr size_t kLongest = 60;
    return shorten_name(printable(facts->strings.text(facts->functions[node.function].name)),
                        kLongest);
  }

  std::string write_node(size_t index) {
    const CallGraph::Node& node = graph_.nodes[index];
    std::string label = dot_escaped(name(node));
    if (node.share_of_event > 0) label += fmt::format("\\n{:.1f} %", 100 * node.share_of_event);
    if (node.calls > 0) label += "\\ncalled " + calls(node.calls);
    return fmt::format("  f{} [label=\"{}\", fillcolor=\"0.03 {:.3f} 1.0\"];\n", index, label,
                       0.8 * node.share_of_event);
  }

  /// The thicker the more calls, by their logarithm.
  std::string write_edge(const CallGraph::Edge& edge) const {
    const double width = 1 + std::log10(1 + static_cast<double>(edge.count)) / 2;
    return fmt::format("  f{} -> f{} [label=\"{}\", penwidth={:.2f}];\n", edge.caller, edge.callee,
                       calls(edge.count), width);
  }

  CodeIndex& code_;
  const CallGraphOptions& options_;
  BranchScale scale_;
  CallGraph graph_;
  std::vector<size_t> kept_;  // nodes, the largest first
  std::vector<bool> is_kept_;
};

}  // namespace

Result<std::string> export_call_graph(const Profile& profile, const FactsLookup& facts,
                                      const CallGraphOptions& options) {
  ASSIGN_OR_RETURN(const Profile executed, with_branch_events(profile, facts));
  CodeIndex code(executed, facts);
  CallPicture picture(code, options, find_branch_scale(profile));
  if (!picture.has_calls()) {
    return Error{
        "no calls are known: without the names of functions they cannot be told from other "
        "branches\ngive the binaries: culprit symbolize --symbols DIR"};
  }
  if (picture.empty()) {
    return Error{fmt::format("no functions to draw: --image '{}' or --min-percent {} leaves none",
                             printable(options.image), options.minimum_percent)};
  }
  return picture.write();
}

}  // namespace culprit
