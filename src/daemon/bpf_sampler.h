#pragma once

// BpfSampler: the program in the kernel (sampler.bpf.c) and its tables, seen from here.
//
//     drain():  ask for new names  →  swap the sets of all CPUs  →  wait for the handlers that
//               are still in the old ones (membarrier)  →  names again  →  read and empty them
//
// A CPU's clock gets a new period with each drain and between them (random_periods.h): no program
// can be in step with it for longer than a second. Sets of events that take turns change with each
// drain.
//
// All names of what is in a set have been told by then: a handler tells them before it counts.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "daemon/daemon_events.h"
#include "daemon/sample_table.h"

namespace culprit {

/// What an event did on one CPU since the last drain.
struct EventReading {
  uint64_t value = 0;    // how often it happened; of time: ns
  uint64_t samples = 0;  // of time: how often its periods were over, by the time that each was set
  uint64_t enabled_ns = 0;
  uint64_t running_ns = 0;  // less than enabled: others had its counter
};

/// Who is told what the kernel's tables hold.
class SampleVisitor {
 public:
  virtual ~SampleVisitor() = default;
  virtual void note_image(const image_record& record) = 0;
  virtual void note_who(const who_record& record) = 0;
  /// Numbers of images and tasks given out before may be given out again, but for what the sets
  /// hold that are drained now.
  virtual void begin_numbers_anew() = 0;
  /// What a CPU did since the last time. `events`: time, and the others in their order. Its entries
  /// follow.
  virtual void begin_cpu(const sample_counters& counters, std::span<const EventReading> events) = 0;
  virtual void count(const sample_entry& entry) = 0;
};

class BpfSampler {
 public:
  /// Loads the program and starts a clock, and the events, on each CPU that is online.
  /// `by_process`: samples are told apart by process, not by command alone. Errors: this build has
  /// no program; the kernel refuses it or an event, and why.
  static Result<BpfSampler> start(uint64_t period_ns, std::vector<DaemonEvent> events,
                                  bool by_process);
  BpfSampler(BpfSampler&&) noexcept;
  BpfSampler& operator=(BpfSampler&&) noexcept;
  ~BpfSampler();

  void drain(SampleVisitor& visitor);
  /// Whether a CPU's set is to be drained soon, since it has no room for some seconds more. Asks no
  /// kernel: it looks into the sets.
  [[nodiscard]] bool is_filling() const;
  /// Whether sets of events take turns, with each drain.
  [[nodiscard]] bool has_turns() const;
  /// The next drain gives numbers of images and tasks anew: those of files and processes that are
  /// gone would be kept for ever.
  void forget_names();
  /// Other periods of the clocks. Call it some times a second: it takes an interrupt of each CPU.
  void change_periods();
  /// New images, at once: their processes may soon be gone.
  void read_names(SampleVisitor& visitor);
  /// Readable when there are some.
  [[nodiscard]] int names_descriptor() const;
  /// The file has no code of its own (a compiler keeps its code in it): its samples are told apart
  /// by process and address from then on.
  void treat_as_anonymous(const image_key& key);

  /// Clocks on CPUs that came; those of CPUs that went are closed. From now on with that period.
  /// What was not drained before is forgotten, with its time.
  Result<void> set_period(uint64_t period_ns);
  /// Other events from now on. What was not drained before is forgotten, with its time.
  /// Errors: this machine cannot count one of them; those before stay.
  Result<void> set_events(std::vector<DaemonEvent> events);
  /// No samples until resume().
  void pause();
  void resume();

  /// What all tables and sets take.
  [[nodiscard]] uint64_t kernel_bytes() const;

 private:
  struct State;
  explicit BpfSampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Loads the program, without starting anything: "" if that works, else why it does not.
std::string explain_bpf_refusal();

}  // namespace culprit
