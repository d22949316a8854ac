#include "session/joined_stacks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "base/text.h"
#include "model/counts.h"
#include "model/stacks_beside.h"

namespace culprit {

namespace {

/// A function, and who was in it: stacks know no more of that than the command's name.
struct Place {
  StringId process;
  Mode mode = Mode::all;
  ImageId image;
  uint32_t function = CodePlace::kNone;
  FileOffset offset;  // of code without a name
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The stacks of a place, each once, with what they hold of it.
struct Callers {
  std::map<StackId, uint64_t> values;  // by the innermost call; all: nobody called it
  uint64_t value = 0;
  uint64_t samples = 0;
};

struct CountedPlace {
  Location location;
  Sum sum;
};

class StackJoin {
 public:
  StackJoin(Profile& profile, const FactsLookup& facts) : profile_(profile), code_(profile, facts) {
    for (size_t i = 0; i < profile.stacks.size(); ++i) {
      nodes_.try_emplace(profile.stacks[i], StackId(i));
    }
  }

  void join() {
    collect_callers();
    std::map<std::pair<ContextId, Place>, std::vector<CountedPlace>> counted;
    for (const Histogram& histogram : profile_.histograms) {
      for_each_count(profile_, histogram, [&](const Location& at, size_t event, const Sum& sum) {
        if (event != 0) return;
        const Place place = place_of(histogram.context, at);
        if (callers_.contains(place)) counted[{histogram.context, place}].push_back({at, sum});
      });
    }
    for (const auto& [key, places] : counted) {
      share(key.first, callers_.at(key.second), places);
    }
    std::ranges::sort(joined_);
    profile_.stack_counts = std::move(joined_);
  }

 private:
  Place place_of(ContextId context, const Location& at) {
    Place place;
    if (const Context* const row = find_row(profile_.contexts, context)) {
      place.mode = row->mode;
      const Process* const process = find_row(profile_.processes, row->process);
      if (process != nullptr) place.process = process->name;
    }
    place.image = at.image;
    place.function = code_.find(at).function;
    if (place.function == CodePlace::kNone) place.offset = at.offset;
    return place;
  }

  void collect_callers() {
    for_each_stack_count(profile_, [&](const StackCount& count, size_t event, const Sum& sum) {
      if (event != 0) return;
      const StackNode& leaf = profile_.stacks[count.stack.value];
      Callers& callers = callers_[place_of(count.context, leaf.location)];
      callers.values[leaf.parent] += sum.value;
      callers.value += sum.value;
      callers.samples += sum.samples;
    });
  }

  /// Callers have their shares one after the other, places their counts: a piece is of one of each.
  void share(ContextId context, const Callers& callers, const std::vector<CountedPlace>& places) {
    if (callers.value == 0 || callers.samples == 0) return;
    uint64_t all = 0;
    for (const CountedPlace& place : places) all += place.sum.value;
    // What a sampled stack stands for: pieces of it have their part of its variance.
    const double of_sample = static_cast<double>(all) / static_cast<double>(callers.samples);
    auto place = places.begin();
    uint64_t taken = 0;          // of the place at hand
    uint64_t samples_taken = 0;  // likewise
    uint64_t given = 0;
    uint64_t shares = 0;
    for (const auto& [caller, value] : callers.values) {
      shares += value;
      const auto end =
          static_cast<uint64_t>(static_cast<long double>(all) * static_cast<long double>(shares) /
                                static_cast<long double>(callers.value));
      const uint64_t limit = shares == callers.value ? all : std::min(end, all);
      while (given < limit && place != places.end()) {
        const uint64_t piece = std::min(limit - given, place->sum.value - taken);
        taken += piece;
        given += piece;
        const auto samples = static_cast<uint64_t>(
            static_cast<long double>(place->sum.samples) * static_cast<long double>(taken) /
            static_cast<long double>(std::max<uint64_t>(place->sum.value, 1)));
        const uint64_t now = taken == place->sum.value ? place->sum.samples : samples;
        if (piece > 0) {
          const double variance = static_cast<double>(piece) * of_sample;
          joined_.push_back({context,
                             intern({caller, place->location}),
                             {EventId(0u), now - std::min(now, samples_taken), piece, variance}});
        }
        samples_taken = now;
        if (taken < place->sum.value) break;
        ++place;
        taken = samples_taken = 0;
      }
    }
  }

  StackId intern(const StackNode& node) {
    const auto [at, is_new] = nodes_.try_emplace(node, StackId(profile_.stacks.size()));
    if (is_new) profile_.stacks.push_back(node);
    return at->second;
  }

  Profile& profile_;
  CodeIndex code_;
  std::map<StackNode, StackId> nodes_;
  std::map<Place, Callers> callers_;
  std::vector<StackCount> joined_;
};

}  // namespace

void join_stacks(Profile& profile, const FactsLookup& facts) {
  const std::optional<uint64_t> samples = count_stacks_beside(profile);
  if (!samples || profile.events.empty()) return;
  StackJoin(profile, facts).join();
  if (profile.stack_counts.empty()) return;
  profile.ledger.note(fmt::format(
      "who calls a function is known from {} call stacks beside the counts: errors of what is "
      "called are theirs, and the lines of a function share its callers",
      format_thousands(*samples)));
}

}  // namespace culprit
