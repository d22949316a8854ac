#include "simulate/machine/lines_in_flight.h"

#include <bit>

namespace culprit::simulate {

CycleClass class_of(DataSource source) {
  switch (source) {
    case DataSource::l1:
      return CycleClass::load_translation;  // all that an L1 hit can wait for
    case DataSource::l2:
      return CycleClass::load_l2;
    case DataSource::l3:
      return CycleClass::load_l3;
    case DataSource::other_core_clean:
      return CycleClass::load_other_core_clean;
    case DataSource::other_core_modified:
      return CycleClass::load_other_core_modified;
    case DataSource::memory:
      break;
  }
  return CycleClass::load_memory;
}

LinesInFlight::LinesInFlight(const MachineModel& machine)
    : line_shift_(static_cast<uint32_t>(std::countr_zero(machine.line_bytes))),
      buffers_(machine.core.miss_buffers),
      sets_free_(
          machine.memory.l1d_set_cycles == 0 ? 0 : compute_sets(machine.l1d, machine.line_bytes)),
      set_takes_(machine.memory.l1d_set_cycles * kTicksPerCycle) {
  channels_[memory].line = to_ticks(machine.line_bytes / machine.memory.bytes_per_cycle);
  channels_[shared].line = to_ticks(machine.line_bytes / machine.memory.shared_bytes_per_cycle);
  channels_[l2].line = to_ticks(machine.line_bytes / machine.memory.l2_bytes_per_cycle);
  for (LineChannel& channel : channels_) channel.queue = channel.line * machine.core.miss_buffers;
}

void LinesInFlight::add(const LineFill& fill) {
  if (fill.line == 0) return;
  LineFill& known = fills_[fill.line % fills_.size()];
  if (known.line == fill.line && known.arrives >= fill.arrives) return;
  known = fill;
  last_arrives_ = std::max(last_arrives_, fill.arrives);
}

Ticks LinesInFlight::enter_set(uint64_t address, Ticks at) {
  if (sets_free_.empty() || address == 0) return at;
  Ticks& free = sets_free_[line_of(address) % sets_free_.size()];
  const Ticks enters = std::max(at, free);
  free = enters + set_takes_;
  return enters;
}

Ticks LinesInFlight::take_buffer(Ticks at, Ticks latency) {
  const Ticks begin = std::max(at, buffers_.front());
  // The first one is free much later now: it sinks to its place.
  const Ticks free = begin + latency;
  size_t place = 0;
  for (size_t child = 1; child < buffers_.size(); child = 2 * place + 1) {
    if (child + 1 < buffers_.size() && buffers_[child + 1] < buffers_[child]) ++child;
    if (free <= buffers_[child]) break;
    buffers_[place] = buffers_[child];
    place = child;
  }
  buffers_[place] = free;
  return begin;
}

Ticks LinesInFlight::pass(Ticks now, Ticks at, const Outcome& outcome) {
  const Ticks nearest = channels_[l2].pass(now, at, outcome.missed_lines);
  if (outcome.shared_lines == 0 && outcome.memory_lines == 0) return nearest;
  const Ticks near = channels_[shared].pass(now, at, outcome.shared_lines);
  const Ticks far = channels_[memory].pass(now, at, outcome.memory_lines);
  if (outcome.source <= DataSource::l2) return nearest;  // the others are not its lines
  return std::max(nearest, outcome.source == DataSource::memory ? std::max(near, far) : near);
}

void LinesInFlight::prefetch(PrefetchedLines& lines, Ticks asked_at) {
  const auto before = [](Ticks whole, Ticks part) { return whole > part ? whole - part : 0; };
  Ticks behind_shared = 0;
  Ticks behind_memory = 0;
  while (lines.count != 0) {
    const PrefetchedLines::Line& one = lines.lines[--lines.count];
    const bool is_shared = one.source != DataSource::l2;
    const bool is_memory = one.source == DataSource::memory;
    Ticks free = asked_at;
    if (is_shared) {
      behind_shared += channels_[shared].line;
      free = std::max(free, before(channels_[shared].free, behind_shared));
    }
    if (is_memory) {
      behind_memory += channels_[memory].line;
      free = std::max(free, before(channels_[memory].free, behind_memory));
    }
    add({one.line, free + one.latency_cycles * kTicksPerCycle, free - asked_at,
         class_of(one.source)});
  }
}

}  // namespace culprit::simulate
