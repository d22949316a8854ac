#include "epochs/epoch_name.h"

#include <algorithm>
#include <fmt/format.h>
#include <time.h>

#include "base/number.h"
#include "base/text.h"

namespace culprit {

namespace {

constexpr std::string_view kSuffix = ".culprit";
constexpr size_t kBootDigits = 8;
constexpr uint64_t kLongest_s = uint64_t{400} * 86400;

/// "20261125T031000Z"
std::optional<int64_t> parse_start(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  const auto part = [&](size_t at, size_t size) {
    return find_number(text.substr(at, size), 10).value_or(UINT64_MAX);
  };
  tm parts{};
  const uint64_t year = part(0, 4);
  const uint64_t month = part(4, 2);
  const uint64_t day = part(6, 2);
  const uint64_t hour = part(9, 2);
  const uint64_t minute = part(11, 2);
  const uint64_t second = part(13, 2);
  if (year > 9999 || month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  parts.tm_year = static_cast<int>(year) - 1900;
  parts.tm_mon = static_cast<int>(month) - 1;
  parts.tm_mday = static_cast<int>(day);
  parts.tm_hour = static_cast<int>(hour);
  parts.tm_min = static_cast<int>(minute);
  parts.tm_sec = static_cast<int>(second);
  return ::timegm(&parts);
}

bool is_boot(std::string_view text) {
  return text.size() == kBootDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string format_epoch_name(const EpochName& name) {
  const time_t start = name.start_s;
  tm parts{};
  ::gmtime_r(&start, &parts);
  std::string text = fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z-{}s-{}-{}", parts.tm_year + 1900,
                                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                                 parts.tm_sec, name.length_s, name.boot, name.first);
  if (name.is_merged()) text += fmt::format("-{}", name.last);
  return text + std::string(kSuffix);
}

std::optional<EpochName> parse_epoch_name(std::string_view file_name) {
  if (!file_name.ends_with(kSuffix)) return std::nullopt;
  file_name.remove_suffix(kSuffix.size());
  const std::vector<std::string_view> parts = split(file_name, '-');
  if (parts.size() < 4 || parts.size() > 5) return std::nullopt;
  const std::optional<int64_t> start = parse_start(parts[0]);
  if (!start || !parts[1].ends_with('s') || !is_boot(parts[2])) return std::nullopt;
  const auto length = find_number(parts[1].substr(0, parts[1].size() - 1), 10);
  const auto first = find_number(parts[3], 10);
  const auto last = parts.size() == 5 ? find_number(parts[4], 10) : first;
  if (!length || *length > kLongest_s || !first || !last) return std::nullopt;
  if (*last > UINT32_MAX || *first > *last || (parts.size() == 5 && *first == *last)) {
    return std::nullopt;
  }
  return EpochName{*start, *length, std::string(parts[2]), static_cast<uint32_t>(*first),
                   static_cast<uint32_t>(*last)};
}

bool is_part_of(const EpochName& one, const EpochName& whole) {
  return one.boot == whole.boot && whole.first <= one.first && one.last <= whole.last &&
         whole.last - whole.first > one.last - one.first;
}

std::vector<EpochName> find_left_over(const std::vector<EpochName>& names) {
  std::vector<const EpochName*> merged;
  for (const EpochName& name : names) {
    if (name.is_merged()) merged.push_back(&name);
  }
  std::vector<EpochName> left;
  for (const EpochName& name : names) {
    const bool is_left = std::any_of(merged.begin(), merged.end(), [&](const EpochName* whole) {
      return is_part_of(name, *whole);
    });
    if (is_left) left.push_back(name);
  }
  return left;
}

std::vector<EpochName> choose_epochs(std::vector<EpochName> names, const TimeSpan& span) {
  const std::vector<EpochName> left = find_left_over(names);
  std::erase_if(names, [&](const EpochName& name) {
    // An epoch of less than a second still has its first one.
    const int64_t end_s = std::max(name.end_s(), name.start_s + 1);
    const bool is_outside = end_s <= span.from_s || name.start_s >= span.to_s;
    return is_outside || std::find(left.begin(), left.end(), name) != left.end();
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace culprit
