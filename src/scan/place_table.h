#pragma once

// The costs of one cell by place: function, line or instruction, with what belongs to no
// iteration, and why there is no number where there is none.
//
//     ./vecadd {runs}   an iteration, from runs of 100, 300 and 700 x 100
//
//      =instructions  =branches  =loads  =stores  function
//                 41          6      10        5  main
//                 41          6      10        5  per iteration
//
//     Once    strtol 2 instructions between 100 and 700
//
// Events that are 0 everywhere are left out.

#include <cstdint>
#include <string>
#include <vector>

#include "attribute/code_index.h"
#include "base/text_style.h"
#include "scan/costs.h"

namespace culprit::scan {

enum class PlaceLevel : uint8_t {
  function,
  line,
  instruction,
  own_line,  // of the user's: where what is inlined from the system's headers was called
};

struct PlaceRow {
  std::string name;    // "main", "kernel.cc:12", "11a0"
  std::string detail;  // the source line or the instruction; "" if it is not known
  std::string function;
  std::string line = {};    // of an instruction: "kernel.cc:12"; "" if it is not known
  std::string source = {};  // the text of that line; "" if the facts do not have it
  std::vector<Estimate> per_iteration = {};  // by event
  bool varies = false;
};

/// What is of no iteration, or grows.
struct PlaceRemark {
  std::string name;         // function
  double instructions = 0;  // between the least and the largest loop count
  std::vector<double> slopes = {};
};

struct PlaceTable {
  std::string title;
  std::vector<size_t> events;  // those that are not 0 everywhere, what says most first
  std::vector<PlaceRow> rows;  // falling by instructions
  std::vector<Estimate> totals;
  std::vector<PlaceRemark> once;
  std::vector<PlaceRemark> growing;
  bool is_refused = false;
  bool varies = false;
  bool is_checked = false;
  uint64_t first_runs = 0;
  uint64_t last_runs = 0;
  std::vector<std::string> broken_rules = {};     // of kernels, a sentence each
  std::vector<std::string> undecided_rules = {};  // and what could not be checked
};

/// The user's line that a place is of, "kernel.cc:12": where what is inlined from the system's
/// headers was called. "" without lines.
std::string find_own_line(CodeIndex& code, const Location& at);

/// The function of a place, by symbol, for CostReader::compute().
FunctionOf function_of(CodeIndex& code);

PlaceTable make_place_table(const CellCosts& costs, CodeIndex& code, PlaceLevel level);

std::string print_place_table(const PlaceTable& table, const Profile& profile, PlaceLevel level,
                              size_t limit, const TextStyle& style);
/// Schema: culprit-scan-one-1
std::string print_place_json(const PlaceTable& table, const Profile& profile, PlaceLevel level);
std::string print_place_csv(const PlaceTable& table, const Profile& profile);

}  // namespace culprit::scan
