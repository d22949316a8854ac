#pragma once

// What the kernel says that it can count: /sys/bus/event_source/devices, as values.
//
//     cpu/type            4
//     cpu/format/umask    config:8-15          → how terms become bits
//     cpu/events/cycles   event=0x3c           → named events
//     cpu/cpus            0-3                  → which CPUs (hybrid)
//     uncore_imc/cpumask  0,18                 → counted per package

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit {

/// Bits first to last of perf_event_attr.config, config1, config2 or config3.
struct BitRange {
  unsigned first = 0;
  unsigned last = 0;
};

/// Where the value of a term goes: its low bits into the first range, and so on.
struct TermFormat {
  unsigned config = 0;  // 0: config, 1: config1, 2: config2
  std::vector<BitRange> ranges;
  [[nodiscard]] uint64_t max_value() const;
};

/// One file of events/, with its .scale and .unit.
struct NamedEvent {
  std::string terms;  // "event=0x3c,umask=0x01"; "?" stands for a value that must be given
  double scale = 1.0;
  std::string unit;
};

struct Pmu {
  std::string name;
  uint32_t type = 0;
  std::map<std::string, TermFormat> formats;
  std::map<std::string, NamedEvent> events;
  std::map<std::string, uint64_t> capabilities;  // caps/: "branches", "max_precise", …
  std::vector<int> cpus;                         // empty: all
  bool is_core = false;                          // counts what a CPU core executes
  bool is_per_cpu_only = false;

  /// Certainly not counted by this CPU, though the kernel takes it and then counts 0 for ever:
  /// an event number of Arm's architecture that events/ does not list.
  [[nodiscard]] bool lacks(uint64_t config) const;
};

struct PmuCatalog {
  std::vector<Pmu> pmus;  // by name
  /// The id of a tracepoint ("sched", "sched_switch"). Only asked for names like that.
  std::function<Result<uint64_t>(const std::string& system, const std::string& name)> tracepoint_id;
  /// All tracepoints, "sched:sched_switch"; none where tracefs cannot be read.
  std::function<std::vector<std::string>()> list_tracepoints;
  /// Whether libpfm4 may be asked about the CPU that is really here (not in made catalogs).
  bool is_this_machine = false;

  [[nodiscard]] const Pmu* find(std::string_view name) const;
  [[nodiscard]] std::vector<const Pmu*> core_pmus() const;
};

/// Reads the PMUs below `root`, which is /sys or, in tests, a folder like it. A PMU whose
/// files cannot be understood keeps what could be.
/// Errors: no such folder (no perf_event in this kernel, or sysfs is not mounted).
Result<PmuCatalog> read_pmu_catalog(const std::string& root = "/sys");

}  // namespace culprit
