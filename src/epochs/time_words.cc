#include "epochs/time_words.h"

#include <fmt/format.h>
#include <optional>
#include <time.h>
#include <vector>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

namespace {

Error not_understood(std::string_view text) {
  return Error{fmt::format(
      "'{}' is no moment: write 2h (ago), 10:00, yesterday 10:00, 2026-11-25 10:00 or now", text)};
}

/// "2026-11-25" into year, month and day.
bool parse_date(std::string_view text, tm& parts) {
  const std::vector<std::string_view> fields = split(text, '-');
  if (fields.size() != 3 || fields[0].size() != 4) return false;
  const auto year = find_number(fields[0], 10);
  const auto month = find_number(fields[1], 10);
  const auto day = find_number(fields[2], 10);
  if (!year || !month || !day || *year < 1970 || *month < 1 || *month > 12) return false;
  if (*day < 1 || *day > 31) return false;
  parts.tm_year = static_cast<int>(*year) - 1900;
  parts.tm_mon = static_cast<int>(*month) - 1;
  parts.tm_mday = static_cast<int>(*day);
  return true;
}

/// "10:00", "10:00:30" into the time of the day.
bool parse_clock(std::string_view text, tm& parts) {
  const std::vector<std::string_view> fields = split(text, ':');
  if (fields.size() < 2 || fields.size() > 3) return false;
  const auto hour = find_number(fields[0], 10);
  const auto minute = find_number(fields[1], 10);
  const auto second = fields.size() == 3 ? find_number(fields[2], 10) : uint64_t{0};
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return false;
  parts.tm_hour = static_cast<int>(*hour);
  parts.tm_min = static_cast<int>(*minute);
  parts.tm_sec = static_cast<int>(*second);
  return true;
}

/// A day in words or figures.
bool parse_day(std::string_view text, tm& parts) {
  if (text == "today") return true;
  if (text == "yesterday") {
    --parts.tm_mday;
    return true;
  }
  return parse_date(text, parts);
}

}  // namespace

Result<int64_t> parse_seconds(std::string_view text) {
  constexpr int64_t kLongest = int64_t{100} * 365 * 86400;
  int64_t unit = 0;
  switch (text.empty() ? '\0' : text.back()) {
    case 's':
      unit = 1;
      break;
    case 'm':
      unit = 60;
      break;
    case 'h':
      unit = 3600;
      break;
    case 'd':
      unit = 86400;
      break;
    case 'w':
      unit = 7 * 86400;
      break;
    default:
      break;
  }
  const auto number = unit == 0 ? std::nullopt : find_number(text.substr(0, text.size() - 1), 10);
  if (!number || *number > static_cast<uint64_t>(kLongest / unit)) {
    return Error{fmt::format("'{}' is no length of time: write 90s, 10m, 2h, 3d or 1w", text)};
  }
  return static_cast<int64_t>(*number) * unit;
}

Result<int64_t> parse_moment(std::string_view text, int64_t now_s) {
  text = trim(text);
  if (text == "now") return now_s;
  if (text.starts_with('@')) {
    const auto seconds = find_number(text.substr(1), 10);
    if (!seconds || *seconds > uint64_t{1} << 40) return not_understood(text);
    return static_cast<int64_t>(*seconds);
  }
  const std::string_view length = text.ends_with(" ago") ? text.substr(0, text.size() - 4) : text;
  if (const Result<int64_t> before = parse_seconds(length)) return now_s - *before;

  tm parts{};
  const time_t now = now_s;
  ::localtime_r(&now, &parts);
  parts.tm_isdst = -1;  // whatever holds at that moment
  const size_t space = text.find_first_of(" T");
  bool is_good = false;
  if (space == std::string_view::npos && text.find(':') != std::string_view::npos) {
    parts.tm_sec = 0;
    is_good = parse_clock(text, parts);
  } else {
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    is_good = parse_day(text.substr(0, space), parts);
    if (space != std::string_view::npos) {
      is_good = is_good && parse_clock(trim(text.substr(space + 1)), parts);
    }
  }
  if (!is_good) return not_understood(text);
  return ::mktime(&parts);
}

std::string format_moment(int64_t moment_s) {
  const time_t moment = moment_s;
  tm parts{};
  ::localtime_r(&moment, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace culprit
