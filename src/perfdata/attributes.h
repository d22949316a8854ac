#pragma once

// Attributes: the events of a perf.data file, and which record belongs to which.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tsl/robin_map.h>
#include <vector>

#include "base/result.h"
#include "records/event_attr.h"

namespace culprit {

struct RecordedEvent {
  EventAttr attr;
  std::string name;         // "" until somebody says; see describe_event()
  bool has_attr = true;     // false: a text names it and says no more
  bool has_periods = true;  // false: each sample counts as one, of unknown weight
};

class Attributes {
 public:
  /// `attr` is a perf_event_attr; the ids are those of its counters.
  Result<void> add(std::span<const std::byte> attr, const std::vector<uint64_t>& ids,
                   std::endian order);
  /// An event without counters; its place.
  size_t add(RecordedEvent event);
  /// The name that the event of one of these ids was recorded under. Space around names is not
  /// theirs: perf keeps what stood behind the comma of "cycles, instructions".
  void set_name(const std::vector<uint64_t>& ids, const std::string& name);
  /// The name of the event of this place, if its attr is the one.
  void set_name_of(size_t event, const std::string& name);

  [[nodiscard]] const std::vector<RecordedEvent>& events() const { return events_; }
  /// The event with the counter `id`.
  [[nodiscard]] std::optional<size_t> find(uint64_t id) const;

  /// The event that wrote this record. nullopt: of a counter that nothing is known of.
  [[nodiscard]] std::optional<size_t> find_event(std::span<const std::byte> record,
                                                 uint32_t type) const;

 private:
  [[nodiscard]] std::optional<uint64_t> find_id(std::span<const std::byte> record,
                                                uint32_t type) const;

  /// Where records have their counter's id, by the layout that holds for all.
  struct IdPlace {
    size_t in_sample = 0;  // from the front; 0: nowhere
    size_t in_other = 0;   // from the end; 0: nowhere
    size_t trailer_bytes = 0;
    std::endian order = std::endian::native;
  };
  static IdPlace find_id_place(const RecordLayout& layout);

  std::vector<RecordedEvent> events_;
  IdPlace id_place_;                        // of the first event
  tsl::robin_map<uint64_t, size_t> by_id_;  // asked twice for each record
  size_t ids_ = 0;                          // of all events, counted twice where two have the same
};

/// The name in perf's words: "cycles:u", "L1-dcache-load-misses", "raw 0x1cd", with modifiers.
std::string describe_event(const EventAttr& attr);

/// The name that it was recorded under, with the modifiers u or k where that has none and one
/// side was left out (perf record --all-user); else describe_event().
std::string name_event(const RecordedEvent& event);

/// The number of a software event, by perf's name for it without modifiers.
std::optional<uint64_t> find_software_event(std::string_view name);

/// "type=4,config=0x1cd,config1=0x40:upp": what to give perf_event_open for the same event.
std::string format_encoding(const EventAttr& attr);

}  // namespace culprit
