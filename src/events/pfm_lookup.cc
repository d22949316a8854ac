#include "events/pfm_lookup.h"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include "base/text.h"
#include "events/cpu_tables.h"
#include "events/event_modifiers.h"
#include "events/event_names.h"
#include "events/event_pieces.h"
#include "events/pfm_events.h"
#include "events/pmu_terms.h"

namespace culprit {
namespace {

struct PfmAnswer {
  PfmEncoding encoding;
  std::string modifiers;
};

/// :u, :k and :h are the kernel's business, and perf's letters are unknown to libpfm4; its own
/// modifiers (c=2, i, e, t) come first where both have a letter.
Result<PfmAnswer> ask_pfm(const std::string& prefix, const std::vector<std::string>& words) {
  const std::string& last = words.back();
  const bool has_levels =
      words.size() > 1 && !last.empty() && last.find_first_not_of("ukh") == std::string::npos;
  const size_t count = words.size() - (has_levels ? 1 : 0);
  Result<PfmEncoding> encoding = encode_pfm_event(prefix + join_words(words, count));
  if (encoding) return PfmAnswer{*encoding, has_levels ? last : ""};
  if (!has_levels && words.size() > 1 && is_modifiers(last) && last != "e") {
    const Result<PfmEncoding> shorter = encode_pfm_event(prefix + join_words(words, count - 1));
    if (shorter) return PfmAnswer{*shorter, last};
  }
  return encoding.error();
}

EventRequest request_of(const PfmEncoding& encoding, const Pmu* pmu) {
  EventRequest request;
  if (pmu != nullptr) request = request_on(*pmu);
  if (pmu == nullptr) request.pmu = encoding.pmu;
  request.type = encoding.type.value_or(0);
  request.config = encoding.config;
  request.config1 = encoding.config1;
  request.config2 = encoding.config2;
  request.precise_level = encoding.precise_level;
  request.note = encoding.note;
  return request;
}

bool is_present(const std::string& pfm_pmu) {
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    if (pmu.name == pfm_pmu) return pmu.is_present;
  }
  return false;
}

std::string present_cpus() {
  std::vector<std::string> names;
  for (const PfmPmu& pmu : list_pfm_pmus()) {
    if (pmu.is_present) names.push_back(pmu.name);
  }
  return names.empty() ? "none that libpfm4 knows" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<std::optional<FoundEvent>> look_up_pfm(const EventWords& event, const PmuCatalog& catalog) {
  const bool names_pmu = event.words.size() > 2 && event.words[1].empty();
  if (!catalog.is_this_machine || event.words[0].empty()) return std::optional<FoundEvent>();
  const Result<PfmAnswer> answer = ask_pfm("", event.words);
  if (!answer) return std::optional<FoundEvent>();
  if (!is_present(answer->encoding.pmu)) {
    if (!names_pmu) return std::optional<FoundEvent>();
    return wrong_event(
        event, fmt::format("{} is not the CPU of this machine ({}); `culprit events --cpu "
                           "{}` shows its encodings",
                           printable(event.words[0]), present_cpus(), answer->encoding.pmu));
  }
  const Pmu* pmu = nullptr;
  for (const Pmu& candidate : catalog.pmus) {
    if (candidate.type == answer->encoding.type) pmu = &candidate;
  }
  EventRequest request = request_of(answer->encoding, pmu);
  if (pmu == nullptr) request.pmu = "cpu";  // a core's, but the kernel has no PMU for it
  return std::optional(FoundEvent{{request}, answer->modifiers});
}

Result<FoundEvent> look_up_foreign_event(const std::string& cpu, const EventWords& event) {
  const Result<PfmAnswer> answer = ask_pfm(cpu + "::", event.words);
  if (answer) {
    if (!answer->encoding.type) {
      return wrong_event(event,
                         fmt::format("{} is no CPU core: which type its PMU has is known on its "
                                     "machine only (config there: {:#x})",
                                     cpu, answer->encoding.config));
    }
    return FoundEvent{{request_of(answer->encoding, nullptr)}, answer->modifiers};
  }
  const CpuTable* table = find_cpu_table(cpu);
  if (table != nullptr) {
    if (const CpuEvent* known = find_cpu_event(*table, event.words[0])) {
      EventRequest request;
      request.pmu = std::string(table->name);
      request.type = PERF_TYPE_RAW;
      request.config = known->config;
      return with_modifiers(event, 1, {request});
    }
  } else if (list_pfm_event_names(cpu).empty()) {
    return Error{
        fmt::format("there is no CPU '{}' in libpfm4's or our own tables{}\n`culprit events "
                    "--cpu '*'` lists them",
                    printable(cpu), suggest_cpus(cpu))};
  }
  return wrong_event(
      event, fmt::format("{} has no such event ({}){}", printable(cpu), answer.error().message,
                         suggest_events_of(cpu, event.text)));
}

}  // namespace culprit
