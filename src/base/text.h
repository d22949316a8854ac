#pragma once

// Text for people: numbers in four characters, patterns, cutting long names.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// 3350000000 -> "3.35 G"; 999 -> "999"; 12345 -> "12.3 k". Three significant digits.
std::string format_si(double value);

/// "1.15 s", "250 ms", "13.0 us", "812 ns".
std::string format_duration_ns(double duration_ns);

/// 212000 -> "212 kB" (powers of 1000).
std::string format_bytes(uint64_t size_bytes);

/// 24310 -> "24,310".
std::string format_thousands(uint64_t value);

/// Whether `pattern` is the text, or a shell pattern (* ? [..]) that matches it.
bool matches_pattern(std::string_view text, std::string_view pattern);

/// Cuts it to at most `width` columns: the middle of a longer text becomes "..".
std::string elide_middle(std::string_view text, size_t width);

/// ASCII letters in lower case.
std::string to_lower(std::string_view text);

/// Whether the words are the same, whatever the case of their (ASCII) letters.
bool is_same_word(std::string_view a, std::string_view b);

/// Fields between separators; "" gives one empty field.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The text without blanks, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

/// Bytes that would move the cursor or colour a terminal become '?', each invalid byte of UTF-8 and
/// characters that turn text around or show nothing: names in profiles may come from strangers.
std::string printable(std::string_view text);

/// 'name', printable: a path or a word of the user's in a message, whose lines it must not break.
std::string in_quotes(std::string_view name);

/// Makes a cell of CSV safe: a name that a spreadsheet would take for a formula gets an apostrophe
/// in front, by which it is a text there. Numbers stay as they are.
std::string disarm_formula(std::string cell);

/// "name (did you mean ...?)": the candidate nearest to `word`, or "".
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace culprit
