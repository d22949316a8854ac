#include "scan/executed_remarks.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "print/header_text.h"
#include "print/json_parts.h"
#include "print/text_table.h"
#include "scan/print_answer.h"

namespace culprit::scan {
namespace {

/// An access of more bytes is of several elements at once.
constexpr double kElementBytes = 8;

/// The share of the work from which on it is as the compiler said.
constexpr double kMostly = 0.5;

/// The events by which work is known, as the profile numbers them.
class WorkEvents {
 public:
  explicit WorkEvents(const Profile& profile)
      : instructions(find_event(profile, "instructions")),
        flops_(find_event(profile, "flops")),
        packed_flops_(find_event(profile, "packed-flops")),
        loads_(find_event(profile, "L1-dcache-loads")),
        stores_(find_event(profile, "L1-dcache-stores")),
        load_bytes_(find_event(profile, "load-bytes")),
        store_bytes_(find_event(profile, "store-bytes")) {}

  const size_t instructions;

  [[nodiscard]] double flops(const PlaceCost& place) const { return value(place, flops_); }
  [[nodiscard]] double packed_flops(const PlaceCost& place) const {
    return value(place, packed_flops_);
  }
  [[nodiscard]] double bytes(const PlaceCost& place) const {
    return value(place, load_bytes_) + value(place, store_bytes_);
  }
  /// Bytes of accesses that are wider than an element.
  [[nodiscard]] double packed_bytes(const PlaceCost& place) const {
    const double accesses = value(place, loads_) + value(place, stores_);
    return bytes(place) > kElementBytes * accesses ? bytes(place) : 0;
  }

 private:
  static double value(const PlaceCost& place, size_t event) {
    return event == SIZE_MAX ? 0 : place.per_iteration[event].value;
  }

  size_t flops_;
  size_t packed_flops_;
  size_t loads_;
  size_t stores_;
  size_t load_bytes_;
  size_t store_bytes_;
};

struct Line {
  std::string file;  // without its folders
  uint32_t number = 0;
};

/// A place that each iteration executes, with the lines that it is of: its own, and those where it
/// was inlined.
struct Place {
  const PlaceCost* cost;
  std::vector<Line> lines;
};

std::vector<Place> find_places(const CellCosts& costs, CodeIndex& code) {
  std::vector<Place> places;
  for (const PlaceCost& one : costs.places) {
    if (one.behaviour == Behaviour::once) continue;
    const ImageFacts* const facts = code.facts(one.at.image);
    if (facts == nullptr) continue;
    Place place{&one, {}};
    for (const Frame& frame : code.frames(one.at)) {
      if (frame.line == 0) continue;
      place.lines.push_back({std::string(base_name(facts->strings.text(frame.file))), frame.line});
    }
    places.push_back(std::move(place));
  }
  return places;
}

bool is_of(const Place& place, const Remark& remark) {
  return std::any_of(place.lines.begin(), place.lines.end(), [&](const Line& line) {
    return line.file == remark.file && line.number >= remark.line &&
           line.number - remark.line <= kHeadAbove;
  });
}

Execution judge(const ExecutedRemark& one) {
  if (one.instructions == 0) return Execution::nothing;
  if (!is_vectorised(one.remark) || !one.packed_share) return Execution::unknown;
  if (*one.packed_share == 0) {
    return one.has_packed_accesses ? Execution::packed_accesses : Execution::scalar;
  }
  return *one.packed_share < kMostly ? Execution::mostly_scalar : Execution::packed;
}

/// What a compiler did to a loop or to statements, of all that it says.
bool is_of_loops(const Remark& remark) {
  if (is_vectorised(remark)) return true;
  return !remark.is_missed && (remark.text.find("unroll") != std::string::npos ||
                               remark.text.find("peel") != std::string::npos);
}

const char* execution_name(Execution execution) {
  switch (execution) {
    case Execution::nothing:
      return "nothing";
    case Execution::scalar:
      return "scalar";
    case Execution::packed_accesses:
      return "packed accesses";
    case Execution::mostly_scalar:
      return "mostly scalar";
    case Execution::packed:
      return "packed";
    case Execution::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace

bool is_vectorised(const Remark& remark) {
  if (remark.is_missed) return false;
  static constexpr const char* kWords[] = {
      "loop vectorized using", "part vectorized using", "vectorized loop (",
      "SLP vectorized",        "SLP-vectorized",        "Vectorized horizontal reduction"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* words) {
    return remark.text.find(words) != std::string::npos;
  });
}

std::string ExecutedRemark::text() const {
  switch (execution) {
    case Execution::nothing:
      return "executed: nothing of it in an iteration";
    case Execution::scalar:
      return "executed: only scalar code: the vectors never ran, or were split again";
    case Execution::packed_accesses:
      return "executed: vectors are loaded or stored, and computed one element at a time";
    case Execution::mostly_scalar:
      return fmt::format("executed: {:.0f} % of the work packed, the rest one by one",
                         100 * packed_share.value_or(0));
    case Execution::packed:
      return fmt::format("executed: {:.0f} % of the work packed", 100 * packed_share.value_or(0));
    case Execution::unknown:
      break;
  }
  return "";
}

std::vector<ExecutedRemark> find_executed(const std::vector<Remark>& remarks,
                                          const CellCosts& costs, CodeIndex& code) {
  const WorkEvents events(code.profile());
  const std::vector<Place> places = find_places(costs, code);
  std::vector<ExecutedRemark> out;
  for (const Remark& remark : remarks) {
    ExecutedRemark one;
    one.remark = remark;
    double flops = 0;
    double packed_flops = 0;
    double bytes = 0;
    double packed_bytes = 0;
    for (const Place& place : places) {
      if (!is_of(place, remark)) continue;
      one.instructions += place.cost->per_iteration[events.instructions].value;
      flops += events.flops(*place.cost);
      packed_flops += events.packed_flops(*place.cost);
      bytes += events.bytes(*place.cost);
      packed_bytes += events.packed_bytes(*place.cost);
    }
    one.has_packed_accesses = packed_bytes > 0;
    if (flops > 0) {
      one.packed_share = packed_flops / flops;
    } else if (bytes > 0) {
      one.packed_share = packed_bytes / bytes;
    }
    if (!remark.is_missed) one.execution = judge(one);
    out.push_back(std::move(one));
  }
  return out;
}

std::string print_executed(const Cell& cell, const std::vector<ExecutedRemark>& remarks,
                           const TextStyle& style) {
  std::string out = printable(cell.name.text()) + "\n\n";
  TextColumn instructions{"=instructions", true, nullptr, 1, {}};
  TextColumn packed{"packed", true, nullptr, 2, {}};
  TextColumn place{"line", false, nullptr, 2, {}};
  TextColumn said{"the compiler says",
                  false,
                  [](const std::string& text, size_t width) { return shorten_name(text, width); },
                  2,
                  {}};
  std::string warnings;
  for (const ExecutedRemark& one : remarks) {
    if (!is_of_loops(one.remark)) continue;
    const std::string line = fmt::format("{}:{}", printable(one.remark.file), one.remark.line);
    instructions.cells.push_back(one.instructions == 0 ? "-" : format_cost({one.instructions, 0}));
    packed.cells.push_back(one.packed_share ? fmt::format("{:.0f} %", 100 * *one.packed_share)
                                            : "-");
    place.cells.push_back(line);
    said.cells.push_back(printable(one.remark.text));
    if (one.execution == Execution::unknown || one.execution == Execution::packed) continue;
    warnings += print_labelled("Note", line + " " + one.text(), style);
  }
  if (place.cells.empty()) {
    return out +
           print_labelled("Note",
                          cell.detail(kRemarksLabel).empty()
                              ? "the compiler said nothing of what it optimised: put {remarks} "
                                "into `build`, which makes GCC and clang tell"
                              : "the compiler vectorised and unrolled no loop of the user's files",
                          style);
  }
  return out + print_table({instructions, packed, place, said}, style.width) + "\n" + warnings;
}

std::string print_executed_json(const Cell& cell, const std::vector<ExecutedRemark>& remarks) {
  Json rows = Json::array();
  for (const ExecutedRemark& one : remarks) {
    if (!is_of_loops(one.remark)) continue;
    Json row = {{"place", fmt::format("{}:{}", one.remark.file, one.remark.line)},
                {"text", one.remark.text},
                {"vectorised", is_vectorised(one.remark)},
                {"execution", execution_name(one.execution)},
                {"instructions", one.instructions}};
    row["packed_share"] = one.packed_share ? Json(*one.packed_share) : Json(nullptr);
    rows.push_back(std::move(row));
  }
  return dump({{"schema", "culprit-scan-executed-1"},
               {"cell", cell.name.text()},
               {"remarks", std::move(rows)}});
}

}  // namespace culprit::scan
