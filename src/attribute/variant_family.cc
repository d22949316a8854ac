#include "attribute/variant_family.h"

#include <algorithm>
#include <iterator>

namespace culprit {
namespace {

// Sets of instructions, as the C library's and compilers' names of variants have them.
constexpr std::string_view kInstructionSets[] = {
    "sse2",    "sse3",     "ssse3",    "sse4",      "sse42",   "avx",     "avx2",   "avx512",
    "avx512f", "avx512bw", "avx512vl", "evex",      "evex256", "evex512", "fma",    "fma4",
    "bmi2",    "v2",       "v3",       "v4",        "asimd",   "neon",    "simd",   "sve",
    "mops",    "a64fx",    "thunderx", "thunderx2", "falkor",  "emag",    "kunpeng"};
// Words beside these.
constexpr std::string_view kDetails[] = {
    "unaligned", "erms",  "rtm",   "movbe", "back", "no",      "vzeroupper", "slow",
    "generic",   "zva64", "clone", "arch",  "x86",  "default", "nt",         "aligned"};

template <size_t N>
bool is_one_of(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool is_number(std::string_view word) {
  return word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Takes the last word off, with what separates it; "" if there is none behind a separator.
std::string_view take_last_word(std::string_view& name) {
  constexpr std::string_view kSeparators = "_. []";
  const size_t last = name.find_last_not_of(kSeparators);
  if (last == std::string_view::npos) return {};
  const size_t before = name.find_last_of(kSeparators, last);
  if (before == std::string_view::npos) return {};
  const std::string_view word = name.substr(before + 1, last - before);
  name = name.substr(0, before);
  return word;
}

/// The C library's memcpy is its memmove.
std::string_view share_code(std::string_view name) {
  return name == "memcpy" ? "memmove" : name;
}

}  // namespace

std::string find_variant_family(std::string_view function) {
  std::string_view name = function;
  bool names_instructions = false;
  for (;;) {
    std::string_view rest = name;
    const std::string_view word = take_last_word(rest);
    const bool is_set = is_one_of(kInstructionSets, word);
    if (word.empty() || (!is_set && !is_one_of(kDetails, word) && !is_number(word))) break;
    names_instructions = names_instructions || is_set || word == "default" || word == "generic";
    name = rest;
  }
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  const size_t last = name.find_last_not_of("_. []");
  if (!names_instructions || last == std::string_view::npos) return "";
  name = name.substr(0, last + 1);
  return std::string(share_code(name));
}

bool is_variant_of(std::string_view function, std::string_view wanted) {
  const bool is_of_library = function.starts_with("__");
  const bool is_clone = function.size() > wanted.size() && function.starts_with(wanted) &&
                        function[wanted.size()] == '.';
  if (wanted.empty() || (!is_of_library && !is_clone)) return false;
  return find_variant_family(function) == share_code(wanted);
}

}  // namespace culprit
