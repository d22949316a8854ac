#pragma once

// RecordImporter: records in order of time → a Profile. It does not mind where they come
// from: a perf.data file (import.cc), or what perf printed of one (import_text.cc).
//
//   FORK COMM EXIT ─→ ProcessTable
//   MMAP KSYMBOL ───→ AddressSpaces, RecordedKernel
//   SAMPLE ─────────→ ProfileBuilder

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perfdata/attributes.h"
#include "perfdata/features.h"
#include "perfdata/import.h"
#include "perfdata/recorded_images.h"
#include "records/callchain.h"
#include "records/plain_sample.h"
#include "records/process_table.h"
#include "records/record.h"
#include "records/user_stack.h"

namespace culprit {

class RecordImporter {
 public:
  /// Both are the caller's, and may grow.
  RecordImporter(const Attributes& attributes, const ImportSink& sink);

  /// `event`: the place in attributes of the event that wrote the record.
  Result<void> add(const Record& record, size_t event);
  /// The same for a sample of a plain layout.
  Result<void> add(const PlainSample& sample, size_t event);
  Ledger& ledger() { return builder_.profile().ledger; }
  /// Something that makes the result weaker: for the terminal and the ledger.
  void remark(const std::string& sentence);
  [[nodiscard]] uint64_t samples() const { return samples_; }
  /// Copied user stacks are walked from now on.
  void unwind_with(const std::string& architecture, const ImportTools& tools);

  /// Sees every place that the mappings gave, and may give another.
  using PlaceRefiner = std::function<Location(RunAddress, const Location&)>;
  void refine_places(PlaceRefiner refine) { refine_ = std::move(refine); }
  ProfileBuilder& builder() { return builder_; }
  /// Whether `path` is mapped at `address`.
  [[nodiscard]] bool is_mapped(uint32_t pid, std::string_view path, RunAddress address) const;
  /// Where a process has mapped this byte of a file.
  [[nodiscard]] std::optional<RunAddress> find_mapped(uint32_t pid, std::string_view path,
                                                      FileOffset offset) const;

  /// All that has been added up, once. `facts`: what is known of machine and recording.
  Imported finish(const RecordedFacts& facts);

 private:
  /// A sample on its way: what it counts for, and where.
  struct Counted {
    ContextId context;
    EventId event;
    uint64_t value = 0;
  };

  Result<void> flush_if_much();
  void describe_machine(const RecordedFacts& facts);
  void describe_run(const RecordedFacts& facts);
  void describe_losses();

  void handle(const MmapRecord& map, const RecordOrigin& origin, size_t event);
  void handle(const CommRecord& comm, const RecordOrigin& origin, size_t event);
  void handle(const ForkRecord& fork, const RecordOrigin& origin, size_t event);
  void handle(const ExitRecord& exit, const RecordOrigin& origin, size_t event);
  void handle(const LostRecord& lost, const RecordOrigin&, size_t) { lost_records_ += lost.lost; }
  void handle(const LostSamplesRecord& lost, const RecordOrigin&, size_t) {
    lost_samples_ += lost.lost;
  }
  void handle(const ThrottleRecord& throttle, const RecordOrigin& origin, size_t event);
  void handle(const CgroupRecord& cgroup, const RecordOrigin& origin, size_t event);
  void handle(const KsymbolRecord& symbol, const RecordOrigin& origin, size_t event);
  void handle(const SampleRecord& sample, const RecordOrigin& origin, size_t event);
  void handle(const UnknownRecord& record, const RecordOrigin& origin, size_t event);
  template <class Other>
  void handle(const Other&, const RecordOrigin&, size_t) {}

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

  EventId find_event_row(size_t event);
  ProcessTable::Process& find_or_add(uint32_t pid);
  ContextId find_context(uint32_t pid, uint32_t tid, Mode mode);
  ContextId find_context(const SampleRecord& sample, const RecordOrigin& origin);
  const Mapping* find_mapping(uint32_t pid, RunAddress address);
  Location locate(uint32_t pid, const CallFrame& frame);
  Location locate_sample(uint32_t pid, const CallFrame& frame);
  void extend_time(uint64_t time_ns);
  Location locate_by_mappings(uint32_t pid, const CallFrame& frame);
  void weigh(const SampleRecord& sample, const RecordOrigin& origin, size_t event, auto&& visit);
  StackId count_stack(std::span<const CallFrame> frames, uint32_t pid, const Location& leaf);
  void count_branches(const SampleRecord& sample, uint32_t pid, ContextId context, size_t event);
  void keep_memory_sample(const SampleRecord& sample, const RecordOrigin& origin,
                          const Location& place, const Counted& counted);

  const Attributes& attributes_;
  const ImportSink& sink_;
  ProfileBuilder builder_;
  ProcessTable tasks_{true, true};
  AddressSpaces spaces_;
  RecordedImages images_{builder_};
  RecordedKernel kernel_{builder_, "kernel"};
  RecordedKernel guest_kernel_{builder_, "guest kernel"};
  UnwindStack unwind_;
  std::array<RecentContext, 64> recent_contexts_;
  std::array<RecentMapping, 64> recent_mappings_;
  std::vector<EventId> event_rows_;
  std::unordered_map<uint64_t, uint64_t> read_values_;  // by counter id, the last one seen
  std::unordered_map<uint64_t, StringId> cgroups_;
  uint64_t samples_ = 0;
  uint64_t lost_records_ = 0;
  uint64_t lost_samples_ = 0;
  uint64_t first_ns_ = UINT64_MAX;
  uint64_t last_ns_ = 0;
  std::vector<std::string> remarks_;
  PlaceRefiner refine_;
};

}  // namespace culprit
