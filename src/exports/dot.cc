// The basic blocks of one function as a Graphviz digraph. Blocks and the ways that the
// code allows come from its instructions; what was counted comes from the histograms,
// and how often each way was taken from branch records, where there are any:
//
//     b1210 -> b1220 [label="taken 900"]      a taken branch
//     b1210 -> b1216 [label="100"]            code that ran on, from the ranges between them

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/text.h"
#include "exports/dot_text.h"
#include "exports/exports.h"
#include "exports/one_function.h"
#include "model/counts.h"
#include "model/event_names.h"

namespace culprit {

namespace {

constexpr size_t kDrawnEvent = 0;  // colours and shares are of the first event

/// How often control went from one block to another.
struct Way {
  bool is_branch = false;  // else the next block in memory
  uint64_t count = 0;
};
using Ways = std::map<std::pair<size_t, size_t>, Way>;

class Graph {
 public:
  Graph(CodeIndex& code, const OneFunction& function, const Disassembly& listing)
      : code_(code),
        profile_(code.profile()),
        image_(function.image),
        fact_(code.facts(image_)->functions[function.row]),
        name_(function.name),
        code_of_(listing),
        sums_(listing.blocks.size()) {
    for (const Histogram& histogram : profile_.histograms) add_counts(histogram);
    find_static_ways();
    for (const BranchCount& branch : profile_.branch_counts) add_branch(branch);
    for (const FallThrough& range : profile_.fall_throughs) add_range(range);
  }

  std::string write() {
    std::string text = std::string(kDotMark) + "digraph " + dot_quoted(name_) + " {\n";
    text += "  label=" + dot_quoted(title()) + "; labelloc=t; fontname=\"sans-serif\";\n";
    text += "  node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\"];\n";
    text += "  edge [fontname=\"monospace\"];\n";
    for (size_t block = 0; block < blocks().size(); ++block) text += node(block);
    for (const auto& [ends, way] : ways_) text += edge(ends.first, ends.second, way);
    return text + "}\n";
  }

 private:
  [[nodiscard]] const std::vector<Block>& blocks() const { return code_of_.blocks; }

  void add_counts(const Histogram& histogram) {
    for_each_count(profile_, histogram, [this](const Location& at, size_t event, const Sum& sum) {
      if (event != kDrawnEvent) return;
      everything_ += sum;
      if (const auto block = block_of(at)) sums_[*block] += sum;
    });
  }

  [[nodiscard]] std::optional<size_t> block_of(const Location& at) const {
    if (at.image != image_ || at.offset < fact_.begin || at.offset >= fact_.end)
      return std::nullopt;
    return find_block(blocks(), code_of_.to_link(at.offset));
  }

  void find_static_ways() {
    for (size_t block = 0; block < blocks().size(); ++block) {
      const Instruction& last = code_of_.instructions[blocks()[block].last - 1];
      const bool jumps = last.flow == Flow::jump || last.flow == Flow::branch;
      const bool runs_on =
          last.flow == Flow::next || last.flow == Flow::branch || last.flow == Flow::call;
      if (jumps && last.target) {
        const auto target = find_block(blocks(), *last.target);
        if (target && blocks()[*target].begin == *last.target)
          ways_[{block, *target}].is_branch = true;
      }
      const bool touches =
          block + 1 < blocks().size() && blocks()[block].end == blocks()[block + 1].begin;
      if (runs_on && touches) ways_[{block, block + 1}];
    }
  }

  /// Calls and returns are no ways between blocks.
  void add_branch(const BranchCount& branch) {
    const auto from = block_of(branch.from);
    const auto to = block_of(branch.to);
    if (!from || !to || blocks()[*to].begin != code_of_.to_link(branch.to.offset)) return;
    const Instruction& last = code_of_.instructions[blocks()[*from].last - 1];
    if (last.address != code_of_.to_link(branch.from.offset)) return;
    if (last.flow == Flow::call || last.flow == Flow::returns) return;
    Way& way = ways_[{*from, *to}];
    way.is_branch = true;
    way.count += branch.count;
    has_branches_ = true;
  }

  /// A range that crosses from one block into the next ran on there.
  void add_range(const FallThrough& range) {
    const auto first = block_of({range.image, range.from});
    const auto last = block_of({range.image, range.to});
    if (!first || !last) return;
    for (size_t block = *first; block < *last; ++block) {
      const auto way = ways_.find({block, block + 1});
      if (way != ways_.end()) way->second.count += range.count;
    }
    has_branches_ = true;
  }

  [[nodiscard]] Sum own_total() const {
    Sum total;
    for (const Sum& sum : sums_) total += sum;
    return total;
  }

  [[nodiscard]] std::string amount(const Sum& sum) const {
    const Event& event = profile_.events[kDrawnEvent];
    const double value = static_cast<double>(sum.value) * event.scale;
    return event.unit == Unit::ns
               ? format_duration_ns(value)
               : format_si(value) + " " + distinct_event_names(profile_)[kDrawnEvent];
  }

  static std::string share(const Sum& part, const Sum& whole) {
    if (whole.value == 0) return "";
    return fmt::format("{:.1f} %",
                       100.0 * static_cast<double>(part.value) / static_cast<double>(whole.value));
  }

  std::string title() {
    const Sum own = own_total();
    std::string text = fmt::format("{} ({})", name_, code_.module(image_));
    if (!own.empty())
      text += fmt::format(": {}, {} of everything", amount(own), share(own, everything_));
    return text;
  }

  /// First and last line of the function's own text in the block: inlined code stands
  /// where it is called.
  std::string lines(size_t block) {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    std::string file;
    for (size_t at = blocks()[block].first; at < blocks()[block].last; ++at) {
      const FileOffset offset = code_of_.to_offset(code_of_.instructions[at].address);
      const std::vector<Frame> frames = code_.frames({image_, offset});
      if (frames.empty() || frames.back().line == 0) continue;
      first = std::min(first, frames.back().line);
      last = std::max(last, frames.back().line);
      file = base_name(code_.facts(image_)->strings.text(frames.back().file));
    }
    if (last == 0) return "";
    return first == last ? fmt::format("{}:{}", file, first)
                         : fmt::format("{}:{}-{}", file, first, last);
  }

  std::string node(size_t block) {
    const Block& one = blocks()[block];
    std::vector<std::string> rows = {
        fmt::format("{:x}-{:x}  {} instr.", one.begin.value, one.end.value, one.last - one.first)};
    if (const std::string where = lines(block); !where.empty()) rows.push_back(where);
    const Sum& sum = sums_[block];
    const Sum own = own_total();
    if (!sum.empty()) {
      rows.push_back(fmt::format("{}  {}", amount(sum), share(sum, own)));
      if (sum.samples > 0) rows.push_back(fmt::format("{} samples", format_thousands(sum.samples)));
    }
    std::string label;
    for (const std::string& row : rows) label += (label.empty() ? "" : "\\n") + dot_escaped(row);
    const double heat =
        own.value == 0 ? 0 : static_cast<double>(sum.value) / static_cast<double>(own.value);
    return fmt::format(
        "  b{:x} [label=\"{}\"{}];\n", one.begin.value, label,
        sum.empty() ? "" : fmt::format(", fillcolor=\"0.03 {:.3f} 1.0\"", 0.1 + 0.8 * heat));
  }

  /// How often an edge was taken only branch records tell.
  std::string edge(size_t from, size_t to, const Way& way) const {
    std::string label = way.is_branch ? "taken" : "";
    if (has_branches_) label += (label.empty() ? "" : " ") + format_thousands(way.count);
    return fmt::format("  b{:x} -> b{:x} [label=\"{}\"{}];\n", blocks()[from].begin.value,
                       blocks()[to].begin.value, label,
                       has_branches_ && way.count == 0 ? ", style=dashed" : "");
  }

  CodeIndex& code_;
  const Profile& profile_;
  ImageId image_;
  const FunctionFact& fact_;
  std::string name_;
  const Disassembly& code_of_;
  std::vector<Sum> sums_;  // parallel to blocks
  Sum everything_;
  Ways ways_;
  bool has_branches_ = false;
};

}  // namespace

Result<std::string> export_dot(const Profile& profile, const FactsLookup& facts,
                               const std::string& function, const std::string& image) {
  CodeIndex code(profile, facts);
  ASSIGN_OR_RETURN(const OneFunction found, find_one_function(code, function, image));
  const FunctionFact& fact = code.facts(found.image)->functions[found.row];
  Result<Disassembly> listing = code.disassemble(found.image, fact.begin, fact.end, Detail::flow);
  if (!listing) {
    return Error{
        fmt::format("cannot draw '{}': {}", printable(found.name), listing.error().message)};
  }
  return Graph(code, found, *listing).write();
}

}  // namespace culprit
