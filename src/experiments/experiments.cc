#include "experiments/experiments.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <sched.h>
#include <utility>

#include "base/file.h"
#include "collect/timer/posix_timer_check.h"
#include "model/builder.h"
#include "model/counts.h"
#include "model/profile_merger.h"
#include "recording/rerun_streams.h"
#include "recording/scoped_environment.h"
#include "stats/robust.h"

namespace culprit {
namespace {

constexpr uint32_t kMostRounds = 5;  // the range of five pairs holds the median in 94 % of cases
constexpr uint32_t kFirstRounds = 3;

double sum_events(const Profile& profile, std::initializer_list<std::string_view> names) {
  std::vector<bool> wanted(profile.events.size());
  for (size_t event = 0; event < wanted.size(); ++event) {
    const std::string& name = profile.strings.text(profile.events[event].name);
    for (const std::string_view one : names) wanted[event] = wanted[event] || name == one;
  }
  double sum = 0;
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location&, size_t event, const Sum& count) {
      if (wanted[event]) sum += static_cast<double>(count.value);
    });
  }
  return sum;
}

/// Whether threads ran at once, and took lines from each other.
bool may_collide(const Profile& both) {
  constexpr double kAtOnce = 1.1;  // CPU time of wall time
  constexpr double kWorthAsking = 1000;
  const Run& run = both.runs.front();
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < 2) return false;
  const auto wall_ns = static_cast<double>(run.duration_ns);
  if (static_cast<double>(run.cpu_time_ns.value_or(0)) < kAtOnce * wall_ns) return false;
  return sum_events(both, {"other-core-modified-loads", "other-core-modified-stores"}) >=
         kWorthAsking;
}

/// Whether floating-point values are a part of the work.
bool has_floats(const Profile& both) {
  constexpr double kMuch = 0.02;  // of the instructions
  return sum_events(both, {"fp-loads", "fp-stores"}) >= kMuch * sum_events(both, {"instructions"});
}

/// One CPU, the first that we may run on, for what we start.
class OneCpu {
 public:
  OneCpu() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;
  ~OneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

/// A run of an experiment: its profile has one event, and its user time as a count of it.
struct RunAgain {
  RunAgain() = default;
  RunAgain(RunAgain&&) = default;  // files are not copied

  Profile profile;
  std::map<ImageId, Fd> held;
  int64_t user_ns = 0;
};

/// User code of files: what is made at run time is at another place in each run.
bool has_places(const Profile& profile, ImageId image) {
  if (image.value >= profile.images.size()) return false;
  const ImageKind kind = profile.images[image.value].kind;
  return kind == ImageKind::program || kind == ImageKind::library || kind == ImageKind::vdso;
}

RunAgain keep_user_time(Recording recording, std::string_view event_name, uint32_t round) {
  const Profile& all = recording.profile;
  RunAgain run;
  run.held = std::move(recording.held);
  run.user_ns =
      recording.run().cpu_time_ns.value_or(0) - recording.run().use.system_time_ns.value_or(0);
  ProfileBuilder builder;
  builder.profile().strings = all.strings;
  builder.profile().images = all.images;
  Context user;
  user.mode = Mode::user;
  const ContextId context = builder.intern_context(user);
  std::optional<size_t> time;
  for (size_t event = 0; event < all.events.size() && !time; ++event) {
    const Event& one = all.events[event];
    if (one.unit == Unit::ns && one.provenance == Provenance::sampled) time = event;
  }
  Event event;
  if (time) event = all.events[*time];
  event.name = builder.intern(event_name);
  builder.profile().events = {event};
  constexpr EventId kTime(uint32_t{0});
  for (const Histogram& histogram : all.histograms) {
    const size_t of = histogram.context.value;
    const bool is_user = of < all.contexts.size() && all.contexts[of].mode == Mode::user;
    if (!time || !is_user || !has_places(all, histogram.image)) continue;
    for (const EventColumn& column : histogram.columns) {
      if (column.event.value != *time) continue;
      for (size_t row = 0; row < histogram.offsets.size(); ++row) {
        if (column.samples_at(row) == 0) continue;
        builder.add(context, {histogram.image, histogram.offsets[row]}, kTime,
                    column.samples_at(row), column.value[row]);
      }
    }
  }
  builder.take_counts();
  run.profile = builder.profile();
  Count user_time;
  user_time.context = context;
  user_time.event = kTime;
  user_time.repetition = round;
  user_time.value = static_cast<uint64_t>(std::max<int64_t>(0, run.user_ns));
  user_time.time_enabled_ns = user_time.time_running_ns = user_time.value;
  run.profile.counts.push_back(user_time);
  return run;
}

/// An experiment that goes on, and the runs that it has.
struct UnderWay {
  const ExperimentKind* kind;
  std::string library;
  std::vector<RunAgain> runs;  // by round
};

class Experiments {
 public:
  Experiments(const ExperimentOptions& options, Recording& both)
      : options_(options), both_(both), sampling_(options.sampling) {
    sampling_.flush_every_ns = uint64_t{1} << 60;  // one piece at the end
  }

  /// Rounds: each a run as it is, and one of each experiment.
  void run(const std::vector<const ExperimentKind*>& experiments);

 private:
  void not_tried(const ExperimentKind& kind, std::string_view why) {
    both_.profile.ledger.note(fmt::format("not tried {}: {}", kind.change, why));
  }
  [[nodiscard]] std::vector<UnderWay> prepare(
      const std::vector<const ExperimentKind*>& experiments);
  [[nodiscard]] bool may_go_on(const UnderWay& one) const;
  Result<RunAgain> run_once(const UnderWay* changed, uint32_t round);
  Result<void> run_round(uint32_t round, std::vector<UnderWay>& all);
  void add(std::vector<RunAgain> runs);

  const ExperimentOptions& options_;
  Recording& both_;
  RecordOptions sampling_;
  std::vector<RunAgain> as_it_is_;  // by round
};

std::vector<UnderWay> Experiments::prepare(const std::vector<const ExperimentKind*>& experiments) {
  std::vector<UnderWay> all;
  const auto runs_of_a_round = static_cast<int64_t>(experiments.size()) + 1;
  const int64_t least_ns = kFirstRounds * runs_of_a_round * both_.profile.runs.front().duration_ns;
  for (const ExperimentKind* const kind : experiments) {
    std::string library = options_.find_library(kind->key);
    if (library.empty()) {
      not_tried(*kind, "a library of culprit's is not beside it");
    } else if (least_ns > options_.most_ns) {
      not_tried(*kind, "it would take longer than what was simulated");
    } else {
      all.push_back({kind, std::move(library), {}});
    }
  }
  return all;
}

/// `changed` null: as it is.
Result<RunAgain> Experiments::run_once(const UnderWay* changed, uint32_t round) {
  const RerunStreams streams(options_.input_start, RerunStreams::Errors::hidden);
  std::map<std::string, std::string> variables;
  if (changed != nullptr) variables["LD_PRELOAD"] = preload_first(changed->library);
  const ScopedEnvironment environment(variables);
  std::optional<OneCpu> one_cpu;
  if (changed != nullptr && changed->kind->experiment == Experiment::one_cpu) one_cpu.emplace();
  ASSIGN_OR_RETURN(Recording recording,
                   record(
                       sampling_, [](const Profile&) -> Result<void> { return {}; },
                       [](const RecordProgress&) {}));
  if (recording.interrupted) return Error{"it was interrupted"};
  if (recording.command_wait_status != both_.command_wait_status) {
    return Error{"the command ends in another way then"};
  }
  const std::string event =
      changed == nullptr ? std::string(kAsItIsTime) : experiment_event(*changed->kind);
  return keep_user_time(std::move(recording), event, round);
}

/// What saves nothing in the first rounds ends with them.
bool Experiments::may_go_on(const UnderWay& one) const {
  constexpr double kNothing = 0.01;
  if (one.runs.size() < kFirstRounds) return true;
  std::vector<double> saved;
  for (size_t i = 0; i < one.runs.size(); ++i) {
    const auto as_it_is = static_cast<double>(std::max<int64_t>(1, as_it_is_[i].user_ns));
    saved.push_back(1 - static_cast<double>(one.runs[i].user_ns) / as_it_is);
  }
  return compute_median(saved) >= kNothing;
}

/// Errors: there is nothing to compare with
Result<void> Experiments::run_round(uint32_t round, std::vector<UnderWay>& all) {
  ASSIGN_OR_RETURN(RunAgain as_it_is, run_once(nullptr, round));
  as_it_is_.push_back(std::move(as_it_is));
  for (auto one = all.begin(); one != all.end();) {
    if (one->runs.size() < round || !may_go_on(*one)) {
      ++one;
      continue;
    }
    Result<RunAgain> changed = run_once(&*one, round);
    if (changed) {
      one->runs.push_back(*std::move(changed));
      ++one;
    } else {
      not_tried(*one->kind, changed.error().message);
      one = all.erase(one);
    }
  }
  return {};
}

void Experiments::run(const std::vector<const ExperimentKind*>& experiments) {
  std::vector<UnderWay> all = prepare(experiments);
  int64_t spent_ns = 0;
  for (uint32_t round = 0; round < kMostRounds; ++round) {
    const auto goes_on = std::ranges::count_if(
        all, [&](const UnderWay& one) { return one.runs.size() == round && may_go_on(one); });
    spent_ns += (goes_on + 1) * both_.profile.runs.front().duration_ns;
    if (goes_on == 0 || spent_ns > options_.most_ns) break;
    if (options_.show) options_.show(round + 1, kMostRounds);
    if (const Result<void> done = run_round(round, all); !done) {
      for (const UnderWay& one : all) not_tried(*one.kind, done.error().message);
      return;
    }
  }
  if (all.empty()) return;
  add(std::move(as_it_is_));
  for (UnderWay& one : all) add(std::move(one.runs));
}

/// What names rows of the recording keeps its ids.
void Experiments::add(std::vector<RunAgain> runs) {
  const Machine machine = both_.profile.machine;
  ProfileMerger merger(std::move(both_.profile));
  for (RunAgain& run : runs) {
    run.profile.machine = machine;
    const std::vector<ImageId> became = merger.add(run.profile);
    for (auto& [image, file] : run.held) {
      both_.held.try_emplace(became[image.value], std::move(file));
    }
  }
  both_.profile = merger.take();
}

}  // namespace

std::vector<const ExperimentKind*> choose_experiments(const Profile& both) {
  std::vector<const ExperimentKind*> chosen;
  if (both.runs.empty()) return chosen;
  for (const ExperimentKind& kind : kExperiments) {
    const bool may_tell =
        kind.experiment == Experiment::one_cpu ? may_collide(both) : has_floats(both);
    if (may_tell) chosen.push_back(&kind);
  }
  return chosen;
}

void run_experiments(const std::vector<const ExperimentKind*>& experiments,
                     const ExperimentOptions& options, Recording& both) {
  if (experiments.empty()) return;
  if (const Result<void> loads = check_preloadable(options.sampling.command); !loads) {
    both.profile.ledger.note("no experiments: " + loads.error().message);
    return;
  }
  Experiments(options, both).run(experiments);
}

}  // namespace culprit
