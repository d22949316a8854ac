#pragma once

// RecordImporter: records in order of time → a Profile. It does not mind where they come
// from: a perf.data file (import.cc), or what perf printed of one (script_importer.h).
//
//   record ─→ what its sample counts for ─→ RecordFollower (room follow) ─→ ProfileBuilder
//                                                └─ address → image: RecordedPlaces

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "follow/record_follower.h"
#include "perfdata/attributes.h"
#include "perfdata/features.h"
#include "perfdata/import.h"
#include "perfdata/recorded_places.h"
#include "perfdata/stat_records.h"
#include "records/plain_sample.h"
#include "records/record.h"

namespace culprit {

class RecordImporter {
 public:
  /// Both are the caller's, and may grow.
  RecordImporter(const Attributes& attributes, const ImportSink& sink);

  /// `event`: the place in attributes of the event that wrote the record.
  Result<void> add(const Record& record, size_t event);
  /// Adds a sample of a plain layout.
  Result<void> add(const PlainSample& sample, size_t event);
  /// What was counted over the whole run, and for how long that was. No counts: nothing changes.
  void add_counts(const StatRecords& counted);
  Ledger& ledger() { return builder_.profile().ledger; }
  /// Something that makes the result weaker: for the terminal and the ledger.
  void remark(const std::string& sentence);
  [[nodiscard]] uint64_t samples() const { return samples_; }
  /// Copied user stacks are walked from now on.
  void unwind_with(const std::string& architecture, const ImportTools& tools);
  /// Data addresses of samples are placed in data objects from now on, before the first mapping.
  void place_data_with(const std::string& architecture, const ImportTools& tools);

  /// Does what RecordedPlaces::refine_with() does.
  void refine_places(RecordedPlaces::Refine refine) { places_.refine_with(std::move(refine)); }
  ProfileBuilder& builder() { return builder_; }
  /// Whether `path` is mapped at `address`.
  [[nodiscard]] bool is_mapped(uint32_t pid, std::string_view path, RunAddress address) const;
  /// Where a process has mapped this byte of a file.
  [[nodiscard]] std::optional<RunAddress> find_mapped(uint32_t pid, std::string_view path,
                                                      FileOffset offset) const;

  /// All that has been added up, once. `facts`: what is known of machine and recording.
  Imported finish(const RecordedFacts& facts);

 private:
  Result<void> flush_if_much();
  OpenMappedFile make_opener(const OpenImage& open);
  void describe_machine(const RecordedFacts& facts);
  void describe_run(const RecordedFacts& facts);
  void describe_losses();
  bool is_possible(uint64_t value);
  EventId find_event_row(size_t event);
  EventId add_event_row(const RecordedEvent& recorded);
  void take_counts();
  void count(const SampleRecord& sample, const RecordOrigin& origin, size_t event);
  void weigh(const SampleRecord& sample, const RecordOrigin& origin, size_t event);
  void extend_time(uint64_t time_ns);

  const Attributes& attributes_;
  const ImportSink& sink_;
  ProfileBuilder builder_;
  RecordedPlaces places_{builder_};
  RecordFollower follower_{{.all_tasks = true, .renaming_splits = true}, builder_, places_};
  std::vector<EventId> event_rows_;  // by event of the file
  bool are_events_ordered_ = false;
  std::unordered_map<uint64_t, uint64_t> read_values_;  // by counter id, the last one seen
  std::vector<SampleWeight> weights_;                   // of the sample at hand
  uint64_t samples_ = 0;
  std::optional<uint64_t> counted_ns_;  // how long the counts of a whole run were
  uint64_t first_ns_ = UINT64_MAX;
  uint64_t last_ns_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace culprit
