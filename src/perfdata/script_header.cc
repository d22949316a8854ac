#include "perfdata/script_header.h"

#include <linux/perf_event.h>

#include "perfdata/script_words.h"

namespace culprit {

namespace {

constexpr size_t kMostEvents = 4096;

/// "0x1cd" or "1", to the comma, of "..., config = 0x1cd, ...".
uint64_t find_field(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == text.npos) return 0;
  text.remove_prefix(at + key.size());
  const std::string_view value = trim(text.substr(0, text.find_first_of(",(")));
  if (value.starts_with("0x")) return find_hex(value).value_or(0);
  return find_number(value, 10).value_or(0);
}

/// " name = cycles:u, , id = { 5 }, type = 0 (PERF_TYPE_HARDWARE), config = 0x1, ..."
void parse_event(std::string_view text, DescribedEvents& events) {
  constexpr std::string_view kName = "name = ";
  const size_t at = text.find(kName);
  if (at == text.npos || events.size() >= kMostEvents) return;
  text.remove_prefix(at + kName.size());
  // An event's terms have commas of their own: "cpu/event=0x3c,umask=1/".
  const size_t end = text.find(", ,") != text.npos ? text.find(", ,") : text.find(", ");
  if (end == text.npos) return;
  RecordedEvent event;
  event.name = trim(text.substr(0, end));
  text.remove_prefix(end);
  EventAttr& attr = event.attr;
  attr.type = static_cast<uint32_t>(find_field(text, " type = "));
  attr.config = find_field(text, " config = ");
  attr.sample_period = find_field(text, "sample_freq } = ");
  attr.is_frequency = find_field(text, " freq = ") == 1;
  attr.exclude_user = find_field(text, " exclude_user = ") == 1;
  attr.exclude_kernel = find_field(text, " exclude_kernel = ") == 1;
  attr.exclude_hypervisor = find_field(text, " exclude_hv = ") == 1;
  attr.exclude_host = find_field(text, " exclude_host = ") == 1;
  attr.exclude_guest = find_field(text, " exclude_guest = ") == 1;
  attr.precise_level = static_cast<uint32_t>(find_field(text, " precise_ip = ") & 3);
  constexpr std::string_view kBranches = " branch_sample_type = ";
  if (const size_t kinds_at = text.find(kBranches); kinds_at != text.npos) {
    const std::string_view rest = text.substr(kinds_at + kBranches.size());
    std::string kinds(trim(rest.substr(0, rest.find(','))));
    kinds = "|" + kinds + "|";
    const auto has = [&](const char* kind) { return kinds.find(kind) != kinds.npos; };
    if (has("|ANY|")) attr.layout.branch_sample_type |= PERF_SAMPLE_BRANCH_ANY;
    if (has("|CALL_STACK|")) attr.layout.branch_sample_type |= PERF_SAMPLE_BRANCH_CALL_STACK;
  }
  attr.layout.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC;
  events.try_emplace(event.name, event);
}

}  // namespace

void parse_script_header(std::string_view line, RecordedFacts& facts, DescribedEvents& events) {
  skip(line, "#");
  const size_t colon = line.find(" : ");
  if (colon == line.npos) return;
  const std::string_view key = trim(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 3));
  if (key == "event") return parse_event(value, events);
  if (key == "nrcpus online") facts.cpus_online = find_id(value).value_or(0);
  const std::pair<std::string_view, std::string*> texts[] = {
      {"hostname", &facts.host},     {"os release", &facts.kernel_release},
      {"arch", &facts.architecture}, {"cpudesc", &facts.cpu_model},
      {"cmdline", &facts.command},   {"perf version", &facts.perf_version},
  };
  for (const auto& [name, text] : texts) {
    if (key == name && value != "(null)") *text = value;
  }
}

RecordedEvent describe_script_event(std::string_view name, bool is_tracepoint) {
  RecordedEvent event;
  event.name = name;
  event.has_attr = false;
  event.attr.is_frequency = true;  // or not: periods are each sample's own
  const auto software = find_software_event(name.substr(0, name.find(':')));
  event.attr.type = software        ? PERF_TYPE_SOFTWARE
                    : is_tracepoint ? PERF_TYPE_TRACEPOINT
                                    : PERF_TYPE_RAW;
  event.attr.config = software.value_or(0);
  event.attr.layout.sample_type = PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC;
  return event;
}

}  // namespace culprit
