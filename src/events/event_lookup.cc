#include "events/event_lookup.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "base/text.h"
#include "events/event_modifiers.h"
#include "events/event_names.h"
#include "events/event_pieces.h"
#include "events/generic_events.h"
#include "events/pfm_lookup.h"
#include "events/pmu_terms.h"

namespace culprit {
namespace {

using Requests = std::vector<EventRequest>;

EventRequest request_of_kernel(const PmuCatalog& catalog, const char* pmu_name, uint32_t type) {
  EventRequest request;
  request.pmu = pmu_name;
  const Pmu* pmu = catalog.find(pmu_name);
  request.type = pmu == nullptr ? type : pmu->type;
  return request;
}

// ---- The kernel's own names, and raw codes: on every core PMU. ----

Requests generic_requests(const GenericEvent& generic, const PmuCatalog& catalog) {
  constexpr unsigned kPmuShift = 32;  // PERF_TYPE_HARDWARE and _HW_CACHE on hybrid CPUs
  EventRequest base;
  base.type = perf_type(generic.kind);
  base.config = generic.config;
  base.unit = std::string(generic.unit);
  if (generic.kind == GenericKind::software) {
    base.pmu = "software";
    return {base};
  }
  const std::vector<const Pmu*> cores = catalog.core_pmus();
  base.pmu = cores.empty() ? "cpu" : cores[0]->name;
  if (cores.size() < 2) {
    if (!cores.empty()) base.cpus = cores[0]->cpus;
    return {base};
  }
  Requests requests;
  for (const Pmu* core : cores) {
    requests.push_back(base);
    requests.back().pmu = core->name;
    requests.back().cpus = core->cpus;
    requests.back().config |= uint64_t{core->type} << kPmuShift;
  }
  return requests;
}

Requests raw_requests(uint64_t code, const PmuCatalog& catalog) {
  const std::vector<const Pmu*> cores = catalog.core_pmus();
  EventRequest base;
  base.pmu = "cpu";
  base.type = PERF_TYPE_RAW;
  base.config = code;
  if (cores.empty()) return {base};
  Requests requests;
  for (const Pmu* core : cores) {
    requests.push_back(request_on(*core));
    requests.back().config = code;
    if (cores.size() == 1) requests.back().type = PERF_TYPE_RAW;
    requests.back().note = describe_unknown_bits(*core, requests.back());
  }
  return requests;
}

// ---- Events that sysfs names, without their PMU: on cores, else wherever they are. ----

Result<Requests> named_requests(const EventWords& event, const PmuCatalog& catalog) {
  const std::string& name = event.words[0];
  std::vector<const Pmu*> having;
  for (const Pmu& pmu : catalog.pmus) {
    if (pmu.events.contains(name)) having.push_back(&pmu);
  }
  if (std::any_of(having.begin(), having.end(), [](const Pmu* pmu) { return pmu->is_core; })) {
    std::erase_if(having, [](const Pmu* pmu) { return !pmu->is_core; });
  }
  EventWords inner;
  inner.text = event.text;
  inner.terms.push_back({.key = name, .value = {}});
  Requests requests;
  for (const Pmu* pmu : having) {
    ASSIGN_OR_RETURN(EventRequest request, encode_terms(*pmu, inner));
    requests.push_back(std::move(request));
  }
  return requests;
}

// ---- PMU/terms/ ----

/// "imc" or "uncore_imc" are also "uncore_imc_0", "uncore_imc_1", …
bool is_box_of(std::string_view pmu, std::string_view typed) {
  if (!pmu.starts_with(typed)) return false;
  const std::string_view rest = pmu.substr(typed.size());
  if (rest.empty()) return true;
  return rest.size() > 1 && rest[0] == '_' &&
         rest.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::vector<const Pmu*> find_pmus(const std::string& typed, const PmuCatalog& catalog) {
  if (const Pmu* pmu = catalog.find(typed)) return {pmu};
  if (typed == "cpu") return catalog.core_pmus();
  const bool is_pattern = typed.find_first_of("*?[") != std::string::npos;
  std::vector<const Pmu*> found;
  for (const Pmu& pmu : catalog.pmus) {
    if (is_pattern ? matches_pattern(pmu.name, typed)
                   : is_box_of(pmu.name, typed) || is_box_of(pmu.name, "uncore_" + typed)) {
      found.push_back(&pmu);
    }
  }
  return found;
}

Error unknown_pmu(const EventWords& event, const PmuCatalog& catalog) {
  const std::string& typed = event.words[0];
  std::vector<std::string> names;
  for (const Pmu& pmu : catalog.pmus) names.push_back(pmu.name);
  const std::string nearest = nearest_word(typed.substr(0, 64), names);
  const std::string hint = nearest.empty() ? "" : fmt::format("\ndid you mean {}?", nearest);
  const bool is_core = typed.starts_with("cpu");
  return wrong_event(event,
                     fmt::format("this machine has no PMU '{}'{}; it has {}{}", printable(typed),
                                 is_core ? " (its CPUs have no counters, or they are hidden from "
                                           "it, as in most virtual machines)"
                                         : "",
                                 printable(fmt::format("{}", fmt::join(names, ", "))), hint));
}

/// A generic name with terms that any event may have: "cycles/period=1000/u".
Result<Requests> generic_with_terms(const EventWords& event, const GenericEvent& generic,
                                    const PmuCatalog& catalog) {
  Requests requests = generic_requests(generic, catalog);
  for (EventRequest& request : requests) {
    for (const EventTerm& term : event.terms) {
      ASSIGN_OR_RETURN(const bool is_common, apply_common_term(term, event, request));
      if (!is_common) {
        return wrong_event(event,
                           fmt::format("'{}' is a term of PMU events; {} takes name=, period= and "
                                       "freq=",
                                       printable(term.key), event.words[0]));
      }
    }
  }
  return requests;
}

Result<FoundEvent> look_up_terms(const EventWords& event, const PmuCatalog& catalog) {
  const std::vector<const Pmu*> pmus = find_pmus(event.words[0], catalog);
  FoundEvent found{.requests = {}, .modifiers = event.modifiers};
  if (pmus.empty()) {
    const std::optional<GenericEvent> generic = find_generic_event(event.words[0]);
    if (!generic) return unknown_pmu(event, catalog);
    ASSIGN_OR_RETURN(found.requests, generic_with_terms(event, *generic, catalog));
    return found;
  }
  for (const Pmu* pmu : pmus) {
    ASSIGN_OR_RETURN(EventRequest request, encode_terms(*pmu, event));
    request.note = describe_unknown_bits(*pmu, request);
    found.requests.push_back(std::move(request));
  }
  return found;
}

// ---- Breakpoints: mem:ADDRESS[/LENGTH][:rwx][:modifiers] ----

constexpr uint32_t kRead = 1;
constexpr uint32_t kWrite = 2;
constexpr uint32_t kExecute = 4;

Result<uint32_t> parse_access(const EventWords& event) {
  uint32_t access = 0;
  for (const char c : event.words[2]) {
    const uint32_t bit = c == 'r' ? kRead : c == 'w' ? kWrite : kExecute;
    if ((access & bit) != 0) return wrong_event(event, fmt::format("'{}' is given twice", c));
    access |= bit;
  }
  return access;
}

Result<FoundEvent> look_up_breakpoint(const EventWords& event, const PmuCatalog& catalog) {
  constexpr uint64_t kMostBytes = 8;
  EventRequest request = request_of_kernel(catalog, "breakpoint", PERF_TYPE_BREAKPOINT);
  const std::string_view where = event.words[1];
  const size_t slash = where.find('/');
  const std::optional<uint64_t> address = parse_event_number(where.substr(0, slash));
  if (!address) return wrong_event(event, "a breakpoint is mem:ADDRESS[/LENGTH][:rwx]");
  const bool has_access = event.words.size() > 2 && !event.words[2].empty() &&
                          event.words[2].find_first_not_of("rwx") == std::string::npos;
  request.breakpoint_type = kRead | kWrite;
  if (has_access) {
    ASSIGN_OR_RETURN(request.breakpoint_type, parse_access(event));
  }
  request.config1 = *address;
  request.config2 = request.breakpoint_type == kExecute ? sizeof(long) : 4;
  if (slash != std::string_view::npos) {
    const std::optional<uint64_t> length = parse_event_number(where.substr(slash + 1));
    if (!length || *length == 0 || *length > kMostBytes) {
      return wrong_event(event, "a breakpoint watches 1 to 8 bytes");
    }
    request.config2 = *length;
  }
  return with_modifiers(event, has_access ? 3 : 2, {request});
}

// ---- Nobody knows it ----

Error unknown_event(const EventWords& event, const PmuCatalog& catalog,
                    const std::string& tracepoint_error) {
  const bool has_modifiers = event.words.size() > 1 && is_modifiers(event.words.back());
  const std::string name = join_words(event.words, event.words.size() - (has_modifiers ? 1 : 0));
  std::string text = "there is no such event";
  if (!tracepoint_error.empty()) text += fmt::format(" (as a tracepoint: {})", tracepoint_error);
  return wrong_event(
      event, text + suggest_events(name, catalog) + "\n`culprit events` lists what there is");
}

}  // namespace

Result<FoundEvent> look_up_event(const EventWords& event, const PmuCatalog& catalog) {
  if (event.has_terms) return look_up_terms(event, catalog);
  const std::string& name = event.words[0];
  const bool has_more = event.words.size() > 1;
  if (name == "mem" && has_more) return look_up_breakpoint(event, catalog);
  Requests requests;
  if (const std::optional<GenericEvent> generic = find_generic_event(name)) {
    requests = generic_requests(*generic, catalog);
  } else {
    ASSIGN_OR_RETURN(requests, named_requests(event, catalog));
    const std::optional<uint64_t> raw = parse_raw_event(name);
    if (requests.empty() && raw) requests = raw_requests(*raw, catalog);
  }
  if (!requests.empty()) return with_modifiers(event, 1, std::move(requests));

  std::string tracepoint_error;
  if (has_more && !name.empty() && !event.words[1].empty() && catalog.tracepoint_id) {
    const Result<uint64_t> id = catalog.tracepoint_id(name, event.words[1]);
    if (id) {
      EventRequest request = request_of_kernel(catalog, "tracepoint", PERF_TYPE_TRACEPOINT);
      request.config = *id;
      return with_modifiers(event, 2, {request});
    }
    // Makers' names have upper case, tracepoints have not.
    const bool is_lower =
        std::none_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (is_lower) tracepoint_error = id.error().message;
  }
  ASSIGN_OR_RETURN(std::optional<FoundEvent> found, look_up_pfm(event, catalog));
  if (found) return std::move(*found);
  return unknown_event(event, catalog, tracepoint_error);
}

}  // namespace culprit
