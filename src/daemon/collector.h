#pragma once

// Collector: whoever samples the whole system for the daemon, epoch after epoch. There are two:
// the BPF program, and the rings of perf_event where BPF is refused.

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/daemon_events.h"
#include "daemon/sampling_totals.h"
#include "model/builder.h"
#include "recording/recording.h"

namespace culprit {

class Collector {
 public:
  virtual ~Collector() = default;

  /// "eBPF", "perf rings"
  [[nodiscard]] virtual const char* name() const = 0;
  /// A new profile begins, of one run.
  virtual Result<void> begin_epoch() = 0;
  /// Takes what has been sampled.
  virtual void drain() = 0;
  /// How long after a drain the next one is due at the latest, by what is known now.
  [[nodiscard]] virtual uint64_t drain_within_ns() const = 0;
  /// Other periods of its clocks, between drains, too.
  virtual void change_periods() {}
  /// Something is to be done before the next drain: descriptors() are readable.
  virtual void attend() {}
  [[nodiscard]] virtual std::vector<int> descriptors() const { return {}; }
  /// The profile of this epoch, which others may add to.
  virtual ProfileBuilder& builder() = 0;
  /// Hands what is new to the sink and forgets its counts.
  virtual Result<void> flush(const RecordSink& sink) = 0;
  /// What has not been flushed, and what goes with an epoch; drained before.
  virtual Recording end_epoch() = 0;

  /// Call it between two epochs.
  virtual Result<void> set_period(uint64_t period_ns) = 0;
  /// What is sampled beside time. Call it between two epochs.
  /// Errors: this machine cannot sample one of them; those before stay.
  virtual Result<void> set_events(std::vector<DaemonEvent> events) = 0;
  /// The contexts of the next epoch have this label.
  virtual void set_label(const std::string& label) = 0;
  virtual void pause() = 0;
  virtual void resume() = 0;
  /// Samples of this epoch.
  [[nodiscard]] virtual SamplingTotals totals() const = 0;
  /// Of this epoch, without time.
  [[nodiscard]] virtual std::vector<EventTotals> event_totals() const = 0;
  /// Memory of the kernel's that it holds.
  [[nodiscard]] virtual uint64_t kernel_bytes() const = 0;
};

/// As BpfSampler::start(); the other collector always tells processes apart.
Result<std::unique_ptr<Collector>> make_bpf_collector(uint64_t period_ns,
                                                      std::vector<DaemonEvent> events,
                                                      bool by_process);
/// Errors: the whole system may not be sampled, or not these events.
Result<std::unique_ptr<Collector>> make_ring_collector(uint64_t period_ns,
                                                       std::vector<DaemonEvent> events);

}  // namespace culprit
