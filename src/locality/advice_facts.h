#pragma once

// AdviceFacts: what advice rests on, added up once: uses, waits and edges of each loop, and uses
// and waits of each data object.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "locality/loop_scales.h"
#include "locality/pair_sums.h"
#include "locality/statements.h"
#include "locality/use.h"
#include "locality/waits.h"

namespace culprit {

/// Lines of one loop that came back to one: by level, L1D, L2, L3.
struct Refetches {
  std::array<double, 3> capacity{};
  std::array<double, 3> conflict{};
  [[nodiscard]] double all(size_t level) const { return capacity[level] + conflict[level]; }
  Refetches& operator+=(const Refetches& other);
};

/// Lines that one core's loop took from another's.
struct Sharing {
  double same_bytes = 0;
  double other_bytes = 0;
};

struct GroupFacts {
  Use use;
  Waits waits;
  uint64_t loads = 0;            // in use.accesses
  Refetches refetched;           // into it, from anybody
  Refetches own;                 // of these: by a loop, from itself and what is nested with it
  double taken_from_others = 0;  // lines that a loop took from other cores
  uint64_t lines_along = 0;      // of a loop, into L1D, by instructions that run along lines

  GroupFacts& operator+=(const GroupFacts& other);
};

/// What one loop does to a group of data objects.
struct LoopOnObjects {
  GroupFacts facts;
  std::map<uint32_t, Refetches> refetched_from;  // by the loop that had brought the lines in before
  std::map<uint32_t, uint64_t> lines;            // rows of AdviceFacts::lines, as lines_of_loop
};
using LoopsOnObjects = std::map<uint32_t, LoopOnObjects>;  // by row of `loops`

struct AdviceFacts {
  /// `scales` must outlive it.
  AdviceFacts(const Profile& profile, CodeIndex& code, LoopScales& scales);

  CodeLoops& loops;
  Statements lines;
  std::vector<GroupFacts> by_loop;    // by row of `loops`
  std::vector<GroupFacts> by_object;  // by ObjectId; empty: objects were not recorded
  PairSums<Refetches> refetches;      // by rows of loops, as sharing
  PairSums<Sharing> sharing;
  Waits total;
  bool has_prefetches = false;  // some prefetcher has brought in a line of data
  /// The lines that a loop, or an object, is at: rows of `lines` -> lines brought into L1D.
  std::vector<std::map<uint32_t, uint64_t>> lines_of_loop;
  std::vector<std::map<uint32_t, uint64_t>> lines_of_object;
  std::vector<std::map<uint32_t, uint64_t>> objects_of_loop;  // ObjectId -> likewise
  std::vector<std::map<uint32_t, uint64_t>> loops_of_object;

  /// What each loop does to groups of data objects; `group_of`: by ObjectId, nullopt: of none.
  std::vector<LoopsOnObjects> split_by_loop(const Profile& profile, size_t groups,
                                            const std::vector<std::optional<size_t>>& group_of);

 private:
  void add_counts(const Profile& profile, LoopScales& scales);
  void add_tenures(const Profile& profile);
  void add_edges(const Profile& profile);
  uint32_t loop_of(const Location& at);
  GroupFacts* object_facts(ObjectId object);
};

}  // namespace culprit
