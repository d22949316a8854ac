#include "events/pmu_terms.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/text.h"
#include "events/event_pieces.h"

namespace culprit {
namespace {

uint64_t& config_word(EventRequest& request, unsigned which) {
  return which == 0 ? request.config : which == 1 ? request.config1 : request.config2;
}

uint64_t mask_of(const BitRange& range) {
  const unsigned bits = range.last - range.first + 1;
  return (bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1) << range.first;
}

/// Replaces the field's bits.
void set_field(const TermFormat& format, uint64_t value, EventRequest& request) {
  uint64_t& word = config_word(request, format.config);
  for (const BitRange& range : format.ranges) {
    const unsigned bits = range.last - range.first + 1;
    word = (word & ~mask_of(range)) | ((value << range.first) & mask_of(range));
    value = bits >= 64 ? 0 : value >> bits;
  }
}

Result<uint64_t> number_of(const EventTerm& term, const EventWords& event) {
  if (!term.value) return uint64_t{1};  // a lone word: a flag
  if (const std::optional<uint64_t> number = parse_event_number(*term.value)) return *number;
  return wrong_event(event, fmt::format("{}={} is not a number (up to 64 bits, decimal or 0x…)",
                                        printable(term.key), printable(*term.value)));
}

/// Terms as perf has them whose place is elsewhere here.
constexpr std::array<std::string_view, 14> kTermsOfPerf = {
    "branch_type", "time",       "call-graph", "stack-size",   "max-stack",     "nr",
    "inherit",     "no-inherit", "overwrite",  "no-overwrite", "driver-config", "percore",
    "aux-output",  "metric-id"};

/// The work of encode_terms, term by term.
class TermEncoder {
 public:
  TermEncoder(const Pmu& pmu, const EventWords& event)
      : pmu_(pmu), event_(event), request_(request_on(pmu)) {}

  Result<EventRequest> encode() {
    // Whole words first, then named events, then fields: what is more exact replaces.
    for (const EventTerm& term : event_.terms) RETURN_IF_ERROR(apply_whole_config(term));
    for (const EventTerm& term : event_.terms) RETURN_IF_ERROR(apply_named_event(term));
    for (const EventTerm& term : event_.terms) RETURN_IF_ERROR(apply_field(term));
    return std::move(request_);
  }

 private:
  [[nodiscard]] bool is_named_event(const EventTerm& term) const {
    return !term.value && pmu_.events.contains(term.key);
  }
  [[nodiscard]] bool is_format(const EventTerm& term) const {
    return pmu_.formats.contains(term.key);
  }
  [[nodiscard]] bool is_whole_config(const EventTerm& term) const {
    return term.value && (term.key == "config" || term.key == "config1" || term.key == "config2");
  }
  [[nodiscard]] std::optional<uint64_t> find_raw(const EventTerm& term) const {
    if (term.value || is_named_event(term) || is_format(term)) return std::nullopt;
    return parse_raw_event(term.key);
  }

  Result<void> apply_whole_config(const EventTerm& term) {
    if (const std::optional<uint64_t> raw = find_raw(term)) {
      request_.config = *raw;
    } else if (is_whole_config(term)) {
      ASSIGN_OR_RETURN(const uint64_t value, number_of(term, event_));
      const unsigned which = term.key == "config" ? 0 : term.key == "config1" ? 1 : 2;
      config_word(request_, which) = value;
    }
    return {};
  }

  Result<void> apply_named_event(const EventTerm& term) {
    if (!is_named_event(term)) return {};
    const NamedEvent& named = pmu_.events.at(term.key);
    request_.unit = named.unit;
    request_.scale = named.scale;
    for (const std::string_view text : split(named.terms, ',')) {
      const size_t equals = text.find('=');
      EventTerm part{.key = std::string(text.substr(0, equals)), .value = {}};
      if (equals != std::string_view::npos) part.value = std::string(text.substr(equals + 1));
      RETURN_IF_ERROR(apply_part(term.key, part));
    }
    return {};
  }

  /// One term of a file of events/.
  Result<void> apply_part(const std::string& named, const EventTerm& part) {
    if (part.value == "?") {
      const bool is_given = std::any_of(event_.terms.begin(), event_.terms.end(),
                                        [&](const EventTerm& t) { return t.key == part.key; });
      if (is_given) return {};
      return wrong_event(event_,
                         fmt::format("{} wants {}=VALUE beside it", named, printable(part.key)));
    }
    if (is_whole_config(part)) return apply_whole_config(part);
    if (is_format(part)) return set(part);
    if (part.key == "period" || part.key == "freq" || part.key == "name") return {};
    return wrong_event(event_, fmt::format("{} stands for '{}', whose '{}' is no format of PMU {}",
                                           named, printable(pmu_.events.at(named).terms),
                                           printable(part.key), pmu_.name));
  }

  Result<void> apply_field(const EventTerm& term) {
    if (is_whole_config(term) || is_named_event(term) || find_raw(term)) return {};
    if (is_format(term)) return set(term);
    ASSIGN_OR_RETURN(const bool is_common, apply_common_term(term, event_, request_));
    return is_common ? Result<void>() : unknown(term);
  }

  Result<void> set(const EventTerm& term) {
    const TermFormat& format = pmu_.formats.at(term.key);
    ASSIGN_OR_RETURN(const uint64_t value, number_of(term, event_));
    if (value > format.max_value()) {
      return wrong_event(
          event_, fmt::format("{}={:#x} is too large: the field of PMU {} holds {:#x}", term.key,
                              value, pmu_.name, format.max_value()));
    }
    set_field(format, value, request_);
    return {};
  }

  [[nodiscard]] Error unknown(const EventTerm& term) const {
    if (std::find(kTermsOfPerf.begin(), kTermsOfPerf.end(), term.key) != kTermsOfPerf.end()) {
      return wrong_event(event_,
                         fmt::format("the term '{}' is an option of the command here, not of "
                                     "an event",
                                     term.key));
    }
    std::vector<std::string> known = {"config", "config1", "config2", "name", "period", "freq"};
    for (const auto& [name, format] : pmu_.formats) known.push_back(name);
    for (const auto& [name, named] : pmu_.events) known.push_back(name);
    const std::string nearest = nearest_word(term.key.substr(0, 64), known);
    const std::string hint =
        nearest.empty() ? "" : fmt::format("\ndid you mean '{}'?", printable(nearest));
    return wrong_event(event_,
                       fmt::format("PMU {} has no term or event '{}'{}\n`culprit events '{}/*'` "
                                   "lists them",
                                   pmu_.name, printable(term.key), hint, pmu_.name));
  }

  const Pmu& pmu_;
  const EventWords& event_;
  EventRequest request_;
};

}  // namespace

EventRequest request_on(const Pmu& pmu) {
  EventRequest request;
  request.pmu = pmu.name;
  request.type = pmu.type;
  request.cpus = pmu.cpus;
  request.is_per_cpu_only = pmu.is_per_cpu_only;
  return request;
}

Result<EventRequest> encode_terms(const Pmu& pmu, const EventWords& event) {
  return TermEncoder(pmu, event).encode();
}

Result<bool> apply_common_term(const EventTerm& term, const EventWords& event,
                               EventRequest& request) {
  const bool is_number = term.key == "period" || term.key == "freq";
  if (!is_number && term.key != "name") return false;
  if (!term.value) return wrong_event(event, fmt::format("term '{}' wants a value", term.key));
  if (!is_number) {
    request.name = *term.value;
    return true;
  }
  ASSIGN_OR_RETURN(const uint64_t value, number_of(term, event));
  if (value == 0) return wrong_event(event, fmt::format("{}=0 takes no samples", term.key));
  (term.key == "period" ? request.period : request.frequency_hz) = value;
  if (request.period && request.frequency_hz) {
    return wrong_event(event, "period= and freq= exclude each other");
  }
  return true;
}

std::optional<uint64_t> parse_raw_event(std::string_view word) {
  constexpr size_t kMostDigits = 16;
  if (!word.starts_with('r')) return std::nullopt;
  word.remove_prefix(1);
  if (word.starts_with("0x")) word.remove_prefix(2);
  if (word.size() > kMostDigits) return std::nullopt;
  return parse_event_number("0x" + std::string(word));
}

std::string describe_unknown_bits(const Pmu& pmu, const EventRequest& request) {
  if (pmu.formats.empty()) return "";
  std::array<uint64_t, 3> known{};
  for (const auto& [name, format] : pmu.formats) {
    for (const BitRange& range : format.ranges) known.at(format.config) |= mask_of(range);
  }
  const std::array<uint64_t, 3> used{request.config, request.config1, request.config2};
  std::string text;
  for (size_t i = 0; i < used.size(); ++i) {
    const uint64_t unknown = used.at(i) & ~known.at(i);
    if (unknown == 0) continue;
    text += fmt::format("{}bits {:#x} of {} are in no format of PMU {}", text.empty() ? "" : ", ",
                        unknown, i == 0 ? "config" : fmt::format("config{}", i), pmu.name);
  }
  return text.empty() ? "" : text + ": the kernel may refuse them";
}

}  // namespace culprit
