// A name is tried as it is first, then without parameters, then as people call it, then
// as a pattern; symbols
// before inlined code. The first step that finds something with counts decides.

#include "report/find_function.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"

namespace culprit {

namespace {

/// One name in one image, as a symbol or as inlined code.
struct Candidate {
  ImageId image;
  std::string name;
  std::string linkage_name;
  bool inlined = false;
  std::set<uint32_t> functions;
  uint64_t value = 0;
};

using CandidateKey = std::tuple<ImageId, bool, StringId>;

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

  [[nodiscard]] std::vector<Candidate> take() {
    std::vector<Candidate> all;
    for (auto& [key, candidate] : found_) all.push_back(std::move(candidate));
    std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(b.value, a.name, a.image) < std::tie(a.value, b.name, b.image);
    });
    return all;
  }

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
    symbol.linkage_name = facts.strings.text(function.linkage_name);
    symbol.functions.insert(place.function);
    symbol.value += value;
    std::vector<StringId> seen;  // recursion inlined into itself counts once
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor.inlined_into(row)) {
      const StringId name = facts.inlines[row].name;
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) continue;
      seen.push_back(name);
      Candidate& copy = candidate(facts, at.image, true, name);
      copy.functions.insert(place.function);
      copy.value += value;
    }
  }

  Candidate& candidate(const ImageFacts& facts, ImageId image, bool inlined, StringId name) {
    Candidate& one = found_[{image, inlined, name}];
    if (one.image.is_all()) {
      one.image = image;
      one.inlined = inlined;
      one.name = facts.strings.text(name);
    }
    return one;
  }

  CodeIndex& code_;
  const std::string& module_;
  std::map<CandidateKey, Candidate> found_;
};

using Matcher = bool (*)(const Candidate&, const std::string&);

constexpr std::array<Matcher, 4> kMatchers = {
    [](const Candidate& c, const std::string& wanted) {
      return c.name == wanted || (!c.linkage_name.empty() && c.linkage_name == wanted);
    },
    [](const Candidate& c, const std::string& wanted) {
      return without_parameters(c.name) == wanted;
    },
    [](const Candidate& c, const std::string& wanted) { return is_called(c.name, wanted); },
    [](const Candidate& c, const std::string& wanted) {
      return matches_pattern(c.name, wanted) || matches_pattern(without_parameters(c.name), wanted);
    },
};

Error not_found(const AnnotateOptions& options, const std::vector<Candidate>& all) {
  std::vector<std::string> names;
  for (const Candidate& one : all) names.emplace_back(without_parameters(one.name));
  const std::string nearest = nearest_word(options.function, names);
  return Error{
      fmt::format("no function '{}' with samples{}{}\nsee: culprit report --by function",
                  printable(options.function),
                  options.module.empty() ? "" : " in module '" + printable(options.module) + "'",
                  nearest.empty() ? "" : " (did you mean " + printable(nearest) + "?)")};
}

}  // namespace

Result<FoundFunction> find_function(CodeIndex& code, const AnnotateOptions& options) {
  Candidates candidates(code, options.module);
  candidates.add_all();
  const std::vector<Candidate> all = candidates.take();
  for (const bool inlined : {false, true}) {
    for (const Matcher matches : kMatchers) {
      FoundFunction found;
      for (const Candidate& one : all) {
        if (one.inlined != inlined || one.name.empty() || !matches(one, options.function)) continue;
        if (found.functions.empty()) {
          found.image = one.image;
          found.name = one.name;
          found.inlined = inlined;
          found.functions.assign(one.functions.begin(), one.functions.end());
        } else {
          found.others.push_back(
              fmt::format("{} ({})", one.name, base_name(code.module(one.image))));
        }
      }
      if (!found.functions.empty()) return found;
    }
  }
  return not_found(options, all);
}

}  // namespace culprit
