#include "exports/one_function.h"

#include <array>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/text.h"
#include "exports/branch_image.h"
#include "model/counts.h"

namespace culprit {

namespace {

struct Candidate {
  OneFunction function;
  std::string linkage_name;
};

std::vector<Candidate> find_candidates(CodeIndex& code, const std::string& image) {
  const Profile& profile = code.profile();
  std::set<std::pair<ImageId, uint32_t>> found;
  const auto add = [&](const Location& at) {
    const uint32_t row = code.find(at).function;
    if (row != CodePlace::kNone) found.emplace(at.image, row);
  };
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t, const Sum&) { add(at); });
  }
  for (const BranchCount& branch : profile.branch_counts) {
    add(branch.from);
    add(branch.to);
  }
  std::vector<Candidate> candidates;
  for (const auto& [id, row] : found) {
    if (!image_matches(code, id, image)) continue;
    const ImageFacts& facts = *code.facts(id);
    const FunctionFact& fact = facts.functions[row];
    candidates.push_back(
        {{id, row, facts.strings.text(fact.name)}, facts.strings.text(fact.linkage_name)});
  }
  return candidates;
}

using Matcher = bool (*)(const Candidate&, const std::string&);

constexpr std::array<Matcher, 4> kMatchers = {
    [](const Candidate& c, const std::string& wanted) {
      return c.function.name == wanted || (!c.linkage_name.empty() && c.linkage_name == wanted);
    },
    [](const Candidate& c, const std::string& wanted) {
      return without_parameters(c.function.name) == wanted;
    },
    [](const Candidate& c, const std::string& wanted) {
      return is_called(c.function.name, wanted);
    },
    [](const Candidate& c, const std::string& wanted) {
      return matches_pattern(c.function.name, wanted) ||
             matches_pattern(without_parameters(c.function.name), wanted);
    },
};

Error several(CodeIndex& code, const std::string& name, const std::vector<Candidate>& matches) {
  constexpr size_t kMost = 20;
  std::string message = fmt::format(
      "'{}' means {} functions; choose one by its full name or --image:", printable(name),
      matches.size());
  for (size_t i = 0; i < matches.size() && i < kMost; ++i) {
    const OneFunction& one = matches[i].function;
    const FunctionFact& fact = code.facts(one.image)->functions[one.row];
    message +=
        fmt::format("\n  {}   {} at {:#x}", printable(one.name), printable(code.module(one.image)),
                    code.link_address({one.image, fact.begin}).value);
  }
  if (matches.size() > kMost) message += "\n  ...";
  return Error{message, ErrorKind::not_found};
}

Error none(const std::string& name, const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& one : candidates) names.emplace_back(without_parameters(one.function.name));
  const std::string nearest = nearest_word(name, names);
  return Error{fmt::format("no function '{}' with counts{}\nsee: culprit report --by function",
                           printable(name),
                           nearest.empty() ? "" : " (did you mean " + printable(nearest) + "?)"),
               ErrorKind::not_found};
}

}  // namespace

Result<OneFunction> find_one_function(CodeIndex& code, const std::string& name,
                                      const std::string& image) {
  const std::vector<Candidate> candidates = find_candidates(code, image);
  for (const Matcher matches : kMatchers) {
    std::vector<Candidate> found;
    for (const Candidate& one : candidates) {
      if (!one.function.name.empty() && matches(one, name)) found.push_back(one);
    }
    if (found.size() > 1) return several(code, name, found);
    if (found.size() == 1) return found.front().function;
  }
  return none(name, candidates);
}

}  // namespace culprit
