// A name is tried as it is first, then without parameters, then as people call it, then
// as a pattern; symbols before inlined code. The first step that finds something with counts
// decides.

#include "attribute/find_function.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"

namespace culprit {

namespace {

/// One name in one image, as a symbol or as inlined code. There may be very many: texts
/// stay in the facts.
struct Candidate {
  ImageId image;
  bool inlined = false;
  const std::string* name = nullptr;
  const std::string* linkage_name = nullptr;  // of a symbol
  std::vector<uint32_t> functions;            // in order of first count, perhaps twice
  uint64_t value = 0;
};

bool comes_first(const Candidate& a, const Candidate& b) {
  return std::tie(b.value, *a.name, a.image) < std::tie(a.value, *b.name, b.image);
}

/// Adds the counts at each location to its symbol, and to all that is inlined there.
class Candidates {
 public:
  Candidates(CodeIndex& code, const std::string& module) : code_(code), module_(module) {}

  void add_all() {
    const Profile& profile = code_.profile();
    for (const Histogram& histogram : profile.histograms) {
      if (!wants(histogram.image)) continue;
      Attributor* attributor = code_.attributor(histogram.image);
      if (attributor == nullptr) continue;
      for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
        if (event == 0) add(*attributor, at, sum.value);
      });
    }
  }

  [[nodiscard]] std::vector<Candidate> take() { return std::move(all_); }

 private:
  bool wants(ImageId image) const {
    if (module_.empty()) return true;
    const std::string path = code_.module(image);
    return matches_pattern(path, module_) || matches_pattern(base_name(path), module_);
  }

  void add(Attributor& attributor, const Location& at, uint64_t value) {
    const ImageFacts& facts = attributor.facts();
    const CodePlace place = attributor.find(at.offset);
    if (place.function == CodePlace::kNone) return;
    const FunctionFact& function = facts.functions[place.function];
    Candidate& symbol = candidate(facts, at.image, false, function.name);
    symbol.linkage_name = &facts.strings.text(function.linkage_name);
    add(place.function, value, symbol);
    std::vector<StringId> seen;  // recursion inlined into itself counts once
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor.inlined_into(row)) {
      const StringId name = facts.inlines[row].name;
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      add(place.function, value, candidate(facts, at.image, true, name));
    }
  }

  static void add(uint32_t function, uint64_t value, Candidate& to) {
    if (to.functions.empty() || to.functions.back() != function) to.functions.push_back(function);
    to.value += value;
  }

  Candidate& candidate(const ImageFacts& facts, ImageId image, bool inlined, StringId name) {
    const uint64_t key = uint64_t{image.value} << 33 | uint64_t{inlined} << 32 | name.value;
    const auto [at, is_new] = rows_.try_emplace(key, all_.size());
    if (is_new) {
      Candidate& one = all_.emplace_back();
      one.image = image;
      one.inlined = inlined;
      one.name = &facts.strings.text(name);
    }
    return all_[at->second];
  }

  CodeIndex& code_;
  const std::string& module_;
  std::unordered_map<uint64_t, size_t> rows_;  // of all_
  std::vector<Candidate> all_;
};

using Matcher = bool (*)(const Candidate&, const std::string&);

constexpr std::array<Matcher, 4> kMatchers = {
    [](const Candidate& c, const std::string& wanted) {
      const bool has_other = c.linkage_name != nullptr && !c.linkage_name->empty();
      return *c.name == wanted || (has_other && *c.linkage_name == wanted);
    },
    [](const Candidate& c, const std::string& wanted) {
      return without_parameters(*c.name) == wanted;
    },
    [](const Candidate& c, const std::string& wanted) { return is_called(*c.name, wanted); },
    [](const Candidate& c, const std::string& wanted) {
      return matches_pattern(*c.name, wanted) ||
             matches_pattern(without_parameters(*c.name), wanted);
    },
};

Error not_found(const WantedFunction& wanted, std::vector<Candidate> all) {
  std::sort(all.begin(), all.end(), comes_first);
  std::vector<std::string> names;
  for (const Candidate& one : all) names.emplace_back(without_parameters(*one.name));
  const std::string nearest = nearest_word(wanted.function, names);
  return Error{
      fmt::format("no function '{}' with samples{}{}\nsee: culprit report --by function",
                  printable(wanted.function),
                  wanted.module.empty() ? "" : " in module '" + printable(wanted.module) + "'",
                  nearest.empty() ? "" : " (did you mean " + printable(nearest) + "?)")};
}

std::vector<Candidate> find_matches(const std::vector<Candidate>& all, bool inlined,
                                    Matcher matches, const std::string& wanted) {
  std::vector<Candidate> matching;
  for (const Candidate& one : all) {
    if (one.inlined != inlined || one.name->empty() || !matches(one, wanted)) continue;
    matching.push_back(one);
  }
  std::sort(matching.begin(), matching.end(), comes_first);
  return matching;
}

FoundFunction tell(const CodeIndex& code, const std::vector<Candidate>& matching) {
  const Candidate& first = matching.front();
  FoundFunction found;
  found.image = first.image;
  found.name = *first.name;
  found.inlined = first.inlined;
  const std::set<uint32_t> functions(first.functions.begin(), first.functions.end());
  found.functions.assign(functions.begin(), functions.end());
  for (size_t i = 1; i < matching.size(); ++i) {
    found.others.push_back(
        fmt::format("{} ({})", *matching[i].name, base_name(code.module(matching[i].image))));
  }
  return found;
}

}  // namespace

Result<FoundFunction> find_function(CodeIndex& code, const WantedFunction& wanted) {
  Candidates candidates(code, wanted.module);
  candidates.add_all();
  const std::vector<Candidate> all = candidates.take();
  for (const bool inlined : {false, true}) {
    for (const Matcher matches : kMatchers) {
      const std::vector<Candidate> matching = find_matches(all, inlined, matches, wanted.function);
      if (!matching.empty()) return tell(code, matching);
    }
  }
  return not_found(wanted, all);
}

}  // namespace culprit
