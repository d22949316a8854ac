#pragma once

// CoreTrace: what an IntervalCore was told in a stretch of time, to be told again to another one.

#include <cstdint>
#include <vector>

#include "simulate/machine/branch.h"
#include "simulate/machine/cycles.h"
#include "simulate/machine/outcome.h"
#include "simulate/machine/prefetch.h"

namespace culprit::simulate {

enum class CoreEventKind : uint8_t {
  begin_block,
  end_block,
  load,
  store,
  store_part,
  microcode,
  prefetch,  // one line; the last of an access is_last
  branch,
  taken,
  fetch,
};

struct CoreEvent {
  uint64_t address = 0;  // prefetch: the line; begin_block: number among CoreTrace::blocks;
                         // microcode: ticks
  PackedOutcome outcome;
  uint32_t step = 0;
  uint32_t bytes = 0;
  Site site = 0;
  CoreEventKind kind = CoreEventKind::end_block;
  bool is_part = false;     // load: a further part
  bool is_of_call = false;  // taken: of a call or return
  bool is_last = false;
  Misprediction misprediction = Misprediction::none;
  DataSource source = DataSource::l2;  // prefetch
  uint16_t latency_cycles = 0;         // prefetch
};

class CoreTrace {
 public:
  [[gnu::noinline]] void begin_block(const BlockCycles& block) {
    CoreEvent& event = add(CoreEventKind::begin_block);
    event.address = blocks_.size();
    blocks_.push_back(&block);
  }
  [[gnu::noinline]] void end_block() { add(CoreEventKind::end_block); }
  [[gnu::noinline]] void load(uint32_t step, PackedOutcome outcome, uint64_t address,
                              uint32_t bytes, bool is_part, Site site) {
    CoreEvent& event = add(CoreEventKind::load);
    set_access(event, step, outcome, address, bytes, site);
    event.is_part = is_part;
  }
  [[gnu::noinline]] void store(uint32_t step, PackedOutcome outcome, uint64_t address,
                               uint32_t bytes, Site site) {
    set_access(add(CoreEventKind::store), step, outcome, address, bytes, site);
  }
  [[gnu::noinline]] void store_part(uint64_t address, uint32_t bytes) {
    set_access(add(CoreEventKind::store_part), 0, {}, address, bytes, 0);
  }
  [[gnu::noinline]] void spend_microcode(Site site, Ticks ticks) {
    CoreEvent& event = add(CoreEventKind::microcode);
    event.site = site;
    event.address = ticks;
  }
  [[gnu::noinline]] void prefetch(const PrefetchedLines& lines) {
    for (uint32_t i = 0; i < lines.count; ++i) {
      CoreEvent& event = add(CoreEventKind::prefetch);
      event.address = lines.lines[i].line;
      event.source = lines.lines[i].source;
      event.latency_cycles = lines.lines[i].latency_cycles;
      event.is_last = i + 1 == lines.count;
    }
  }
  [[gnu::noinline]] void branch(Site site, Misprediction misprediction) {
    CoreEvent& event = add(CoreEventKind::branch);
    event.site = site;
    event.misprediction = misprediction;
  }
  [[gnu::noinline]] void taken(Site site, bool is_of_call) {
    CoreEvent& event = add(CoreEventKind::taken);
    event.site = site;
    event.is_of_call = is_of_call;
  }
  [[gnu::noinline]] void fetch(Site site, PackedOutcome outcome) {
    CoreEvent& event = add(CoreEventKind::fetch);
    event.site = site;
    event.outcome = outcome;
  }

  [[nodiscard]] std::vector<CoreEvent>& events() { return events_; }
  /// One per begin_block, in their order.
  [[nodiscard]] const std::vector<const BlockCycles*>& blocks() const { return blocks_; }

 private:
  CoreEvent& add(CoreEventKind kind) {
    events_.emplace_back().kind = kind;
    return events_.back();
  }
  static void set_access(CoreEvent& event, uint32_t step, PackedOutcome outcome, uint64_t address,
                         uint32_t bytes, Site site) {
    event.step = step;
    event.outcome = outcome;
    event.address = address;
    event.bytes = bytes;
    event.site = site;
  }

  std::vector<CoreEvent> events_;
  std::vector<const BlockCycles*> blocks_;
};

}  // namespace culprit::simulate
