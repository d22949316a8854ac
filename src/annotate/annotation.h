#pragma once

// Annotation: the code of one function (or every place where it was inlined) with its
// counts, as values. Made from a profile by make_annotation, printed by the two printers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/attribution.h"
#include "base/result.h"
#include "base/text_style.h"
#include "model/profile.h"
#include "print/values.h"
#include "stats/estimate.h"

namespace culprit {

/// What to annotate: source and assembly of one function with counts. `function`: name or pattern;
/// where several match, the one with the most counts, the others are named.
struct AnnotateOptions {
  std::string function;
  std::string module;  // pattern; "" = any
  size_t copy = 1;     // which of those that match, by their counts
  bool show_source = true;
  bool show_assembly = true;
  size_t limit = 0;            // blocks of each place, or lines; the hottest; 0: all
  bool hottest_first = false;  // else in the order of the code
  bool with_locality = false;  // columns of `locality` beside the counts
};

/// One frame of inlined code around an instruction: what was called, and from where.
struct InlineCall {
  std::string function;
  std::string call_file;
  uint32_t call_line = 0;
  friend bool operator==(const InlineCall&, const InlineCall&) = default;
};

/// What may have held an instruction up. `number`: of the room stalls' causes.
struct AnnotatedCause {
  size_t number = 0;
  std::string_view letter;              // "dm"
  std::string_view key;                 // "load_memory"
  std::optional<Interval> cycles = {};  // per execution; none: executions are not known
  /// Of the stall [0 to 1], at most, where something bounds it.
  std::optional<double> most = {};
  std::vector<std::string> bounded_by = {};  // "branch-misses", "executions"; none: by the code
};

struct AnnotatedStall {
  uint64_t waits_for = 0;              // link address
  std::optional<double> cycles;        // per execution, beyond the best case; none: not known
  double unexplained = 0;              // of them
  std::vector<AnnotatedCause> causes;  // highest bound first
  /// What sampled events leave next to nothing of.
  std::vector<AnnotatedCause> ruled_out = {};
};

/// An edge leads from the last instruction of a block to another block. An end without an address
/// is outside of the function.
struct AnnotatedEdge {
  std::optional<uint64_t> from, to;  // link addresses of the blocks
  bool is_assumed = false;           // nothing in the code says so
  std::optional<double> runs = {};
  std::string confidence = {};  // in the runs: "low", "medium", "high"
};

struct AnnotatedLoop {
  uint64_t begin = 0;  // link addresses: the head's, and behind the last block
  uint64_t end = 0;
  uint32_t depth = 1;
  bool is_irreducible = false;
  std::optional<double> rounds;
};

struct AnnotatedInstruction {
  uint64_t address = 0;  // link address
  uint32_t size = 0;     // 0: its code is not in the profile
  std::string text;      // "" likewise
  std::string file;
  uint32_t line = 0;                // 0: unknown
  std::vector<InlineCall> inlined;  // outermost first
  std::vector<Value> values;
  std::optional<Interval> cpi;  // of profiles of two runs, as below: annotation_cpi.h
  std::string more = {};        // cells of Annotation::more_heading
  std::optional<AnnotatedStall> stall = {};
};

struct AnnotatedBlock {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::vector<AnnotatedInstruction> instructions;
  std::vector<Value> values;
  std::optional<Estimate> cpi;
  std::optional<double> best_cpi = {};  // with all data at hand, nothing mispredicted
};

/// The code of a function, or the part of it where another one was inlined.
struct AnnotatedPlace {
  std::string function;  // whose symbol it is; "" if unknown
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string problem;  // why there is no assembly; "" if there is
  std::vector<AnnotatedBlock> blocks;
  std::vector<Value> values;
  std::string executions = {};  // where they are known from; "": no control flow was found
  std::vector<AnnotatedEdge> edges = {};
  std::vector<AnnotatedLoop> loops = {};
};

struct AnnotatedLine {
  std::string file;
  uint32_t line = 0;
  std::optional<std::string> text;  // not known: the profile has no source
  std::vector<Value> values;
  std::optional<Estimate> cpi;
  std::string more = {};  // as of instructions
};

struct Annotation {
  std::string function;
  std::string module;
  std::string file;  // of the declaration; "" if unknown
  uint32_t line = 0;
  bool inlined = false;  // no symbol of its own: places are where it was inlined
  std::vector<std::string> event_names;
  std::vector<Value> totals;  // of everything
  std::vector<Value> values;  // of this function
  std::optional<Estimate> cpi;
  std::optional<size_t> executed;  // of two runs: the event of executed instructions
  std::vector<AnnotatedPlace> places;
  std::vector<AnnotatedLine> lines;  // the function's source, by file and line
  std::string more_heading;          // columns that another room adds, aligned; "": none
  std::vector<std::string> remarks;
  std::string legend = {};  // of the letters of stalls
};

Result<Annotation> make_annotation(const Profile& profile, const FactsLookup& facts,
                                   const AnnotateOptions& options);

std::string print_annotation(const Profile& profile, const Annotation& annotation,
                             const AnnotateOptions& options, Format format, const TextStyle& style);

std::string print_annotation_text(const Profile& profile, const Annotation& annotation,
                                  const AnnotateOptions& options, const TextStyle& style);
std::string print_annotation_json(const Profile& profile, const Annotation& annotation);
std::string print_annotation_csv(const Annotation& annotation, const AnnotateOptions& options);

}  // namespace culprit
