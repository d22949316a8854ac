#pragma once

// SamplePlacer: what the kernel's tables hold → counts of the epoch that grows.
//
//     image number ─→ LiveImages ─→ an image and its file, opened while its process lives
//     who number   ─→ a context: command, cgroup, user or kernel
//     (process, address) of code without a file ─→ waits some drains for the names of its JIT
//
// Images are known beyond the end of an epoch, to its first drain, in a profile of names of their
// own; each epoch has rows for those that it counts.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/stream/live_images.h"
#include "daemon/bpf_sampler.h"
#include "daemon/epoch_contexts.h"
#include "daemon/process_mappings.h"
#include "daemon/sampling_totals.h"
#include "model/builder.h"
#include "recording/recording.h"

namespace culprit {

class SamplePlacer final : public SampleVisitor {
 public:
  /// `by_process`: whether processes of one command are told apart.
  explicit SamplePlacer(bool by_process = false);
  ~SamplePlacer() override;

  /// The tables of the epoch, to describe it in.
  ProfileBuilder& builder() { return epoch_; }
  /// Begins a new profile, with one run and its events, time first, that the caller has described.
  void begin_epoch(ProfileBuilder epoch);
  /// All that is counted until the next epoch has this label; "": none.
  void set_label(std::string_view label) { contexts_.set_label(label); }

  void note_image(const image_record& record) override;
  void note_who(const who_record& record) override;
  void begin_numbers_anew() override;
  void begin_cpu(const sample_counters& counters, std::span<const EventReading> events) override;
  void count(const sample_entry& entry) override;
  /// Call them before and after each drain.
  void begin_drain();
  void end_drain();

  /// Whether there are processes, so far as is known, that run code without a file, or that was not
  /// found. They are asked while they live, and soon: compilers put other code in its place.
  [[nodiscard]] bool has_processes_to_ask() const;

  /// Files that have no code of their own, since the last call.
  std::vector<image_key> take_anonymous_files() { return std::exchange(anonymous_files_, {}); }

  /// Counts what waits for a name as it is.
  void end_waiting();
  /// Everything of the epoch: profile, held files, facts of code made at run time.
  Recording end_epoch();

  [[nodiscard]] const SamplingTotals& epoch_totals() const { return totals_; }
  /// Without time.
  [[nodiscard]] const std::vector<EventTotals>& event_totals() const { return event_totals_; }

 private:
  struct Names;  // what the kernel's numbers mean
  struct Who;
  /// Samples of an event, and what they stand for.
  struct Amount {
    EventId event;
    uint64_t samples = 0;
    uint64_t value = 0;
  };
  /// What an event did on the CPU that is drained, by its samples: each stands for an equal part.
  /// The parts of whole numbers add up to the whole.
  struct Weight {
    uint64_t value = 0;
    uint64_t samples = 0;
    uint64_t remainder = 0;

    uint64_t take(uint64_t of_samples);
  };
  struct Waiting {
    std::shared_ptr<Names> names;
    who_key who;
    uint64_t address = 0;
    Amount amount;
    uint64_t since_ns = 0;
  };

  uint64_t count_handlers(uint64_t handled, uint64_t clock_ns);
  Who& find_who(uint32_t number);
  ContextId context_of(Who& who, Mode mode);
  void add(ContextId context, Names& names, const Location& place, const Amount& amount);
  void add_unknown(const who_key& who, std::string_view reason, const Amount& amount);
  ImageId image_row(Names& names, ImageId image);
  ImageId image_of_reason(std::string_view reason);
  void note_unknown_in_kernel(uint64_t samples);
  void count_in_file(Who& who, uint64_t place, const Amount& amount);
  Location locate(const MmapRecord& map, RunAddress address);
  void watch_process(const who_key& who);
  void count_in_process(const who_key& who, uint64_t address, const Amount& amount);
  void count_unknown(const who_key& who, uint64_t address, const Amount& amount);
  bool place_code(Waiting& waiting);
  void count_nameless(uint64_t wait_ns);
  void forget_dead();

  ProfileBuilder epoch_;
  std::vector<Weight> weights_;  // by event, of the CPU that is drained
  std::vector<EventTotals> event_totals_;
  uint64_t idle_ns_ = 0;
  uint64_t handled_clocks_ = 0;       // of the samples: those of time
  uint64_t expected_ = 0;             // samples of time in this epoch, by the clocks
  uint64_t unknown_in_kernel_ = 0;    // that the kernel's images have counted so far
  std::shared_ptr<Names> names_;      // those that are given out now
  std::shared_ptr<Names> old_names_;  // during the drain in which numbers began anew
  std::unique_ptr<Who> nobody_;       // whose name was lost
  uint64_t epoch_serial_ = 0;
  std::map<std::string, ImageId, std::less<>> reasons_;  // likewise
  EpochContexts contexts_;
  std::vector<Waiting> waiting_;
  ProcessMappings mappings_;  // during a drain, or between two
  std::vector<image_key> anonymous_files_;
  SamplingTotals totals_;
  uint64_t drains_ = 0;
};

}  // namespace culprit
