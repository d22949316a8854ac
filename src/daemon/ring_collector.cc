// The collector for where BPF is refused: the rings of perf_event, one record for each sample, as
// `culprit record -a` reads them.

#include <optional>
#include <span>

#include "base/time.h"
#include "collect/perf/perf_events.h"
#include "collect/perf/perf_targets.h"
#include "collect/stream/process_stream.h"
#include "daemon/collector.h"
#include "daemon/describe_epoch.h"
#include "records/parse_record.h"

namespace culprit {

namespace {

// A record may become visible later than one that was made after it on another CPU.
constexpr uint64_t kDisorderNs = 20'000'000;

class RingCollector final : public Collector {
 public:
  explicit RingCollector(uint64_t period_ns) : period_ns_(period_ns) {}

  Result<void> open() {
    OpenFailure failure;
    EventTargets targets;
    targets.cpus = list_online_cpus();
    events_ =
        PerfEvents::open(targets, {}, {{make_clock_event(period_ns_, false, false)}}, failure);
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
    describe_epoch(processor_->builder(), name(), period_ns_);
    processor_->follow_all_running();
    lost_at_start_ = events_->read_lost_samples().value_or(0);
    if (!is_started_ && !is_paused_) {
      events_->start_sampling();
      is_started_ = true;
    }
    return {};
  }

  void drain() override { drain_before(monotonic_ns() - kDisorderNs); }
  [[nodiscard]] std::vector<int> descriptors() const override { return events_->wakeups(); }
  void attend() override { drain(); }

  Result<void> flush(const RecordSink& sink) override { return processor_->flush(sink); }

  Recording end_epoch() override {
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
  [[nodiscard]] uint64_t kernel_bytes() const override { return 0; }

 private:
  void drain_before(uint64_t before_ns) {
    std::vector<Ring*> rings;
    for (Ring& ring : events_->rings()) {
      ring.look();
      rings.push_back(&ring);
    }
    const RecordLayout& layout = events_->layout();
    merge_rings(rings, layout, before_ns, [&](std::span<const std::byte> bytes) {
      if (const Result<Record> record = parse_record(bytes, layout)) {
        processor_->process(*record);
      } else {
        processor_->builder().profile().ledger.add(ledger::kDamagedRecords);
      }
    });
  }

  uint64_t period_ns_;
  std::optional<PerfEvents> events_;
  std::optional<SampleProcessor> processor_;
  bool is_started_ = false;
  bool is_paused_ = false;
  uint64_t lost_at_start_ = 0;
};

}  // namespace

Result<std::unique_ptr<Collector>> make_ring_collector(uint64_t period_ns) {
  auto collector = std::make_unique<RingCollector>(period_ns);
  RETURN_IF_ERROR(collector->open());
  return std::unique_ptr<Collector>(std::move(collector));
}

}  // namespace culprit
