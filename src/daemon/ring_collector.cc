// The collector for where BPF is refused: the rings of perf_event, one record for each sample, as
// `culprit record -a` reads them.

#include <optional>
#include <string>

#include "base/time.h"
#include "collect/drain_rings.h"
#include "collect/perf/perf_events.h"
#include "collect/perf/perf_targets.h"
#include "collect/stream/process_stream.h"
#include "daemon/collector.h"
#include "daemon/describe_epoch.h"

namespace culprit {

namespace {

class RingCollector final : public Collector {
 public:
  RingCollector(uint64_t period_ns, std::vector<DaemonEvent> events)
      : period_ns_(period_ns), sampled_(std::move(events)) {}

  Result<void> open() {
    OpenFailure failure;
    EventTargets targets;
    targets.cpus = list_online_cpus();
    // The kernel lets those take turns that find no counter.
    std::vector<SampledGroup> groups{{make_clock_event(period_ns_, false, false)}};
    for (const DaemonEvent& event : sampled_) groups.push_back({event.sampled});
    events_ = PerfEvents::open(targets, {}, std::move(groups), failure);
    if (!events_) return failure.error;
    events_->start_sideband();
    return {};
  }

  [[nodiscard]] const char* name() const override { return "perf rings"; }

  Result<void> begin_epoch() override {
    ProcessorOptions options;
    options.all_processes = true;
    options.event_of_id = events_->event_of_id();
    options.layout = events_->layout();
    processor_.emplace(options);
    if (!label_.empty()) processor_->builder().label_contexts(label_);
    describe_epoch(processor_->builder(), name(), period_ns_, sampled_);
    processor_->follow_all_running();
    lost_at_start_ = events_->read_lost_samples().value_or(0);
    totals_at_start_ = events_->read_totals();
    if (!is_started_ && !is_paused_) {
      events_->start_sampling();
      is_started_ = true;
    }
    return {};
  }

  void drain() override { drain_rings(*events_, monotonic_ns() - kRingDisorderNs, *processor_); }
  [[nodiscard]] uint64_t drain_within_ns() const override { return 4'000'000'000; }
  [[nodiscard]] std::vector<int> descriptors() const override { return events_->wakeups(); }
  void attend() override { drain(); }

  ProfileBuilder& builder() override { return processor_->builder(); }
  Result<void> flush(const RecordSink& sink) override { return processor_->flush(sink); }

  Recording end_epoch() override {
    add_event_totals(processor_->builder(), event_totals());
    const uint64_t lost = events_->read_lost_samples().value_or(0) - lost_at_start_;
    Recording recording = processor_->finish();
    if (lost > recording.lost) {
      recording.profile.ledger.add(ledger::kLostSamples, lost - recording.lost);
      recording.lost = lost;
    }
    recording.profile.ledger.note("sampled through the rings of perf_event: BPF was refused");
    return recording;
  }

  Result<void> set_period(uint64_t period_ns) override {
    period_ns_ = period_ns;
    events_.reset();
    is_started_ = false;
    return open();
  }
  Result<void> set_events(std::vector<DaemonEvent> events) override {
    std::swap(sampled_, events);
    const Result<void> opened = set_period(period_ns_);
    if (opened) return {};
    std::swap(sampled_, events);
    RETURN_IF_ERROR(set_period(period_ns_));
    return opened;
  }
  void set_label(const std::string& label) override { label_ = label; }
  void pause() override {
    is_paused_ = true;
    if (is_started_) events_->stop();
    is_started_ = false;
  }
  void resume() override {
    is_paused_ = false;
    events_->start_sampling();
    is_started_ = true;
  }

  [[nodiscard]] SamplingTotals totals() const override {
    SamplingTotals totals;
    if (!processor_) return totals;
    totals.handled = totals.misses = processor_->samples();
    totals.lost = processor_->lost();
    return totals;
  }
  [[nodiscard]] std::vector<EventTotals> event_totals() const override {
    std::vector<EventTotals> totals;
    if (!events_) return totals;
    const std::vector<EventTotal> now = events_->read_totals();
    for (size_t i = 0; i < sampled_.size(); ++i) {
      const EventTotal& end = now[i + 1];  // time is the first
      const EventTotal& start = totals_at_start_[i + 1];
      totals.push_back({sampled_[i].sampled.request.name, sampled_[i].sampled.period,
                        end.value - start.value, end.enabled_ns - start.enabled_ns,
                        end.running_ns - start.running_ns});
    }
    return totals;
  }
  [[nodiscard]] uint64_t kernel_bytes() const override { return 0; }

 private:
  uint64_t period_ns_;
  std::string label_;
  std::vector<DaemonEvent> sampled_;  // beside time
  std::optional<PerfEvents> events_;
  std::vector<EventTotal> totals_at_start_;  // of the epoch
  std::optional<SampleProcessor> processor_;
  bool is_started_ = false;
  bool is_paused_ = false;
  uint64_t lost_at_start_ = 0;
};

}  // namespace

Result<std::unique_ptr<Collector>> make_ring_collector(uint64_t period_ns,
                                                       std::vector<DaemonEvent> events) {
  auto collector = std::make_unique<RingCollector>(period_ns, std::move(events));
  RETURN_IF_ERROR(collector->open());
  return std::unique_ptr<Collector>(std::move(collector));
}

}  // namespace culprit
