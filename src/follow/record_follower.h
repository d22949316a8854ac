#pragma once

// RecordFollower: event records in the order of time → counts in a profile, for every
// collector. What sets collectors apart is how they identify images (ImageSource), which
// tasks they count, and what a sample counts for.
//
//   FORK COMM EXIT ─→ ProcessTable      which tasks there are, and their rows
//   MMAP KSYMBOL ───→ AddressSpaces     what is mapped where; ImageSource: what it is
//   SAMPLE ─────────→ context and places: histograms, stacks, branches, accesses; and time
//                     └─ data address → DataPlaces

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "follow/data_places.h"
#include "follow/image_source.h"
#include "follow/sample_regions.h"
#include "model/builder.h"
#include "records/plain_sample.h"
#include "records/process_table.h"
#include "records/record_layout.h"
#include "records/user_stack.h"

namespace culprit {

struct FollowOptions {
  bool all_tasks = true;         // count every task's samples, not only those that are followed
  bool renaming_splits = false;  // ProcessTable
  bool stacks = false;           // also of samples without a callchain
  bool kernel_stacks = false;    // callchains go into kernel_stacks, and those of user code nowhere
  size_t frames_limit = 0;       // stacks of so many frames were cut; 0: somebody else counts them
};

/// What a sample counts for: an event, and how much of it.
struct SampleWeight {
  EventId event;
  uint64_t value = 0;
};

/// A sample, or several that are alike, with its places, innermost first. Those that are not
/// known yet have no image, and their run address as offset.
struct PlacedSample {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  ContextId context;
  EventId event;
  uint64_t samples = 0;
  uint64_t value = 0;
  bool has_stack = false;
  std::vector<Location> places;
  ObjectId object{};  // that it accessed; not recorded of most events
};

class RecordFollower {
 public:
  /// All must outlive the follower. Samples belong to the run that the builder began last.
  RecordFollower(const FollowOptions& options, ProfileBuilder& builder, ImageSource& images);
  RecordFollower(const RecordFollower&) = delete;
  RecordFollower& operator=(const RecordFollower&) = delete;

  /// Adds a task that no record has announced, with all that is known of it. Null: it does not
  /// matter. Without it, such tasks are added without a name, or left out (`all_tasks`).
  using Introduce = std::function<ProcessTable::Process*(uint32_t pid)>;
  void introduce_with(Introduce introduce) { introduce_ = std::move(introduce); }
  /// Takes the samples some of whose places are not known yet.
  using Wait = std::function<void(PlacedSample)>;
  void wait_with(Wait wait) { wait_ = std::move(wait); }
  /// Tells samples apart by region.
  void tag_with(SampleRegions* regions) { regions_ = regions; }
  /// Places data addresses of samples in data objects from now on, which must be before the first
  /// mapping.
  void place_data_with(DataReader reader) {
    data_.emplace(builder_, images_, spaces_, std::move(reader));
  }
  [[nodiscard]] bool places_data() const { return data_.has_value(); }
  /// Walks copied user stacks.
  void unwind_with(UnwindStack unwind) { unwind_ = std::move(unwind); }

  /// The builder has begun another run, to which the samples from now on belong. Those that wait
  /// for their places stay in the run in which they were taken.
  void begin_run();

  /// Any record but a sample. In the order of time; small disorder does no harm.
  void follow(const Record& record);
  /// A sample. False: its task is not counted.
  bool count(const SampleRecord& sample, const RecordOrigin& origin, const RecordLayout& layout,
             std::span<const SampleWeight> weights);
  bool count(const PlainSample& sample, const SampleWeight& weight);
  /// A sample and its places, not counted yet: its event, samples and value are the caller's to
  /// fill in, and to count by time. Nothing: its task is not counted.
  std::optional<PlacedSample> place(const SampleRecord& sample, const RecordOrigin& origin,
                                    const RecordLayout& layout);
  /// Counts a sample, or lets it wait for places that are not known yet.
  void count_or_wait(PlacedSample sample);
  /// A sample all places of which are known.
  void count(const PlacedSample& sample);

  ProcessTable& tasks() { return tasks_; }
  [[nodiscard]] const AddressSpaces& spaces() const { return spaces_; }
  void map(const MmapRecord& map);

  [[nodiscard]] uint64_t lost_records() const { return lost_records_; }
  [[nodiscard]] uint64_t lost_samples() const { return lost_samples_; }

 private:
  void handle(const MmapRecord& map, const RecordOrigin& origin);
  void handle(const CommRecord& comm, const RecordOrigin& origin);
  void handle(const ForkRecord& fork, const RecordOrigin& origin);
  void handle(const ExitRecord& exit, const RecordOrigin& origin);
  void handle(const LostRecord& lost, const RecordOrigin&) { lost_records_ += lost.lost; }
  void handle(const LostSamplesRecord& lost, const RecordOrigin&) { lost_samples_ += lost.lost; }
  void handle(const ThrottleRecord& throttle, const RecordOrigin& origin);
  void handle(const CgroupRecord& cgroup, const RecordOrigin& origin);
  void handle(const KsymbolRecord& symbol, const RecordOrigin&) { images_.process(symbol); }
  void handle(const UnknownRecord& record, const RecordOrigin& origin);
  template <class Other>
  void handle(const Other&, const RecordOrigin&) {}

  /// What the last samples of a task found; forgotten with the next record of another kind.
  struct RecentContext {
    uint32_t pid = 0;
    uint32_t tid = 0;
    Mode mode = Mode::all;
    ContextId context;
  };
  struct RecentMapping {
    uint32_t pid = 0;
    const Mapping* mapping = nullptr;
  };

  Ledger& ledger() { return builder_.profile().ledger; }
  ProcessTable::Process* find_or_introduce(uint32_t pid);
  void forget_mappings(uint32_t pid);
  void forget_recent();
  ContextId find_context(uint32_t pid, uint32_t tid, Mode mode);
  ContextId find_context(const SampleRecord& sample, const RecordOrigin& origin);
  ContextId tag(ContextId context, uint32_t pid, uint32_t tid, uint64_t time_ns);
  const Mapping* find_mapping(uint32_t pid, const CallFrame& frame);
  Location locate(uint32_t pid, const CallFrame& frame);
  Location locate_now(uint32_t pid, const CallFrame& frame);
  Location locate_leaf(uint32_t pid, const CallFrame& frame);
  struct FoundStack {
    bool has_stack = false;
    bool has_recorded_calls = false;  // by the CPU's record of branches
  };
  /// The places of a sample, into `places_`.
  FoundStack find_places(const SampleRecord& sample, uint32_t pid, const RecordLayout& layout);
  /// The places that kernel_stacks keep.
  FoundStack find_kernel_places(const SampleRecord& sample, uint32_t pid);
  void add_stack(ContextId context, StackId stack, EventId event, uint64_t samples, uint64_t value);
  StackId intern_stack(std::span<const Location> places);
  void count_branches(const SampleRecord& sample, uint32_t pid, ContextId context,
                      const RecordLayout& layout);
  ObjectId find_object(const SampleRecord& sample, uint32_t pid);
  SampledAccess make_access(const SampleRecord& sample, uint32_t pid, ContextId context,
                            ObjectId object);

  FollowOptions options_;
  ProfileBuilder& builder_;
  ImageSource& images_;
  ProcessTable tasks_;
  AddressSpaces spaces_;
  Introduce introduce_;
  Wait wait_;
  UnwindStack unwind_;
  SampleRegions* regions_ = nullptr;
  std::optional<DataPlaces> data_;
  std::array<RecentContext, 64> recent_contexts_;
  std::array<RecentMapping, 64> recent_mappings_;
  std::unordered_map<uint64_t, StringId> cgroups_;
  std::vector<Location> places_;  // of the sample at hand
  uint64_t lost_records_ = 0;
  uint64_t lost_samples_ = 0;
};

}  // namespace culprit
