#pragma once

// Small trials of what the kernel allows: each does the thing and says how it went.

#include <cstdint>
#include <optional>
#include <string>

namespace culprit {

enum class ProbeEvent : uint8_t { cpu_clock, cycles };

/// Opens an event once and closes it. 0 or errno. pid 0: ourselves; -1 (with cpu >= 0): all.
int try_event(ProbeEvent event, bool user_only, int pid, int cpu);

/// What a timer sample costs a spinning program here: CPU time of the same work with and
/// without a cpu-clock event whose samples go to a ring that nobody reads.
/// Units:  -> [ns/sample]
/// Errors: a few 0.1 us; more on a busy machine. nullopt: not permitted, or the machine is so
///         busy that no cost was seen
std::optional<double> measure_sample_cost_ns();

/// How finely timers on CPU time work: CPU time per expiration of a 1 ms timer.
/// Units:  -> [ns]; nullopt: no such timer here (then *reason is errno)
std::optional<double> measure_cpu_timer_resolution_ns(int* reason);

/// Loads the smallest BPF program that samples could run. 0 or errno.
int try_bpf_program();

/// "EACCES" for 13.
std::string error_name(int error_number);

}  // namespace culprit
