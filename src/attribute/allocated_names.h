#pragma once

// AllocatedNames: what the statement that allocates memory assigns it to, as its source has it.
//
//     quake.c:431       K[i] = (double*)malloc(9 * sizeof(double));   K[i]
//     heat.f90:12       allocate(old(n, n), new(n, n))      old, and new of the second call
//     containers.cc:27  order.prices.push_back(price);                order.prices
//     containers.cc:31  std::vector<int> hits(4), misses(4);          hits, then misses

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/code_index.h"

namespace culprit {

/// "quake.c:431".
std::string place_of_frame(const ImageFacts& facts, const Frame& frame);

class AllocatedNames {
 public:
  /// It must outlive the AllocatedNames.
  explicit AllocatedNames(CodeIndex& code) : code_(code) {}

  struct Name {
    std::string text;  // "" where the source does not tell; "a or b" where it does not tell which
    /// Whether it says which data it is wherever it stands: what a function calls its result for
    /// the time being ("node = malloc(n)") says less than the function's own name; a global
    /// variable says more.
    bool says_what = false;
  };
  /// `call`: what asks for the memory, in `frame`, which has a line.
  Name find(const Location& call, const ImageFacts& facts, const Frame& frame);
  /// What the statement at the frame assigns the result of calling `function` to: "disp[t]" of
  /// "disp[t] = make_vectors(n);". "" if it does something else with it.
  std::string find_result(const ImageFacts& facts, const Frame& frame, std::string_view function);

 private:
  Name choose(const std::vector<std::string>& names, const std::string& place,
              const Location& call);
  std::optional<Location> find_call_at(const DataObject& object, const std::string& place);

  bool is_global(const std::string& name);

  CodeIndex& code_;
  std::optional<std::set<std::string>> globals_;
  std::map<std::string, std::vector<FileOffset>> calls_at_;  // by place, ascending
};

}  // namespace culprit
