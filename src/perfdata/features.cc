#include "perfdata/features.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unordered_map>

#include "base/bytes.h"
#include "base/cpuid.h"
#include "base/number.h"
#include "base/text.h"
#include "records/hex.h"
#include "records/parse_record.h"

namespace culprit {

namespace {

/// A length, and so many bytes of which the first NUL ends the text.
Result<std::string> take_text(ByteReader& in) {
  ASSIGN_OR_RETURN(const uint32_t length, in.take<uint32_t>());
  ASSIGN_OR_RETURN(const auto bytes, in.take_bytes(length));
  return std::string(ByteReader(bytes).take_string());
}

Result<std::string> take_command_line(ByteReader& in) {
  ASSIGN_OR_RETURN(const uint32_t words, in.take<uint32_t>());
  std::string line;
  for (uint32_t i = 0; i < words; ++i) {
    ASSIGN_OR_RETURN(const std::string word, take_text(in));
    if (i != 0) line += ' ';
    line += word;
  }
  return line;
}

Result<void> take_event_descriptions(ByteReader& in, Attributes& attributes) {
  ASSIGN_OR_RETURN(const uint32_t events, in.take<uint32_t>());
  ASSIGN_OR_RETURN(const uint32_t attr_bytes, in.take<uint32_t>());
  for (uint32_t event = 0; event < events; ++event) {
    RETURN_IF_ERROR(in.take_bytes(attr_bytes));
    ASSIGN_OR_RETURN(const uint32_t ids, in.take<uint32_t>());
    ASSIGN_OR_RETURN(const std::string name, take_text(in));
    RETURN_IF_ERROR(in.take_bytes(sizeof(uint64_t) * ids));
    attributes.set_name_of(event, name);
  }
  return {};
}

Result<void> take_build_ids(std::span<const std::byte> bytes, std::endian order,
                            RecordedFacts& facts) {
  while (!bytes.empty()) {
    ASSIGN_OR_RETURN(const RecordHeader header, parse_header(bytes, order));
    ASSIGN_OR_RETURN(RecordedBuildId found, parse_build_id(bytes.first(header.size), order));
    facts.build_ids.push_back(std::move(found));
    bytes = bytes.subspan(header.size);
  }
  return {};
}

Result<void> take_groups(ByteReader& in, RecordedFacts& facts) {
  ASSIGN_OR_RETURN(const uint32_t groups, in.take<uint32_t>());
  for (uint32_t i = 0; i < groups; ++i) {
    ASSIGN_OR_RETURN(const std::string name, take_text(in));
    ASSIGN_OR_RETURN(const uint32_t leader, in.take<uint32_t>());
    ASSIGN_OR_RETURN(const uint32_t members, in.take<uint32_t>());
    facts.groups.push_back(fmt::format("{} ({} events from event {} on)", name, members, leader));
  }
  return {};
}

Result<void> take_hybrid_topology(ByteReader& in, RecordedFacts& facts) {
  ASSIGN_OR_RETURN(const uint32_t kinds, in.take<uint32_t>());
  for (uint32_t i = 0; i < kinds; ++i) {
    ASSIGN_OR_RETURN(const std::string name, take_text(in));
    ASSIGN_OR_RETURN(const std::string cpus, take_text(in));
    facts.cpu_kinds.push_back(name + ": " + cpus);
  }
  return {};
}

Result<void> take_clock_data(ByteReader& in, RecordedFacts& facts) {
  RETURN_IF_ERROR(in.take<uint32_t>());  // version
  RETURN_IF_ERROR(in.take<uint32_t>());  // which clock the samples have
  ASSIGN_OR_RETURN(const uint64_t real_ns, in.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t sample_ns, in.take<uint64_t>());
  facts.clocks_ns = {sample_ns, real_ns};
  return {};
}

}  // namespace

Result<void> parse_feature(Feature feature, std::span<const std::byte> bytes, std::endian order,
                           RecordedFacts& facts, Attributes& attributes) {
  if (bytes.empty()) return {};  // perf did not find out; so it says
  ByteReader in(bytes, order);
  const auto text = [&](std::string& into) -> Result<void> {
    ASSIGN_OR_RETURN(into, take_text(in));
    return {};
  };
  switch (feature) {
    case Feature::tracing_data:
      parse_tracing_data(bytes, order, attributes);
      return {};
    case Feature::build_id:
      return take_build_ids(bytes, order, facts);
    case Feature::host_name:
      return text(facts.host);
    case Feature::os_release:
      return text(facts.kernel_release);
    case Feature::perf_version:
      return text(facts.perf_version);
    case Feature::architecture:
      return text(facts.architecture);
    case Feature::cpu_description:
      return text(facts.cpu_model);
    case Feature::cpu_id: {
      ASSIGN_OR_RETURN(const std::string id, take_text(in));
      facts.cpu_id = normalize_cpuid(id);
      return {};
    }
    case Feature::cpu_count: {
      RETURN_IF_ERROR(in.take<uint32_t>());  // configured
      ASSIGN_OR_RETURN(facts.cpus_online, in.take<uint32_t>());
      return {};
    }
    case Feature::command_line: {
      ASSIGN_OR_RETURN(facts.command, take_command_line(in));
      return {};
    }
    case Feature::event_descriptions:
      return take_event_descriptions(in, attributes);
    case Feature::group_descriptions:
      return take_groups(in, facts);
    case Feature::sample_time: {
      ASSIGN_OR_RETURN(const uint64_t first, in.take<uint64_t>());
      ASSIGN_OR_RETURN(const uint64_t last, in.take<uint64_t>());
      facts.sample_time_ns = {first, last};
      return {};
    }
    case Feature::clock_data:
      return take_clock_data(in, facts);
    case Feature::hybrid_topology:
      return take_hybrid_topology(in, facts);
    default:
      return {};
  }
}

Result<RecordedBuildId> parse_build_id(std::span<const std::byte> record, std::endian order) {
  constexpr size_t kRoomForBuildId = 24;  // of which 20 are the id, then its size if `misc` says so
  constexpr size_t kLongestBuildId = 20;
  constexpr uint16_t kHasSize = 1 << 15;
  ASSIGN_OR_RETURN(const RecordHeader header, parse_header(record, order));
  ByteReader in(record.first(header.size).subspan(RecordHeader::kBytes), order);
  RETURN_IF_ERROR(in.take<uint32_t>());  // pid: of the host or a guest
  ASSIGN_OR_RETURN(const auto room, in.take_bytes(kRoomForBuildId));
  size_t size = kLongestBuildId;
  if ((header.misc & kHasSize) != 0) {
    size = std::min(size, static_cast<size_t>(room[kLongestBuildId]));
  } else {
    // Older perf filled shorter ids up with zeros.
    while (size > 4 && room[size - 1] == std::byte{0} && room[size - 2] == std::byte{0} &&
           room[size - 3] == std::byte{0} && room[size - 4] == std::byte{0}) {
      size -= 4;
    }
  }
  RecordedBuildId found;
  found.build_id = format_hex(room.first(size));
  switch (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_KERNEL:
      found.mode = Mode::kernel;
      break;
    case PERF_RECORD_MISC_GUEST_KERNEL:
      found.mode = Mode::guest_kernel;
      break;
    case PERF_RECORD_MISC_GUEST_USER:
      found.mode = Mode::guest_user;
      break;
    default:
      found.mode = Mode::user;
  }
  found.path = in.take_string();
  return found;
}

Result<void> parse_event_update(std::span<const std::byte> body, std::endian order,
                                Attributes& attributes) {
  constexpr uint64_t kName = 2;
  ByteReader in(body, order);
  ASSIGN_OR_RETURN(const uint64_t kind, in.take<uint64_t>());
  ASSIGN_OR_RETURN(const uint64_t id, in.take<uint64_t>());
  if (kind == kName) attributes.set_name({id}, std::string(in.take_string()));
  return {};
}

/// The formats are text inside a binary frame; "name:" and "ID:" lines are enough here, and the
/// subsystem is not worth the frame: perf writes names into the event descriptions as well.
void parse_tracing_data(std::span<const std::byte> bytes, std::endian, Attributes& attributes) {
  std::unordered_multimap<uint64_t, size_t> nameless;  // tracepoint events by number
  for (size_t event = 0; event < attributes.events().size(); ++event) {
    const EventAttr& attr = attributes.events()[event].attr;
    if (attr.type == PERF_TYPE_TRACEPOINT) nameless.emplace(attr.config, event);
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (size_t at = text.find("name: "); at != text.npos; at = text.find("name: ", at + 1)) {
    const size_t end = text.find('\n', at);
    if (end == text.npos || !text.substr(end + 1).starts_with("ID: ")) continue;
    const size_t id_end = text.find('\n', end + 1);
    if (id_end == text.npos) continue;
    const auto id = find_number(text.substr(end + 5, id_end - end - 5), 10);
    if (!id) continue;
    const auto [first, last] = nameless.equal_range(*id);
    for (auto event = first; event != last; ++event) {
      attributes.set_name_of(event->second, std::string(text.substr(at + 6, end - at - 6)));
    }
    nameless.erase(first, last);
  }
}

}  // namespace culprit
