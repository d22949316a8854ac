// The collector that counts in the kernel: BpfSampler's tables, placed by SamplePlacer.

#include "daemon/bpf_sampler.h"
#include "daemon/collector.h"
#include "daemon/describe_epoch.h"
#include "daemon/sample_placer.h"
#include "model/merge.h"

namespace culprit {

namespace {

// The longer, the more samples share an entry, and the fewer drains there are.
constexpr uint64_t kUsuallyWithinNs = 60'000'000'000;
// What has no file is asked for while its process lives and the code is there; sets of events take
// turns.
constexpr uint64_t kSoonWithinNs = 4'000'000'000;

class BpfCollector final : public Collector {
 public:
  BpfCollector(BpfSampler sampler, uint64_t period_ns, std::vector<DaemonEvent> events,
               bool by_process)
      : sampler_(std::move(sampler)),
        placer_(by_process),
        period_ns_(period_ns),
        events_(std::move(events)) {}

  [[nodiscard]] const char* name() const override { return "eBPF"; }

  Result<void> begin_epoch() override {
    ProfileBuilder builder;
    describe_epoch(builder, name(), period_ns_, events_);
    sampler_.forget_names();
    placer_.set_label(label_);
    placer_.begin_epoch(std::move(builder));
    return {};
  }

  void drain() override {
    placer_.begin_drain();
    sampler_.drain(placer_);
    placer_.end_drain();
    attend_to_files();
  }

  [[nodiscard]] uint64_t drain_within_ns() const override {
    if (sampler_.is_filling()) return 0;
    const bool is_soon = placer_.has_processes_to_ask() || sampler_.has_turns();
    return is_soon ? kSoonWithinNs : kUsuallyWithinNs;
  }

  void change_periods() override { sampler_.change_periods(); }

  void attend() override {
    sampler_.read_names(placer_);
    attend_to_files();
  }
  [[nodiscard]] std::vector<int> descriptors() const override {
    return {sampler_.names_descriptor()};
  }

  ProfileBuilder& builder() override { return placer_.builder(); }
  Result<void> flush(const RecordSink& sink) override {
    ProfileBuilder& builder = placer_.builder();
    builder.take_counts();
    const Result<void> taken = sink(builder.profile());
    // What could not be written (a full disk) is kept for the next time.
    if (!taken) {
      for (Histogram& one : builder.profile().histograms) builder.add(std::move(one));
      for (const StackCount& row : builder.profile().stack_counts) {
        builder.add_stack(row.context, row.stack, row.cell.event, row.cell.samples, row.cell.value);
      }
    }
    clear_counts(builder.profile());
    return taken;
  }

  Recording end_epoch() override { return placer_.end_epoch(); }

  Result<void> set_period(uint64_t period_ns) override {
    period_ns_ = period_ns;
    return sampler_.set_period(period_ns);
  }
  Result<void> set_events(std::vector<DaemonEvent> events) override {
    RETURN_IF_ERROR(sampler_.set_events(events));
    events_ = std::move(events);
    return {};
  }
  void set_label(const std::string& label) override { label_ = label; }
  void pause() override { sampler_.pause(); }
  void resume() override { sampler_.resume(); }
  [[nodiscard]] SamplingTotals totals() const override { return placer_.epoch_totals(); }
  [[nodiscard]] std::vector<EventTotals> event_totals() const override {
    return placer_.event_totals();
  }
  [[nodiscard]] uint64_t kernel_bytes() const override { return sampler_.kernel_bytes(); }

 private:
  void attend_to_files() {
    for (const image_key& key : placer_.take_anonymous_files()) sampler_.treat_as_anonymous(key);
  }

  BpfSampler sampler_;
  SamplePlacer placer_;
  uint64_t period_ns_;
  std::vector<DaemonEvent> events_;
  std::string label_;
};

}  // namespace

Result<std::unique_ptr<Collector>> make_bpf_collector(uint64_t period_ns,
                                                      std::vector<DaemonEvent> events,
                                                      bool by_process) {
  ASSIGN_OR_RETURN(BpfSampler sampler, BpfSampler::start(period_ns, events, by_process));
  return std::unique_ptr<Collector>(
      std::make_unique<BpfCollector>(std::move(sampler), period_ns, std::move(events), by_process));
}

}  // namespace culprit
