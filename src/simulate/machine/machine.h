#pragma once

// MachineModel: the description of a simulated computer, as plain values: caches, TLBs,
// branch predictor, core. Machine files (data/uarch/*.toml) say where their figures
// come from; every key is optional and has the default below.
//
//     ASSIGN_OR_RETURN(MachineModel machine, parse_machine(text, "zen4.toml"));
//     machine.l3.size_bytes = 4 << 20;
//     RETURN_IF_ERROR(check_machine(machine));

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "code/instruction_class.h"

namespace culprit::simulate {

enum class Replacement : uint8_t {
  lru,     // true least recently used
  plru,    // binary tree of bits; ways must be a power of two
  random,  // the same sequence in every run
};

/// How a level relates to those nearer to the core.
enum class Inclusion : uint8_t {
  non_inclusive,  // filled by what passes through; keeps and loses lines on its own
  inclusive,      // what leaves this level leaves the nearer ones, too
  victim,         // holds what the nearer level evicted; a hit moves the line back (L3 only)
};

struct CacheGeometry {
  uint64_t size_bytes = 0;  // 0: there is no such level
  uint32_t ways = 8;
  Replacement replacement = Replacement::lru;
  Inclusion inclusion = Inclusion::non_inclusive;
  uint32_t latency_cycles = 4;  // from issue of a load to its data, on a hit here

  [[nodiscard]] bool present() const { return size_bytes != 0; }
};

struct TlbGeometry {
  uint32_t entries = 0;  // 0: there is none, every translation misses it
  uint32_t ways = 4;     // = entries: fully associative
};

struct TlbSettings {
  TlbGeometry instruction{64, 64};  // 4 KiB and 2 MiB pages together, in each of them
  TlbGeometry data{64, 64};
  TlbGeometry second{1024, 8};         // second level, of data and instructions
  uint32_t second_latency_cycles = 7;  // a hit there adds this
  uint32_t walk_level_cycles = 6;      // one level of a page walk whose entry is in a near cache
  uint32_t walk_last_cycles = 14;      // its last level, which is the one that misses
};

struct PrefetchSettings {
  bool stream = true;         // ascending and descending runs of lines, into L2 (L3 without one)
  uint32_t stream_lines = 4;  // how far ahead
  bool stream_crosses_pages = false;
  bool stride = true;         // equal steps of one instruction, into L1D
  uint32_t stride_steps = 2;  // how far ahead
  uint32_t code_lines = 0;    // lines after one that misses L1I, into L1I
};

struct BranchSettings {
  uint32_t bimodal_entries = 8192;
  uint32_t history_tables = 8;  // 0 leaves a bimodal predictor
  uint32_t history_entries = 1024;
  uint32_t shortest_history = 5;
  uint32_t longest_history = 200;
  uint32_t target_entries = 4096;  // BTB
  uint32_t target_ways = 4;
  uint32_t indirect_entries = 2048;
  uint32_t return_stack = 32;
};

/// String instructions that repeat (rep movs, rep stos), as microcode runs them: by lines if it
/// can.
struct StringSettings {
  uint32_t copy_start_cycles = 35;   // before the first line: of movs
  uint32_t fill_start_cycles = 35;   // of stos
  double copy_bytes_per_cycle = 32;  // by lines, all of them in L1D
  double fill_bytes_per_cycle = 32;
  double round_cycles = 1;  // a round by itself: backward, or where it goes so close behind what
                            // it reads, by all of the addresses or by their places in 4 KiB:
  uint32_t round_distance_bytes = 64;
  bool round_distance_in_page = false;
};

struct CoreSettings {
  uint32_t dispatch_width = 4;  // uops per cycle
  uint32_t reorder_buffer = 192;
  uint32_t scheduler = 64;
  uint32_t load_queue = 64;
  uint32_t store_queue = 48;      // stores that have not left for L1D yet
  uint32_t stores_per_cycle = 1;  // that leave for L1D
  uint32_t miss_buffers = 10;     // L1D misses under way at once
  uint32_t fetch_queue = 24;      // uops fetched ahead of dispatch
  uint32_t ports = 6;
  uint32_t mispredict_cycles = 14;  // from the branch's execution to the right path's dispatch
  uint32_t redirect_cycles = 7;     // a target that the decoder corrects (BTB miss)
  InstructionTimings instructions;  // where LLVM has them wrong
  StringSettings strings;
  // What loads wait from a store that has not left the queue:
  uint32_t store_forward_cycles = 0;     // from the store's value to the load's; 0: an L1 hit's
  bool renamed_memory = false;           // none, for whole words in general registers
  uint32_t forward_refused_cycles = 12;  // after the stores, if no single one wrote all of it
  uint32_t alias_cycles = 0;             // if it wrote the same place of another page
  uint32_t call_cycles = 3;              // HCA's cost of a call (paper, table 8)
  uint32_t threads = 1;                  // that share a core
};

struct MemorySettings {
  uint32_t latency_cycles = 200;
  double bytes_per_cycle = 8;             // of one core
  double l2_bytes_per_cycle = 64;         // of one core, between L1D and what is beyond it
  double shared_bytes_per_cycle = 32;     // of one core, to and from what is beyond its own caches
  uint32_t l1d_set_cycles = 0;            // between two lines that enter one set of L1D
  uint32_t other_core_clean_cycles = 65;  // a line out of another core's cache
  uint32_t other_core_modified_cycles = 85;
};

struct MachineModel {
  std::string name = "generic";
  std::string llvm_cpu;  // whose costs instructions have, as LLVM names it; "": a common one
  // Patterns of CPUs (cpuid.h) that have this very core, and of those whose core is more like it
  // than like any other that is shipped.
  std::vector<std::string> cpu;
  std::vector<std::string> nearest_for;
  std::string core_of;    // of "host": whose core it was given, for people
  std::string caches_of;  // of "host": whose caches, too, as the kernel does not describe its own
  // `culprit calibrate` says which CPU figures were measured on (cpuid.h), and when; "": none were.
  std::string calibrated_cpu;
  std::string calibrated_date;
  uint32_t line_bytes = 64;  // of all levels
  CacheGeometry l1i{32 << 10, 8, Replacement::lru, Inclusion::non_inclusive, 4};
  CacheGeometry l1d{32 << 10, 8, Replacement::lru, Inclusion::non_inclusive, 4};
  CacheGeometry l2{512 << 10, 8, Replacement::lru, Inclusion::non_inclusive, 14};
  CacheGeometry l3{8 << 20, 16, Replacement::lru, Inclusion::non_inclusive, 40};
  TlbSettings tlb;
  PrefetchSettings prefetch;
  BranchSettings branch;
  CoreSettings core;
  MemorySettings memory;
};

/// The number of sets. Only of a geometry that check_machine() accepts.
inline uint64_t compute_sets(const CacheGeometry& cache, uint32_t line_bytes) {
  return cache.size_bytes / (uint64_t{cache.ways} * line_bytes);
}

/// Errors: what cannot be simulated, with what is allowed.
Result<void> check_machine(const MachineModel& machine);

/// A machine from the text of a TOML file; what is not in it is as in `rest`.
/// Errors: name the line and the key, and what is allowed there.
Result<MachineModel> parse_machine(std::string_view toml, const std::string& name,
                                   const MachineModel& rest = {});

/// parse_machine() of a file.
Result<MachineModel> read_machine(const std::string& path, const MachineModel& rest = {});

/// The machine that `sysfs_root` (normally "/sys") describes: its cache levels and their
/// sizes; what sysfs does not tell is as in `rest`.
/// Errors: not_found: no cache there (sysfs not mounted, some virtual machines); or caches that
/// cannot be simulated
Result<MachineModel> read_host_machine(const std::string& sysfs_root,
                                       const MachineModel& rest = {});

}  // namespace culprit::simulate
