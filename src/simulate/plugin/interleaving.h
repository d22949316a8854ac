#pragma once

// --deterministic: threads take turns by simulated time (turnstile.h). What of it the callbacks
// of QEMU need; without the option none of it is called.

#include <cstdint>

#include "simulate/plugin/counts_writer.h"
#include "simulate/plugin/execution.h"
#include "simulate/plugin/turnstile.h"

namespace culprit {

/// From now on. Before any core starts. `line_transfer_cycles`: what it takes to get a line out
/// of another core, if that is in the cores' clocks. False: this kernel does not show what threads
/// do.
bool interleave_threads(CountsWriter& writer, uint32_t line_transfer_cycles);

/// The callbacks, of threads in turn.
Callbacks callbacks_in_turn(const Callbacks& callbacks);

// Called where it happens; they do nothing if threads run as they come.

/// A core has started, as QEMU tells (qemu_events.h).
void expect_thread(unsigned vcpu);
void begin_call_in_turn(unsigned vcpu, const AnnouncedCall& call);
void end_call_in_turn(unsigned vcpu, int64_t result);
/// The process ends, by this thread: others run on, uncounted.
void end_turns(unsigned vcpu);
/// Counting ends, not the program.
void stop_interleaving();
/// In a forked child.
void renew_turns();

}  // namespace culprit
