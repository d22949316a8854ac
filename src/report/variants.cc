#include "report/variants.h"

#include <algorithm>
#include <iterator>
#include <map>

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

bool was_executed(const ReportRow& row, size_t instructions) {
  return row.values[instructions].value > 0;
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
  return name == "memcpy" ? "memmove" : std::string(name);
}

std::vector<VariantRows> join_variants(const std::vector<const ReportRow*>& rows, size_t time,
                                       size_t instructions) {
  struct Variants {
    std::vector<const ReportRow*> rows;
    bool has_unexecuted = false;  // with samples
    bool has_executed = false;
  };
  using Key = std::pair<std::string, std::string>;  // module, family
  const auto key_of = [](const ReportRow& row) {
    return Key{row.module.value_or(""), find_variant_family(row.function.value_or(""))};
  };
  std::map<Key, Variants> families;
  for (const ReportRow* const row : rows) {
    Variants& variants = families[key_of(*row)];
    const bool is_executed = was_executed(*row, instructions);
    variants.rows.push_back(row);
    variants.has_executed = variants.has_executed || is_executed;
    variants.has_unexecuted =
        variants.has_unexecuted || (!is_executed && row->values[time].samples > 0);
  }
  std::vector<VariantRows> all;
  for (const ReportRow* const row : rows) {
    const Key key = key_of(*row);
    const Variants& variants = families.at(key);
    const bool is_joined = !key.second.empty() && variants.has_executed && variants.has_unexecuted;
    if (!is_joined) {
      all.push_back({{row}, ""});
    } else if (variants.rows.front() == row) {
      all.push_back({variants.rows, key.second});
    }
  }
  return all;
}

}  // namespace culprit
