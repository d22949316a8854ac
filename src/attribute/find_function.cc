// A name is tried as it is first, then without parameters, then as people call it, then as that of
// a variant ("strlen": __strlen_evex), then as a pattern; symbols before inlined code. The first
// step that finds something with counts decides.

#include "attribute/find_function.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "attribute/variant_family.h"
#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"

namespace culprit {

/// One name in one image, as a symbol or as inlined code. There may be very many: texts
/// stay in the facts.
struct FunctionCandidate {
  ImageId image;
  bool inlined = false;
  const std::string* name = nullptr;
  const std::string* linkage_name = nullptr;  // of a symbol
  std::vector<uint32_t> functions;            // in order of first count, perhaps twice
  uint64_t value = 0;
};

namespace {

using Candidate = FunctionCandidate;

using CandidateList = FunctionFinder::CandidateList;

bool comes_first(const Candidate* a, const Candidate* b) {
  return std::tie(b->value, *a->name, a->image) < std::tie(a->value, *b->name, b->image);
}

/// Which functions of an image are looked at, and where their code is.
struct Mentions {
  std::vector<bool> names;               // by string: it has the word
  std::vector<bool> functions;           // by string: it names a symbol that is looked at
  std::vector<CodeIndex::Range> ranges;  // ascending, apart from each other

  [[nodiscard]] static bool has(const std::vector<bool>& set, StringId name) {
    return name.value < set.size() && set[name.value];
  }
};

std::vector<CodeIndex::Range> join(std::vector<CodeIndex::Range> ranges) {
  const auto begins_before = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), begins_before)) {
    std::sort(ranges.begin(), ranges.end(), begins_before);
  }
  std::vector<CodeIndex::Range> joined;
  for (const CodeIndex::Range& range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

Mentions find_mentions(const ImageFacts& facts, std::string_view word) {
  Mentions mentions;
  mentions.names.resize(facts.strings.size());
  for (size_t id = 0; id < mentions.names.size(); ++id) {
    mentions.names[id] = facts.strings.text(StringId(id)).find(word) != std::string::npos;
  }
  mentions.functions = mentions.names;  // and those whose linkage name has it
  for (const FunctionFact& function : facts.functions) {
    const bool has_word = Mentions::has(mentions.names, function.linkage_name);
    if (has_word && function.name.value < mentions.functions.size()) {
      mentions.functions[function.name.value] = true;
    }
  }
  if (word.empty()) {
    mentions.ranges = {{FileOffset(0), FileOffset(UINT64_MAX)}};
    return mentions;
  }
  std::vector<CodeIndex::Range> ranges;
  for (const FunctionFact& function : facts.functions) {
    if (Mentions::has(mentions.functions, function.name)) {
      ranges.push_back({function.begin, function.end});
    }
  }
  for (const InlineFact& call : facts.inlines) {
    if (Mentions::has(mentions.names, call.name)) ranges.push_back({call.begin, call.end});
  }
  mentions.ranges = join(std::move(ranges));
  return mentions;
}

/// The first row at or behind `offset`, of those from `row` on. Looks near first: there may be as
/// many ranges as rows.
size_t find_row_from(const std::vector<FileOffset>& offsets, size_t row, FileOffset offset) {
  size_t step = 1;
  while (row + step < offsets.size() && offsets[row + step] < offset) step *= 2;
  const auto first = offsets.begin() + static_cast<std::ptrdiff_t>(row);
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(step + 1, offsets.size() - row));
  return static_cast<size_t>(std::lower_bound(first, last, offset) - offsets.begin());
}

/// Adds the counts at each location to its symbol, and to all that is inlined there.
class Candidates {
 public:
  Candidates(CodeIndex& code, std::string_view word) : code_(code), word_(word) {}

  void add_all() {
    const Profile& profile = code_.profile();
    for (const Histogram& histogram : profile.histograms) {
      Attributor* attributor = code_.attributor(histogram.image);
      if (attributor == nullptr) continue;
      const Mentions& mentions = mentions_of(histogram.image, attributor->facts());
      const auto visit = [&](const Location& at, size_t event, const Sum& sum) {
        if (event == 0) add(*attributor, mentions, at, sum.value);
      };
      size_t row = 0;
      for (const CodeIndex::Range& range : mentions.ranges) {
        row = find_row_from(histogram.offsets, row, range.begin);
        for (; row < histogram.offsets.size() && histogram.offsets[row] < range.end; ++row) {
          visit_row(profile, histogram, row, visit);
        }
      }
    }
  }

  [[nodiscard]] std::vector<Candidate> take() { return std::move(all_); }

 private:
  const Mentions& mentions_of(ImageId image, const ImageFacts& facts) {
    const auto [at, is_new] = mentions_.try_emplace(image);
    if (is_new) at->second = find_mentions(facts, word_);
    return at->second;
  }

  void add(Attributor& attributor, const Mentions& mentions, const Location& at, uint64_t value) {
    const ImageFacts& facts = attributor.facts();
    const CodePlace place = attributor.find(at.offset);
    if (place.function == CodePlace::kNone) return;
    const FunctionFact& function = facts.functions[place.function];
    if (Mentions::has(mentions.functions, function.name)) {
      Candidate& symbol = candidate(facts, at.image, false, function.name);
      symbol.linkage_name = &facts.strings.text(function.linkage_name);
      add(place.function, value, symbol);
    }
    std::vector<StringId> seen;  // recursion inlined into itself counts once
    for (uint32_t row = place.inlined; row != CodePlace::kNone;
         row = attributor.inlined_into(row)) {
      const StringId name = facts.inlines[row].name;
      if (!Mentions::has(mentions.names, name)) continue;
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
    const size_t table = 2 * size_t{image.value} + (inlined ? 1 : 0);
    if (table >= rows_.size()) rows_.resize(table + 1);
    std::vector<uint32_t>& rows = rows_[table];
    if (rows.empty()) rows.resize(facts.strings.size(), kNone);
    uint32_t& row = rows[name.value];
    if (row == kNone) {
      row = static_cast<uint32_t>(all_.size());
      Candidate& one = all_.emplace_back();
      one.image = image;
      one.inlined = inlined;
      one.name = &facts.strings.text(name);
    }
    return all_[row];
  }

  static constexpr uint32_t kNone = UINT32_MAX;
  CodeIndex& code_;
  std::string_view word_;
  std::map<ImageId, Mentions> mentions_;
  // Rows of all_, by the image's own strings: there may be hundreds of thousands of names.
  std::vector<std::vector<uint32_t>> rows_;
  std::vector<Candidate> all_;
};

using Matcher = bool (*)(const Candidate&, const std::string&);

constexpr std::array<Matcher, 5> kMatchers = {
    [](const Candidate& c, const std::string& wanted) {
      const bool has_other = c.linkage_name != nullptr && !c.linkage_name->empty();
      return *c.name == wanted || (has_other && *c.linkage_name == wanted);
    },
    [](const Candidate& c, const std::string& wanted) {
      return c.name->starts_with(wanted) && without_parameters(*c.name) == wanted;
    },
    [](const Candidate& c, const std::string& wanted) { return is_called(*c.name, wanted); },
    [](const Candidate& c, const std::string& wanted) { return is_variant_of(*c.name, wanted); },
    [](const Candidate& c, const std::string& wanted) {
      return matches_pattern(*c.name, wanted) ||
             matches_pattern(without_parameters(*c.name), wanted);
    },
};

Error not_found(const WantedFunction& wanted, CandidateList all) {
  std::sort(all.begin(), all.end(), comes_first);
  std::vector<std::string> names;
  for (const Candidate* one : all) names.emplace_back(without_parameters(*one->name));
  const std::string nearest = nearest_word(wanted.function, names);
  return Error{
      fmt::format("no function '{}' with samples{}{}\nsee: culprit report --by function",
                  printable(wanted.function),
                  wanted.module.empty() ? "" : " in module '" + printable(wanted.module) + "'",
                  nearest.empty() ? "" : " (did you mean " + printable(nearest) + "?)"),
      ErrorKind::not_found};
}

/// Finds the images that a pattern of modules means.
std::vector<bool> find_images(const CodeIndex& code, const std::string& module) {
  std::vector<bool> wanted;
  for (size_t image = 0; image < code.profile().images.size(); ++image) {
    const std::string path = code.module(ImageId(image));
    wanted.push_back(module.empty() || matches_pattern(path, module) ||
                     matches_pattern(base_name(path), module));
  }
  return wanted;
}

CandidateList list_matches(const CandidateList& all, bool inlined, Matcher matches,
                           const std::string& wanted, const std::vector<bool>& images) {
  CandidateList matching;
  for (const Candidate* one : all) {
    if (one->inlined != inlined || one->name->empty()) continue;
    if (one->image.value >= images.size() || !images[one->image.value]) continue;
    if (matches(*one, wanted)) matching.push_back(one);
  }
  return matching;
}

/// What the first step finds that finds something, in no order.
CandidateList find_matches(const CodeIndex& code, const CandidateList& all,
                           const WantedFunction& wanted) {
  const std::vector<bool> images = find_images(code, wanted.module);
  for (const bool inlined : {false, true}) {
    for (const Matcher matches : kMatchers) {
      CandidateList matching = list_matches(all, inlined, matches, wanted.function, images);
      if (!matching.empty()) return matching;
    }
  }
  return {};
}

Result<FoundFunction> tell(const CodeIndex& code, const CandidateList& matching, size_t copy) {
  if (copy == 0 || copy > matching.size()) {
    return Error{
        fmt::format("there {} of that name with samples: --copy takes 1 to {}",
                    matching.size() == 1 ? "is 1 function"
                                         : fmt::format("are {} functions", matching.size()),
                    matching.size()),
        ErrorKind::not_found};
  }
  const Candidate& chosen = *matching[copy - 1];
  FoundFunction found;
  found.image = chosen.image;
  found.name = *chosen.name;
  found.inlined = chosen.inlined;
  const std::set<uint32_t> functions(chosen.functions.begin(), chosen.functions.end());
  found.functions.assign(functions.begin(), functions.end());
  for (size_t i = 0; i < matching.size(); ++i) {
    if (i + 1 == copy) continue;
    found.others.push_back({i + 1, fmt::format("{} ({})", *matching[i]->name,
                                               base_name(code.module(matching[i]->image)))});
  }
  return found;
}

}  // namespace

FunctionFinder::FunctionFinder(CodeIndex& code, std::string_view word) : code_(code) {
  Candidates candidates(code, word);
  candidates.add_all();
  all_ = candidates.take();
  for (const Candidate& one : all_) list_.push_back(&one);
}

FunctionFinder::~FunctionFinder() = default;

Result<FoundFunction> FunctionFinder::find(const WantedFunction& wanted) const {
  CandidateList matching = find_matches(code_, list_, wanted);
  if (matching.empty()) return not_found(wanted, list_);
  std::sort(matching.begin(), matching.end(), comes_first);
  return tell(code_, matching, wanted.copy);
}

std::optional<FunctionMatch> FunctionFinder::match(const WantedFunction& wanted) const {
  CandidateList matching = find_matches(code_, list_, wanted);
  if (wanted.copy == 0 || wanted.copy > matching.size()) return std::nullopt;
  const auto chosen = matching.begin() + static_cast<std::ptrdiff_t>(wanted.copy - 1);
  std::nth_element(matching.begin(), chosen, matching.end(), comes_first);
  return FunctionMatch{(*chosen)->image, (*chosen)->name, (*chosen)->inlined, matching.size()};
}

}  // namespace culprit
