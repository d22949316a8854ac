#pragma once

// ProfileMerger: many profiles, one after the other, become one.
//
//     ProfileMerger merger({.processes = Projection::Processes::by_name, .threads = false});
//     for (const Profile& epoch : epochs) merger.add(epoch);
//     Profile all = merger.take();
//
// A projection says what is kept of who did it; rows that differ in nothing else become one. The
// time is linear in what is added. The memory is that of the result: at most twice its counts,
// and the profile that is being added.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <vector>

#include "model/histogram_sums.h"
#include "model/merge.h"
#include "model/tables.h"

namespace culprit {

/// What a merged profile keeps of who did it. What is not kept is "all".
struct Projection {
  enum class Processes : uint8_t {
    each,
    by_pid,   // those of one run, pid and name are one; and their threads of one name, tid 0
    by_name,  // those of one run and name are one, pid 0; and their threads likewise
    none,
  };
  /// Whether counts are told apart by run. The runs themselves stay in their table.
  bool runs = true;
  Processes processes = Processes::each;
  bool threads = true;
  bool cgroups = true;
  bool labels = true;
  /// Without runs they are never kept: slices of several runs have nothing in common.
  bool time_slices = true;
  bool regions = true;
  /// Whether the rows of histograms, and sampled accesses, are told apart by data object.
  bool objects = true;
};

class ProfileMerger {
 public:
  explicit ProfileMerger(const Projection& projection = {}) : ProfileMerger({}, projection) {}
  /// The rows of `start` keep their ids, whatever the projection.
  explicit ProfileMerger(Profile start, const Projection& projection = {});

  /// Adds a profile: its runs as new rows, and its processes and threads as the projection says;
  /// contexts, events, images, stacks, objects and regions as the rows they equal, or as new
  /// ones; counts added. Images are the same by build-id, else by path, inode, size and mtime,
  /// JIT code by content. Ranges of objects need their process and are kept with each only.
  /// The ids in `other` must be in range.
  ///
  /// The machine and the environment are those of the first profile with runs; a note in the
  /// ledger says if others differ.
  /// Returns by row of `other.images` the image that it became.
  std::vector<ImageId> add(const Profile& other);

  /// The sum in canonical order (merge.h). The merger is used up.
  Profile take();

 private:
  template <class Row, class IdType>
  using Index = tsl::robin_map<Row, IdType, KeyHash, KeyEqual>;

  void add_machine(const Profile& other);
  void add_counts(const Profile& other, auto& translate);
  void project(Process& process) const;
  void project(Thread& thread) const;
  void project(Context& context) const;
  ImageId intern_image(const Image& image, std::string_view path, const Machine& machine);

  Projection projection_;
  Profile profile_;
  Index<Process, ProcessId> processes_;
  Index<Thread, ThreadId> threads_;
  Index<Context, ContextId> contexts_;
  Index<Event, EventId> events_;
  Index<StackNode, StackId> stacks_;
  Index<DataObject, ObjectId> objects_;
  Index<Region, RegionId> regions_;
  tsl::robin_map<std::string, ImageId> images_;  // by identity
  HistogramSums cells_;
  std::array<size_t, count_kinds_of_counts()> united_{};  // rows of each kind, when last united
};

}  // namespace culprit
