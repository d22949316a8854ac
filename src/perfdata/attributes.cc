#include "perfdata/attributes.h"

#include <bit>
#include <linux/perf_event.h>

#include "base/bytes.h"
#include "base/text.h"
#include "records/parse_record.h"

namespace culprit {

Result<void> Attributes::add(std::span<const std::byte> attr, const std::vector<uint64_t>& ids,
                             std::endian order) {
  constexpr size_t kMostEvents = 4096;
  if (events_.size() >= kMostEvents) {
    return Error{"it has more than " + std::to_string(kMostEvents) + " events"};
  }
  // One for each event on each CPU and thread: many events may share the bytes of their ids.
  constexpr size_t kMostIds = size_t{1} << 22;
  ids_ += ids.size();
  if (ids_ > kMostIds)
    return Error{"its events have more than " + std::to_string(kMostIds) + " ids"};
  ASSIGN_OR_RETURN(EventAttr parsed, parse_event_attr(attr, order));
  for (const uint64_t id : ids) by_id_.try_emplace(id, events_.size());
  events_.push_back({parsed, ""});
  if (events_.size() == 1) id_place_ = find_id_place(parsed.layout);
  return {};
}

size_t Attributes::add(RecordedEvent event) {
  events_.push_back(std::move(event));
  if (events_.size() == 1) id_place_ = find_id_place(events_.front().attr.layout);
  return events_.size() - 1;
}

void Attributes::set_name(const std::vector<uint64_t>& ids, const std::string& name) {
  for (const uint64_t id : ids) {
    if (const auto event = find(id)) events_[*event].name = trim(name);
  }
}

void Attributes::set_name_of(size_t event, const std::string& name) {
  if (event < events_.size() && events_[event].name.empty()) events_[event].name = trim(name);
}

std::optional<size_t> Attributes::find(uint64_t id) const {
  const auto at = by_id_.find(id);
  if (at == by_id_.end()) return std::nullopt;
  return at->second;
}

/// Events whose records differ in layout all have the id at one place (IDENTIFIER); of others
/// the first one's layout holds for all.
Attributes::IdPlace Attributes::find_id_place(const RecordLayout& layout) {
  const auto bytes_if = [&](uint64_t bits) {
    return sizeof(uint64_t) * static_cast<size_t>(std::popcount(layout.sample_type & bits));
  };
  IdPlace place;
  place.order = layout.order;
  place.trailer_bytes = compute_trailer_size(layout);
  if ((layout.sample_type & PERF_SAMPLE_IDENTIFIER) != 0) {
    place.in_sample = RecordHeader::kBytes;
    place.in_other = sizeof(uint64_t);
  } else if ((layout.sample_type & PERF_SAMPLE_ID) != 0) {
    place.in_sample = RecordHeader::kBytes + bytes_if(PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
    place.in_other = place.trailer_bytes - bytes_if(PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  }
  return place;
}

/// The counter's id in a record.
std::optional<uint64_t> Attributes::find_id(std::span<const std::byte> record,
                                            uint32_t type) const {
  size_t at = id_place_.in_sample;
  if (type != PERF_RECORD_SAMPLE) {
    const size_t trailer_bytes = id_place_.trailer_bytes;
    if (trailer_bytes == 0 || trailer_bytes > record.size() - RecordHeader::kBytes) {
      return std::nullopt;
    }
    at = id_place_.in_other == 0 ? 0 : record.size() - id_place_.in_other;
  }
  if (at == 0 || at > record.size() || record.size() - at < sizeof(uint64_t)) return std::nullopt;
  return ByteReader(record.subspan(at), id_place_.order).take<uint64_t>().value_or(0);
}

std::optional<size_t> Attributes::find_event(std::span<const std::byte> record,
                                             uint32_t type) const {
  if (events_.empty()) return std::nullopt;
  if (events_.size() == 1) return 0;
  const std::optional<uint64_t> id = find_id(record, type);
  // perf writes records of its own with the id 0.
  if (!id || *id == 0) return 0;
  return find(*id);
}

}  // namespace culprit
