#include <cmath>

#include "base/text.h"
#include "validate/validation.h"
#include <nlohmann/json.hpp>

namespace culprit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "culprit-validate-1";

const char* word_of(CountVerdict verdict) {
  switch (verdict) {
    case CountVerdict::right:
      return "right";
    case CountVerdict::wrong:
      return "wrong";
    case CountVerdict::open:
      return "open";
    case CountVerdict::not_counted:
      break;
  }
  return "not counted";
}

Json json_of(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json json_of(const EventVerdict& one) {
  return {{"event", printable(one.event->event)},
          {"quantity", printable(one.event->quantity)},
          {"least", one.least},
          {"most", json_of(std::optional(one.most))},
          {"counted", json_of(one.counted.per_round)},
          {"verdict", word_of(one.verdict)},
          {"reason", printable(one.counted.reason)}};
}

Json json_of(const FamilyVerdict& one) {
  Json events = Json::array();
  Json zeros = Json::array();
  for (const EventVerdict& event : one.events) {
    if (event.verdict == CountVerdict::right && !event.is_caused()) {
      zeros.push_back(printable(event.event->event));
    } else if (is_told(event.event->quantity)) {
      events.push_back(json_of(event));
    }
  }
  const Family& family = one.family;
  return {{"kernel", family.name},
          {"what", family.what},
          {"rounds", family.rounds},
          {"bytes", family.bytes},
          {"cycles_per_round", json_of(one.cycles_per_round)},
          {"costs", family.costs},
          {"reference", family.reference},
          {"penalty_cycles", json_of(one.penalty)},
          {"counted_twice", printable(one.twice)},
          {"charged_cycles", one.charged_cycles},
          {"events", std::move(events)},
          {"zeros", std::move(zeros)}};
}

}  // namespace

std::string print_validation_json(const Validation& validation) {
  Json families = Json::array();
  for (const FamilyVerdict& one : validation.families) families.push_back(json_of(one));
  const Json json = {{"schema", kSchema},
                     {"engine", validation.engine},
                     {"template", printable(validation.template_name)},
                     {"machine_model", printable(validation.machine_model)},
                     {"cpu_model", printable(validation.cpu_model)},
                     {"cpu_id", printable(validation.cpu_id)},
                     {"kernel_release", printable(validation.kernel_release)},
                     {"date", printable(validation.date)},
                     {"is_right", validation.is_right()},
                     {"kernels", std::move(families)}};
  return json.dump(1) + "\n";
}

}  // namespace culprit
