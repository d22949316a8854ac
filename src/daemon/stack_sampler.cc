#include "daemon/stack_sampler.h"

#include <optional>
#include <random>
#include <time.h>
#include <utility>
#include <vector>

#include "base/time.h"
#include "collect/drain_rings.h"
#include "collect/perf/perf_events.h"
#include "collect/perf/perf_targets.h"
#include "collect/stream/process_stream.h"
#include "daemon/epoch_rows.h"
#include "daemon/random_periods.h"

namespace culprit {

namespace {

constexpr uint32_t kStackCopyBytes = 8192;
// Different stacks of an epoch, as nodes of their tree: 5 MB here, and as many in the epoch.
constexpr size_t kMostNodes = size_t{1} << 17;
// Of a period that is kept for seconds: with a wider one what runs meanwhile has too much or too
// little.
constexpr double kRangeOfRates = 0.25;

/// Rows of the sampler's own profile → those of the epoch's. Tables only grow: what was translated
/// stays so.
class EpochStacks {
 public:
  explicit EpochStacks(std::string label) : label_(std::move(label)) {}

  void add(const Profile& from, ProfileBuilder& epoch) {
    for (const StackCount& count : from.stack_counts) {
      epoch.add_stack(context_row(from, count.context, epoch), stack_row(from, count.stack, epoch),
                      EventId(0u), count.cell.samples, count.cell.value);
    }
  }

  ImageId image_row(const Profile& from, ImageId image, ProfileBuilder& epoch) {
    if (image.value >= from.images.size()) return {};
    images_.resize(from.images.size());
    ImageId& row = images_[image.value];
    if (row.is_all()) {
      const Image& known = from.images[image.value];
      row = intern_image(epoch, known, from.strings.text(known.path));
    }
    return row;
  }

 private:
  ContextId context_row(const Profile& from, ContextId id, ProfileBuilder& epoch) {
    contexts_.resize(from.contexts.size());
    ContextId& row = contexts_[id.value];
    if (!row.is_all()) return row;
    const Context& known = from.contexts[id.value];
    Context context;
    context.run = epoch.run_id();
    context.mode = known.mode;
    if (!label_.empty()) context.label = epoch.intern(label_);
    if (known.process.value < from.processes.size()) {
      const StringId name = from.processes[known.process.value].name;
      context.process = intern_process(epoch, from.strings.text(name));
    }
    row = epoch.intern_context(context);
    return row;
  }

  /// Callers come before their callees.
  StackId stack_row(const Profile& from, StackId id, ProfileBuilder& epoch) {
    for (size_t i = stacks_.size(); i < from.stacks.size(); ++i) {
      const StackNode& node = from.stacks[i];
      const StackId parent = node.parent.is_all() ? StackId() : stacks_[node.parent.value];
      stacks_.push_back(epoch.intern_stack(
          {parent, {image_row(from, node.location.image, epoch), node.location.offset}}));
    }
    return stacks_[id.value];
  }

  std::string label_;
  std::vector<ContextId> contexts_;
  std::vector<StackId> stacks_;
  std::vector<ImageId> images_;
};

}  // namespace

void StackTotals::add(const StackTotals& other) {
  samples += other.samples;
  lost += other.lost;
  rest_ns += other.rest_ns;
  cpu_ns += other.cpu_ns;
  is_full = is_full || other.is_full;
}

struct StackSampler::State {
  explicit State(StackOptions wanted)
      : options(std::move(wanted)), period_ns(static_cast<uint64_t>(1e9 / options.rate_hz)) {}

  Result<void> open();
  void read(uint64_t before_ns, ProfileBuilder& epoch);
  void keep_to_budget(uint64_t now_ns);
  void set_sampling(bool is_on);

  StackOptions options;
  uint64_t period_ns;
  size_t cpus = 0;
  std::optional<PerfEvents> events;
  std::optional<SampleProcessor> processor;
  std::optional<EpochStacks> rows;
  StackTotals before;  // of this epoch, by what is gone: rests that are over, lost samples
  uint64_t cpu_ns = 0;
  uint64_t epoch_start_ns = 0;
  uint64_t lost_at_start = 0;
  uint64_t rest_start_ns = 0;  // 0: samples are taken
  bool is_sampling = false;
  bool is_paused = false;
  bool is_full = false;
  RandomPeriods periods{std::random_device()(), kRangeOfRates};
};

Result<void> StackSampler::State::open() {
  events.reset();
  is_sampling = false;
  EventTargets targets;
  targets.cpus = list_online_cpus();
  cpus = targets.cpus.size();
  SamplingSetup setup;
  setup.stacks = true;
  const bool can_walk = options.make_unwinder && find_unwind_registers() != 0;
  setup.stack_copy_bytes = can_walk ? kStackCopyBytes : 0;
  OpenFailure failure;
  events = PerfEvents::open(targets, setup, {{make_clock_event(period_ns, false, false)}}, failure);
  if (!events) return failure.error;
  events->start_sideband();
  return {};
}

void StackSampler::State::set_sampling(bool is_on) {
  if (is_on == is_sampling) return;
  is_on ? events->start_sampling() : events->stop_sampling();
  is_sampling = is_on;
}

/// What samples and their walks took of the time since the epoch began, against the budget.
void StackSampler::State::keep_to_budget(uint64_t now_ns) {
  const double spent_ns = static_cast<double>(cpu_ns) +
                          options.sample_cost_ns * static_cast<double>(processor->samples());
  const double allowed_ns = options.budget_ratio * static_cast<double>(cpus) *
                            static_cast<double>(now_ns - epoch_start_ns);
  is_full = processor->builder().profile().stacks.size() >= kMostNodes;
  const bool rests = is_full || spent_ns > allowed_ns;
  if (rests && rest_start_ns == 0) rest_start_ns = now_ns;
  if (!rests && rest_start_ns != 0) {
    before.rest_ns += now_ns - rest_start_ns;
    rest_start_ns = 0;
  }
  set_sampling(!rests && !is_paused);
}

void StackSampler::State::read(uint64_t before_ns, ProfileBuilder& epoch) {
  const uint64_t start_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  drain_rings(*events, before_ns, *processor);
  // The sink keeps everything.
  static_cast<void>(processor->flush([&](const Profile& profile) -> Result<void> {
    rows->add(profile, epoch);
    return {};
  }));
  cpu_ns += read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
}

StackSampler::StackSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
StackSampler::StackSampler(StackSampler&&) noexcept = default;
StackSampler& StackSampler::operator=(StackSampler&&) noexcept = default;
StackSampler::~StackSampler() = default;

Result<StackSampler> StackSampler::start(StackOptions options) {
  auto state = std::make_unique<State>(std::move(options));
  RETURN_IF_ERROR(state->open());
  return StackSampler(std::move(state));
}

void StackSampler::begin_epoch(std::string_view label) {
  State& state = *state_;
  ProcessorOptions processing;
  processing.all_processes = true;
  processing.stacks = true;
  processing.layout = state.events->layout();
  if (processing.layout.user_registers != 0) {
    processing.make_unwinder = state.options.make_unwinder;
  }
  const uint64_t start_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  state.processor.emplace(processing);
  ProfileBuilder& builder = state.processor->builder();
  builder.begin_run({});
  builder.profile().events.push_back({});
  state.processor->follow_all_running();
  state.rows.emplace(std::string(label));
  state.before = {};
  state.cpu_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
  state.epoch_start_ns = monotonic_ns();
  state.lost_at_start = state.events->read_lost_samples().value_or(0);
  state.is_full = false;
  state.rest_start_ns = 0;
  state.set_sampling(!state.is_paused);
}

void StackSampler::drain(ProfileBuilder& epoch) {
  State& state = *state_;
  const uint64_t now_ns = monotonic_ns();
  state.read(now_ns - kRingDisorderNs, epoch);
  state.keep_to_budget(now_ns);
}

void StackSampler::change_period() {
  state_->events->set_clock_period(state_->periods.draw(state_->period_ns));
}

StackSampler::Files StackSampler::end_epoch(ProfileBuilder& epoch) {
  State& state = *state_;
  state.read(monotonic_ns() - kRingDisorderNs, epoch);
  state.before = totals();
  Recording recording = state.processor->finish();
  const Profile& own = recording.profile;
  state.rows->add(own, epoch);
  // What cut stacks is told; what is unknown of their innermost code, the counts tell.
  Ledger& ledger = epoch.profile().ledger;
  for (int i = 0; i <= static_cast<int>(UnwindStop::no_registers); ++i) {
    const LedgerKind* const kind = find_stop_kind(static_cast<UnwindStop>(i));
    if (kind != nullptr && own.ledger.amount(*kind) != 0) {
      ledger.add(*kind, own.ledger.amount(*kind));
    }
  }
  Files files;
  for (auto& [image, file] : recording.held) {
    files.held.emplace(state.rows->image_row(own, image, epoch), std::move(file));
  }
  for (auto& [image, facts] : recording.jit_facts) {
    files.jit_facts.emplace_back(state.rows->image_row(own, image, epoch), std::move(facts));
  }
  state.processor.reset();
  return files;
}

Result<void> StackSampler::reopen() {
  return state_->open();
}

void StackSampler::pause() {
  state_->is_paused = true;
  state_->set_sampling(false);
}

void StackSampler::resume() {
  state_->is_paused = false;
  state_->set_sampling(state_->rest_start_ns == 0);
}

double StackSampler::rate_hz() const {
  return state_->options.rate_hz;
}

StackTotals StackSampler::totals() const {
  const State& state = *state_;
  StackTotals totals = state.before;
  if (!state.processor) return totals;
  totals.samples = state.processor->samples();
  totals.lost = state.events->read_lost_samples().value_or(0) - state.lost_at_start;
  totals.cpu_ns = state.cpu_ns;
  totals.is_full = state.is_full;
  if (state.rest_start_ns != 0) totals.rest_ns += monotonic_ns() - state.rest_start_ns;
  return totals;
}

uint64_t StackSampler::ring_bytes() const {
  uint64_t bytes = 0;
  for (const Ring& ring : state_->events->rings()) bytes += ring.size_bytes();
  return bytes;
}

std::span<const int> StackSampler::descriptors() const {
  return state_->events->wakeups();
}

}  // namespace culprit
