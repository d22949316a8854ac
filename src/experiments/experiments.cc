#include "experiments/experiments.h"

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

namespace culprit {
namespace {

constexpr size_t kMostPairs = 5;   // the range of five holds the median of many in 94 % of cases
constexpr size_t kFirstPairs = 3;  // after which what saves nothing ends

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
  int wait_status = 0;
  bool interrupted = false;
};

/// User code of files: what is made at run time is at another place in each run.
bool has_places(const Profile& profile, ImageId image) {
  if (image.value >= profile.images.size()) return false;
  const ImageKind kind = profile.images[image.value].kind;
  return kind == ImageKind::program || kind == ImageKind::library || kind == ImageKind::vdso;
}

RunAgain keep_user_time(Recording recording, std::string_view event_name, uint32_t pair) {
  const Profile& all = recording.profile;
  RunAgain run;
  run.held = std::move(recording.held);
  run.wait_status = recording.command_wait_status;
  run.interrupted = recording.interrupted;
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
        if (column.samples[row] == 0) continue;
        builder.add(context, {histogram.image, histogram.offsets[row]}, kTime, column.samples[row],
                    column.value[row]);
      }
    }
  }
  builder.take_counts();
  run.profile = builder.profile();
  Count user_time;
  user_time.context = context;
  user_time.event = kTime;
  user_time.repetition = pair;
  user_time.value = static_cast<uint64_t>(std::max<int64_t>(0, run.user_ns));
  user_time.time_enabled_ns = user_time.time_running_ns = user_time.value;
  run.profile.counts.push_back(user_time);
  return run;
}

class Experiments {
 public:
  Experiments(const ExperimentOptions& options, Recording& both)
      : options_(options), both_(both), sampling_(options.sampling) {
    sampling_.flush_every_ns = uint64_t{1} << 60;  // one piece at the end
  }

  Result<void> run(const std::vector<const ExperimentKind*>& experiments) {
    for (const ExperimentKind* const kind : experiments) RETURN_IF_ERROR(run(*kind));
    return {};
  }

 private:
  Result<void> run(const ExperimentKind& kind);
  Result<RunAgain> run_once(const ExperimentKind* kind, const std::string& library, uint32_t pair);
  void add(std::vector<RunAgain> runs);

  const ExperimentOptions& options_;
  Recording& both_;
  RecordOptions sampling_;
  uint32_t first_pair_ = 0;  // of the next experiment: pairs are told apart in one profile
};

/// `kind` null: as it is.
Result<RunAgain> Experiments::run_once(const ExperimentKind* kind, const std::string& library,
                                       uint32_t pair) {
  const RerunStreams streams(options_.input_start, RerunStreams::Errors::hidden);
  std::map<std::string, std::string> variables;
  if (kind != nullptr) variables["LD_PRELOAD"] = preload_first(library);
  const ScopedEnvironment environment(variables);
  std::optional<OneCpu> one_cpu;
  if (kind != nullptr && kind->experiment == Experiment::one_cpu) one_cpu.emplace();
  ASSIGN_OR_RETURN(Recording recording,
                   record(
                       sampling_, [](const Profile&) -> Result<void> { return {}; },
                       [](const RecordProgress&) {}));
  return keep_user_time(std::move(recording),
                        kind == nullptr ? std::string(kAsItIsTime) : experiment_event(*kind), pair);
}

double median_saved(const std::vector<RunAgain>& runs) {
  std::vector<double> saved;
  for (size_t i = 0; i + 1 < runs.size(); i += 2) {
    const auto as_it_is = static_cast<double>(std::max<int64_t>(1, runs[i].user_ns));
    saved.push_back(1 - static_cast<double>(runs[i + 1].user_ns) / as_it_is);
  }
  std::ranges::sort(saved);
  return saved.empty() ? 0 : saved[saved.size() / 2];
}

Result<void> Experiments::run(const ExperimentKind& kind) {
  constexpr double kNothing = 0.01;
  Ledger& ledger = both_.profile.ledger;
  const auto not_tried = [&](std::string_view why) {
    ledger.note(fmt::format("not tried {}: {}", kind.change, why));
    return Result<void>();
  };
  const std::string library = options_.find_library(kind.key);
  if (library.empty()) return not_tried("a library of culprit's is not beside it");
  const int64_t pair_ns = 2 * both_.profile.runs.front().duration_ns;
  if (static_cast<int64_t>(kFirstPairs) * pair_ns > options_.most_ns) {
    return not_tried("it would take longer than what was simulated");
  }
  std::vector<RunAgain> runs;
  for (uint32_t pair = 0; pair < kMostPairs; ++pair) {
    if (static_cast<int64_t>(pair + 1) * pair_ns > options_.most_ns) break;
    if (pair == kFirstPairs && median_saved(runs) < kNothing) break;
    if (options_.show) options_.show(kind, pair + 1, kMostPairs);
    for (const ExperimentKind* const one : {static_cast<const ExperimentKind*>(nullptr), &kind}) {
      ASSIGN_OR_RETURN(RunAgain run, run_once(one, library, first_pair_ + pair));
      if (run.interrupted) return not_tried("it was interrupted");
      if (run.wait_status != both_.command_wait_status) {
        return not_tried("the command ends in another way then");
      }
      runs.push_back(std::move(run));
    }
  }
  first_pair_ += kMostPairs;
  add(std::move(runs));
  return {};
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

Result<void> run_experiments(const std::vector<const ExperimentKind*>& experiments,
                             const ExperimentOptions& options, Recording& both) {
  if (experiments.empty()) return {};
  if (const Result<void> loads = check_preloadable(options.sampling.command); !loads) {
    both.profile.ledger.note("no experiments: " + loads.error().message);
    return {};
  }
  return Experiments(options, both).run(experiments);
}

}  // namespace culprit
