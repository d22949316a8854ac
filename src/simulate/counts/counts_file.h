#pragma once

// The file through which a Counting, in the program's process, tells the host side what it counts:
// one per process image (a fork and an exec begin a new one), mapped shared by it,
// so that what was counted is there however the program ends.
//
//   offset 0            Header              who, and how much of each table is filled
//   kSitesStart         Site[kMaxSites]     one per instruction: place, facts; never changed
//   kBlocksStart        Block[kMaxBlocks]   one per translated block: a range of ...
//   kBlockSitesStart    uint32_t[]          ... site numbers, in the order of execution
//   kMappingsStart      MappedRange[]           which file was where when a site was translated
//   kTextStart          char[]              paths, NUL-terminated, named by offset
//   kMessagesStart      char[]              what the engine wrote to its stderr
//   kStaticStart        StaticTicks[]       parallel to block sites, if cycles are modelled
//   kSiteObjectsStart   SiteObject[]        parallel to sites: those of one data object only
//   kObjectsStart       Object[kMaxObjects] data objects of which anything was counted
//   kObjectPathsStart   uint32_t[]          sites of the calls that allocated them
//   kRegionPathsStart   RegionPath[]        OpenMP constructs, each below those around it
//   core_start(c)       CoreHeader, BlockRuns[kMaxBlocks], SiteAccesses[kMaxSites],
//                       SiteCounts[kMaxSites], simulate::SiteTicks[kMaxSites],
//                       simulate::ReplayTicks[kMaxSites], SampledMisses[kMaxSites],
//                       Target[kMaxTargets]
//
// A part is called a core's since each thread runs on one. The first kThreadsApart threads of the
// process have a part of their own, in the order in which they began; later ones count into the
// part of the engine's virtual CPU that they run on, together with those before them there.
//
// With regions a thread has a part for each construct that it is in, and one for waiting there: its
// own part is for what it does outside of all. CoreHeader says which is which.
//
// Tables are append-only: an entry is complete before the Header's number includes it.
// The file is sparse; each core's part is written by one thread alone. Both sides
// come from one build: kLayout must agree. docs/decisions/ says why this shape.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulate/machine/cycles.h"
#include "simulate/machine/forecast.h"
#include "simulate/machine/set_sample.h"

namespace culprit::counts_file {

inline constexpr uint64_t kMagic = 0x3154'4e55'4f43'4c43;  // "CLCOUNT1"
inline constexpr uint32_t kLayout = 17;

inline constexpr uint32_t kMaxSites = 1 << 22;
inline constexpr uint32_t kMaxBlocks = 1 << 22;
inline constexpr uint32_t kMaxBlockSites = 1 << 25;
inline constexpr uint32_t kMaxMappings = 1 << 16;
inline constexpr uint32_t kMaxTextBytes = 1 << 22;
inline constexpr uint32_t kMaxMessageBytes = 1 << 16;
inline constexpr uint32_t kMaxCpus = 4096;      // threads at a time, as the engine numbers them
inline constexpr uint32_t kThreadsApart = 255;  // and one number for all others
inline constexpr uint32_t kRegionParts = 1280;  // of all threads, in the order in which they came
inline constexpr uint32_t kMaxCores = kThreadsApart + kRegionParts + kMaxCpus;
/// Where the threads after the first kThreadsApart count that run on a virtual CPU.
constexpr uint32_t shared_core(uint32_t cpu) {
  return kThreadsApart + kRegionParts + cpu;
}
inline constexpr uint32_t kMaxTargets = 1 << 20;  // of a core
inline constexpr uint32_t kMaxObjects = 1 << 20;
inline constexpr uint32_t kMaxObjectPaths = 1 << 23;
inline constexpr uint32_t kMaxRegionPaths = 1 << 14;

/// Where control goes at the end of an instruction.
enum class ControlFlow : uint8_t {
  none,
  conditional,
  jump,
  indirect_jump,
  call,
  indirect_call,
  returns,
  system_call,
};

/// Bits of Site::flags.
inline constexpr uint8_t kFloat = 1;           // works on floating-point values
inline constexpr uint8_t kRepeats = 2;         // x86 string instruction with a repeat prefix
inline constexpr uint8_t kEvex = 4;            // AVX-512 encoding, which QEMU does not run
inline constexpr uint8_t kUnknownCosts = 8;    // the scheduling model does not know it
inline constexpr uint8_t kKnownAccesses = 16;  // what each execution accesses follows from its code
inline constexpr uint8_t kWide = 32;           // may use vectors beyond 16 bytes: AVX, SVE

struct Site {
  uint64_t address;  // in the process
  uint32_t mapping;  // 0: no file
  uint8_t size;      // bytes
  ControlFlow branch;
  uint8_t flags;
  uint8_t load_bytes;  // of an execution, if its accesses are known; then they are not counted
  uint8_t store_bytes;
  uint8_t code[15];
};
static_assert(sizeof(Site) == 32);

/// What an instruction did at each data object is counted apart, as that of a site whose row is the
/// instruction's; this says of which object. Executions are the instruction's.
struct SiteObject {
  uint32_t instruction;  // its site; 0: this is an instruction itself
  uint32_t object;
  // Where in the object's blocks it accesses, by some of its accesses:
  uint64_t offset;   // the lowest
  uint64_t stride;   // what the others differ from it by: their greatest common divisor
  uint64_t span;     // by how much the highest does
  uint64_t samples;  // how many; 0: nothing is known
};

/// A data object; its kind is an objects::Kind.
struct Object {
  uint8_t kind;
  uint8_t is_folded;  // a block of its own that is its site's after all
  uint8_t reserved[2];
  uint32_t name;        // in the text table
  uint32_t mapping;     // variables and sections: the file is this mapping's
  uint32_t path_first;  // in the table of paths: call sites, the innermost first
  uint32_t path_sites;
  uint32_t parent;
  uint64_t place;  // as objects::Object has these
  uint64_t size_bytes;
  uint64_t total_bytes;
  uint64_t blocks;
};
static_assert(sizeof(Object) == 56);

/// An OpenMP construct below others.
struct RegionPath {
  uint32_t parent;       // less than its own number; 0: none
  uint32_t mapping;      // of `site`
  uint32_t end_mapping;  // of `end`
  uint16_t kind;         // culprit_region_kind
  uint16_t detail;       // culprit_region_detail
  uint64_t site;         // the call that enters it, or the function that is its body; 0: not known
  uint64_t end;          // the call that ended it first; 0: not seen
};
static_assert(sizeof(RegionPath) == 32);

struct Block {
  uint32_t first;  // in the table of block sites
  uint32_t sites;
  int32_t displacement;  // of a direct branch at its end: its target, from its own address on
  uint32_t reserved;
};

struct MappedRange {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;  // of `start`
  uint64_t inode;
  uint32_t device_major;
  uint32_t device_minor;
  uint32_t path;  // in the text table
  uint32_t reserved;
};

/// Executions of a block, and of them those after which its last instruction, a conditional
/// branch, was taken. Side by side, as SiteAccesses are: these are what every block changes.
struct BlockRuns {
  uint64_t runs;
  uint64_t taken;
};

/// What is counted per site besides executions, which follow from the blocks' runs, as do the
/// accesses of sites with kKnownAccesses. In the file the first of these are SiteAccesses and
/// `taken` is in BlockRuns; SiteCounts has the others.
enum class Counter : uint8_t {
  loads,
  load_bytes,
  stores,
  store_bytes,
  taken,
  repeats,       // executions that only went on with a string instruction
  mispredicted,  // direction, target or return
  late_targets,  // a taken branch that the decoder had to find
  // A machine model counts these. Accesses stand by where the data came from, if not the first
  // level, in the order of simulate::DataSource:
  load_l2,
  load_l3,
  load_other_core_clean,
  load_other_core_modified,
  load_memory,
  store_l2,
  store_l3,
  store_other_core_clean,
  store_other_core_modified,
  store_memory,
  fetch_l2,  // of the lines of code that begin with this instruction
  fetch_l3,
  fetch_other_core_clean,
  fetch_other_core_modified,
  fetch_memory,
  // Translations that the first-level TLB did not have.
  load_second_tlb,
  load_walks,
  store_second_tlb,
  store_walks,
  fetch_second_tlb,
  fetch_walks,
  data_walk_cycles,
  fetch_walk_cycles,
  load_memory_in_gaps,  // load_memory between windows
  store_memory_in_gaps,
};
inline constexpr size_t kCounters = 33;

/// Whether it is counted wherever the run is, though only windows of it are modelled.
constexpr bool is_of_whole_run(size_t counter) {
  return counter == static_cast<size_t>(Counter::repeats) ||
         counter == static_cast<size_t>(Counter::load_memory_in_gaps) ||
         counter == static_cast<size_t>(Counter::store_memory_in_gaps);
}

struct SiteCounts {
  uint64_t value[kCounters];
};

/// The bytes of accesses at a data object follow from their number if they are known. Then their
/// place has how many of them are estimates: since a sample of sets with locality began, one access
/// in kLookedAtPeriod, chosen at random, has its data object looked up, and stands for so many.
inline constexpr size_t kAccessCounters = 4;
struct SiteAccesses {
  uint64_t value[kAccessCounters];
};
inline constexpr uint32_t kLookedAtPeriod = 64;

/// The misses of a site by random groups of drawn sets, if only some cache sets are simulated: as
/// many classes as the header says. The counters have these misses, too; how they differ between
/// classes tells how good the sample is.
inline constexpr uint32_t kMostSampleClasses = simulate::kMostRandomGroups;
struct SampledMisses {
  uint32_t misses[kMostSampleClasses];
};

/// Misses in sets that are simulated for certain, by the counters from load_l2 to fetch_memory,
/// which then have those in drawn sets only. A sample of sets has no cycles: these stand where
/// simulate::SiteTicks would.
inline constexpr size_t kMissCounters = 15;
struct CertainMisses {
  uint64_t value[kMissCounters];
};
static_assert(sizeof(CertainMisses) <= sizeof(simulate::SiteTicks));

/// With locality sets fall into so many groups at most, and accesses are counted by them.
inline constexpr uint32_t kMostGroups = 64;

/// How often the indirect call or jump at `from` went to the site `to`; 0: to any of those
/// that have no row of their own.
struct Target {
  uint32_t from;
  uint32_t to;
  uint64_t count;
};

/// What one execution of an instruction takes by itself in its block, by simulate::CycleClass.
struct StaticTicks {
  uint32_t ticks[simulate::kCycleClasses];
};

struct CoreHeader {
  std::atomic<uint64_t> instructions;  // in whole blocks; for limits
  std::atomic<uint64_t> repeats;       // of them: as Counter::repeats
  uint64_t system_calls;
  uint64_t system_call_ns;
  uint64_t ticks;                 // of the core's clock, if cycles are modelled
  uint64_t outside_instructions;  // outside the region: not counted
  uint64_t other_targets;         // indirect branches that are in no row: the table was full
  std::atomic<uint32_t> targets;  // rows; the first is a place holder
  uint32_t tid;                   // of the thread, the first one if there are several
  char name[16];                  // as the kernel had it when it was last seen
  uint32_t is_beginning;          // with windows: what is modelled here is of the first one
  // A part for a region has these:
  uint32_t region_path;  // 0: this is no such part
  uint32_t is_waiting;
  uint32_t of_thread;   // as ThreadCounts::number
  uint64_t executions;  // of the construct, by the thread
  uint64_t pieces;      // chunks, sections, singles that it ran; tasks that it created
  uint64_t sampled_accesses[kMostGroups];  // of the thread as a whole, by group of sets, of data,
                                           // since a sample of them began, with locality;
                                           // estimated, as SiteAccesses are
  uint8_t unused[4096 - 8 * 9 - 40 - 8 * kMostGroups];
};
static_assert(sizeof(CoreHeader) == 4096);

struct Header {
  uint64_t magic;
  uint32_t layout;
  uint32_t pid;
  uint32_t parent_pid;
  uint32_t is_fork;  // else the start, or an exec
  uint32_t has_cycles;
  uint32_t sample_classes;  // of drawn sets; 0: all sets are simulated
  uint32_t is_interleaved;  // threads took turns by simulated time
  uint32_t has_windows;     // what is modelled is in PATH.windows (windows_file.h)
  uint64_t start_ns;        // CLOCK_MONOTONIC
  std::atomic<uint32_t> sites;
  std::atomic<uint32_t> blocks;
  std::atomic<uint32_t> block_sites;
  std::atomic<uint32_t> mappings;
  std::atomic<uint32_t> text_bytes;
  std::atomic<uint32_t> message_bytes;
  std::atomic<uint32_t> cores;             // the highest number in use + 1
  std::atomic<uint32_t> threads;           // that have begun, whether they ended or not
  std::atomic<uint32_t> native_execs;      // programs that were started outside the simulation
  std::atomic<uint32_t> is_stopped;        // a limit was reached
  std::atomic<uint32_t> uncounted_cores;   // threads beyond kMaxCpus
  std::atomic<uint64_t> uncounted_blocks;  // translated when a table was full
  std::atomic<uint64_t> sites_without_file;
  uint32_t has_objects;  // 2: blocks of different sizes are different ones; 3: so are the largest
  std::atomic<uint32_t> objects;
  std::atomic<uint32_t> object_paths;
  std::atomic<uint32_t> has_allocators;      // functions that allocate were found
  std::atomic<uint64_t> unseen_allocations;  // calls of them whose arguments are not known
  uint32_t has_regions;
  std::atomic<uint32_t> region_paths;
  std::atomic<uint32_t> lost_region_parts;  // threads in regions for which there was no room
  std::atomic<uint64_t> lost_region_paths;  // constructs likewise
  std::atomic<uint64_t> estimated_ticks;    // with windows: of all, those that are over
  std::atomic<uint64_t> lost_windows;       // of threads, that could not be written
  std::atomic<uint32_t> sample_weight;      // what one event in a drawn set stands for; 1: in none
  std::atomic<uint32_t> sample_groups;      // of sets, with locality
  std::atomic<uint64_t> lost_ranges;        // that the program marked: too many, or without a name
  std::atomic<uint64_t> blocks_not_apart;   // of 3: that are under their sites
  uint8_t strata[kMostGroups];              // of these groups, as simulate::SetSample has them
  char program[1024];
};

inline constexpr uint64_t kPage = 4096;
constexpr uint64_t up_to_page(uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

inline constexpr uint64_t kSitesStart = kPage;
inline constexpr uint64_t kBlocksStart = kSitesStart + uint64_t{kMaxSites} * sizeof(Site);
inline constexpr uint64_t kBlockSitesStart = kBlocksStart + uint64_t{kMaxBlocks} * sizeof(Block);
inline constexpr uint64_t kMappingsStart =
    kBlockSitesStart + uint64_t{kMaxBlockSites} * sizeof(uint32_t);
inline constexpr uint64_t kTextStart =
    kMappingsStart + uint64_t{kMaxMappings} * sizeof(MappedRange);
inline constexpr uint64_t kMessagesStart = kTextStart + kMaxTextBytes;
inline constexpr uint64_t kStaticStart = up_to_page(kMessagesStart + kMaxMessageBytes);
inline constexpr uint64_t kSiteObjectsStart =
    kStaticStart + uint64_t{kMaxBlockSites} * sizeof(StaticTicks);
inline constexpr uint64_t kObjectsStart =
    kSiteObjectsStart + uint64_t{kMaxSites} * sizeof(SiteObject);
inline constexpr uint64_t kObjectPathsStart =
    up_to_page(kObjectsStart + uint64_t{kMaxObjects} * sizeof(Object));
inline constexpr uint64_t kRegionPathsStart =
    kObjectPathsStart + uint64_t{kMaxObjectPaths} * sizeof(uint32_t);
inline constexpr uint64_t kCoresStart =
    kRegionPathsStart + uint64_t{kMaxRegionPaths} * sizeof(RegionPath);

inline constexpr uint64_t kRunsInCore = sizeof(CoreHeader);
inline constexpr uint64_t kAccessesInCore = kRunsInCore + uint64_t{kMaxBlocks} * sizeof(BlockRuns);
inline constexpr uint64_t kCountsInCore =
    kAccessesInCore + up_to_page(uint64_t{kMaxSites} * sizeof(SiteAccesses));
inline constexpr uint64_t kTicksInCore =
    kCountsInCore + up_to_page(uint64_t{kMaxSites} * sizeof(SiteCounts));
inline constexpr uint64_t kReplaysInCore =
    kTicksInCore + up_to_page(uint64_t{kMaxSites} * sizeof(simulate::SiteTicks));
inline constexpr uint64_t kMissesInCore =
    kReplaysInCore + up_to_page(uint64_t{kMaxSites} * sizeof(simulate::ReplayTicks));
inline constexpr uint64_t kTargetsInCore =
    kMissesInCore + up_to_page(uint64_t{kMaxSites} * sizeof(SampledMisses));
inline constexpr uint64_t kCoreBytes =
    kTargetsInCore + up_to_page(uint64_t{kMaxTargets} * sizeof(Target));
/// Where certain misses are, of a sample of sets.
inline constexpr uint64_t kCertainInCore = kTicksInCore;
constexpr uint64_t core_start(uint32_t core) {
  return kCoresStart + core * kCoreBytes;
}

static_assert(sizeof(Header) <= kPage);
static_assert(core_start(kMaxCores) < uint64_t{1} << 44, "ext4 has no larger files");

}  // namespace culprit::counts_file
