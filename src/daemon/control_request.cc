#include "daemon/control_request.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/text.h"

namespace culprit {

namespace {

constexpr std::pair<std::string_view, ControlVerb> kVerbs[] = {
    {"status", ControlVerb::status}, {"flush", ControlVerb::flush},   {"epoch", ControlVerb::epoch},
    {"rate", ControlVerb::rate},     {"events", ControlVerb::events}, {"pause", ControlVerb::pause},
    {"resume", ControlVerb::resume}, {"label", ControlVerb::label},   {"stop", ControlVerb::stop}};

}  // namespace

Result<double> parse_rate_hz(std::string_view text) {
  double rate_hz = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate_hz);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Error{fmt::format("'{}' is no rate: give samples per second and CPU", printable(text))};
  }
  // A comparison that is false for what is no number, too.
  if (!(rate_hz >= kLowestRateHz && rate_hz <= kHighestRateHz)) {
    return Error{fmt::format("a rate is {} to {} samples per second and CPU", kLowestRateHz,
                             kHighestRateHz)};
  }
  return rate_hz;
}

Result<ControlRequest> parse_control_request(std::string_view line) {
  line = trim(line);
  const size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : trim(line.substr(space));
  const auto* const found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                         [&](const auto& verb) { return verb.first == word; });
  if (found == std::end(kVerbs)) {
    return Error{
        fmt::format("'{}' is nothing that can be asked of a daemon: status, flush, epoch, "
                    "rate HZ, events LIST, pause, resume, label KEY=VALUE, stop",
                    printable(word))};
  }
  ControlRequest request;
  request.verb = found->second;
  if (request.verb == ControlVerb::rate) {
    ASSIGN_OR_RETURN(request.rate_hz, parse_rate_hz(rest));
    return request;
  }
  if (request.verb == ControlVerb::events) {
    if (rest.empty() || printable(rest) != rest) {
      return Error{
          "events are named as `culprit record -e` takes them: events page-faults; or none"};
    }
    request.value = rest;
    return request;
  }
  if (request.verb == ControlVerb::label) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos || equals == 0 || printable(rest) != rest) {
      return Error{"a label is KEY=VALUE, in printable characters"};
    }
    request.key = trim(rest.substr(0, equals));
    request.value = trim(rest.substr(equals + 1));
    return request;
  }
  if (!rest.empty()) return Error{fmt::format("'{}' takes nothing more", word)};
  return request;
}

}  // namespace culprit
