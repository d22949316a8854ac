#include "base/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fnmatch.h>
#include <numeric>
#include <utility>

namespace culprit {

namespace {

char lower_of(char c) {
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/// Three significant digits of a value below 1000: 3.35, 33.5, 335.
std::string three_digits(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude < 9.995) return fmt::format("{:.2f}", value);
  if (magnitude < 99.95) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

struct Scale {
  double unit;
  const char* suffix;
};

/// The largest unit that leaves at least 1 after rounding to three digits.
template <size_t N>
const Scale& pick_scale(double value, const std::array<Scale, N>& largest_first) {
  for (const Scale& scale : largest_first) {
    if (std::fabs(value) >= 0.9995 * scale.unit) return scale;
  }
  return largest_first.back();
}

}  // namespace

std::string format_si(double value) {
  static constexpr std::array<Scale, 6> kScales = {
      {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}}};
  const Scale& scale = pick_scale(value, kScales);
  if (scale.unit == 1 && value == std::floor(value)) return fmt::format("{:.0f}", value);
  return three_digits(value / scale.unit) + scale.suffix;
}

std::string format_duration_ns(double duration_ns) {
  static constexpr std::array<Scale, 4> kScales = {
      {{1e9, " s"}, {1e6, " ms"}, {1e3, " us"}, {1, " ns"}}};
  const Scale& scale = pick_scale(duration_ns, kScales);
  const double scaled = duration_ns / scale.unit;
  return (scaled >= 999.5 ? fmt::format("{:.0f}", scaled) : three_digits(scaled)) + scale.suffix;
}

std::string format_bytes(uint64_t size_bytes) {
  static constexpr std::array<Scale, 5> kScales = {
      {{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {1, " B"}}};
  const double size = static_cast<double>(size_bytes);
  const Scale& scale = pick_scale(size, kScales);
  if (scale.unit == 1) return fmt::format("{} B", size_bytes);
  return three_digits(size / scale.unit) + scale.suffix;
}

std::string format_thousands(uint64_t value) {
  std::string digits = std::to_string(value);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

bool matches_pattern(std::string_view text, std::string_view pattern) {
  if (text == pattern) return true;  // "[kernel]" is a name, too
  const size_t first = pattern.find_first_of("*?[");
  if (first == std::string_view::npos) return false;
  // Most texts differ before the first sign, or behind the last: telling so early pays.
  const std::string_view head = pattern.substr(0, pattern.find_first_of("*?[\\"));
  const std::string_view tail = pattern.substr(pattern.find_last_of("*?]\\") + 1);
  if (!text.starts_with(head)) return false;
  if (pattern.find('[') == std::string_view::npos && !text.ends_with(tail)) return false;
  return ::fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), 0) == 0;
}

std::string elide_middle(std::string_view text, size_t width) {
  if (text.size() <= width) return std::string(text);
  if (width <= 2) return std::string(width, '.');
  const size_t head = (width - 2 + 1) / 2;
  const size_t tail = width - 2 - head;
  return std::string(text.substr(0, head)) + ".." + std::string(text.substr(text.size() - tail));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    fields.push_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return fields;
    start = end + 1;
  }
}

namespace {

/// E2 `second` `third` is a line or paragraph separator, turns the direction of what follows
/// (U+2028..U+202E, U+2066..U+2069, U+200E, U+200F), or shows nothing (U+200B, U+2060..U+2064):
/// names could look like others. U+200C and U+200D shape the letters of some scripts.
bool disguises_text(unsigned char second, unsigned char third) {
  return (second == 0x80 && third >= 0xa8 && third <= 0xae) ||
         (second == 0x80 && (third == 0x8b || third == 0x8e || third == 0x8f)) ||
         (second == 0x81 && third >= 0xa0 && third <= 0xa4) ||
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);
}

/// Length of the valid UTF-8 sequence that starts `text`, 0 if there is none; of a character that
/// must not be shown, too.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](size_t count) {
    if (text.size() <= count) return false;
    for (size_t i = 1; i <= count; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return false;
    }
    return true;
  };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0 && continues(1)) return 2;
  if ((first & 0xf0) == 0xe0 && continues(2)) {
    const unsigned char second = byte(1);
    if (first == 0xe0 && second < 0xa0) return 0;   // overlong
    if (first == 0xed && second >= 0xa0) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xf0 && first < 0xf5 && continues(3)) {
    const unsigned char second = byte(1);
    if (first == 0xf0 && second < 0x90) return 0;   // overlong
    if (first == 0xf4 && second >= 0x90) return 0;  // past U+10FFFF
    return 4;
  }
  return 0;
}

/// Whether a terminal and a reader may see the valid sequence.
bool is_harmless(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7f;
  if (sequence.size() == 2) return byte(0) != 0xc2 || byte(1) >= 0xa0;  // U+0080..U+009F: control
  if (sequence.size() != 3) return true;
  if (byte(0) == 0xe2) return !disguises_text(byte(1), byte(2));
  return byte(0) != 0xef || byte(1) != 0xbb || byte(2) != 0xbf;  // U+FEFF, a byte order mark
}

}  // namespace

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    if (length > 0 && is_harmless(sequence)) {
      clean += sequence;
    } else {
      clean += '?';
    }
    text.remove_prefix(sequence.size());
  }
  return clean;
}

std::string in_quotes(std::string_view name) {
  return "'" + printable(name) + "'";
}

std::string disarm_formula(std::string cell) {
  if (cell.empty() || std::string_view("=@+-").find(cell[0]) == std::string_view::npos) return cell;
  char* end = nullptr;
  std::strtod(cell.c_str(), &end);
  const bool is_number = *end == '\0' && end != cell.c_str();
  return is_number ? cell : "'" + cell;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lower_of(c);
  return lower;
}

bool is_same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char one, char other) { return lower_of(one) == lower_of(other); });
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t nearest_distance = word.size() / 2 + 1;  // half the word may differ
  for (const std::string& candidate : candidates) {
    std::vector<size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < word.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i + 1);
      for (size_t j = 0; j < candidate.size(); ++j) {
        const size_t substituted = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({row[j] + 1, diagonal + 1, substituted});
      }
    }
    if (row.back() < nearest_distance) {
      nearest_distance = row.back();
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace culprit
