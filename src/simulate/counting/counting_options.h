#pragma once

// What of a program is counted, as the host side asks for it: words NAME=VALUE, which an engine
// takes along to where it counts.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/counting/window_schedule.h"
#include "simulate/machine/outcome.h"
#include "simulate/objects/data_objects.h"

namespace culprit::counting {

struct CountingOptions {
  std::string folder;           // where the counts files go
  uint64_t limit = UINT64_MAX;  // instructions of a process; what it runs after them is not counted
  uint64_t skip = 0;            // instructions of a process before the first that is counted
  simulate::Locality locality = simulate::Locality::off;
  bool cycles = false;
  uint32_t sample_sets = 1;
  uint64_t sample_seed = 1;
  uint64_t sample_first = 0;   // accesses of a process in all sets, before some are drawn
  WindowOptions windows;       // only parts of the run are modelled
  bool deterministic = false;  // threads take turns by simulated time
  bool objects = false;        // by data object, too
  objects::Grouping grouping = objects::Grouping::site;  // of blocks of the heap
  bool regions = false;                                  // by OpenMP construct, too
};

/// Sets what the word says. False: it is none of these words.
bool parse_counting_word(std::string_view word, CountingOptions* options);

/// Those that parse_counting_word() needs to make the same options. None of them has a comma,
/// unless the folder has.
std::vector<std::string> counting_words(const CountingOptions& options);

}  // namespace culprit::counting
