#pragma once

// The Profile: everything a collector found out, as plain values.
//
//   Run ── Context ──┬── Histogram    per (context, image): offset → counts
//     (who, where)   │               by data object, too, where that was recorded
//                    ├── StackCount, BranchCount, FallThrough, SampledAccess
//                    ├── Tenure, Edge             what happened in the caches
//                    ├── Count                    an event over a whole interval
//                    ├── SliceCount               the same samples by slice of the run's time
//                    └── RegionValue              OpenMP constructs
//   Event: what is counted, in which unit, how it was obtained
//   Image: the code, by identity;  ImageFacts (image_facts.h): what reports
//   need to know of it.  Ledger: what makes the numbers weaker.
//
// Tables refer to each other by row number (ids.h). Nothing here does I/O.
//
// The fields of each row are listed in fields.h, the tables and counts of a Profile in tables.h:
// storing, merging and comparing follow from those lists.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "model/ids.h"
#include "model/ledger.h"
#include "model/string_table.h"

namespace culprit {

/// What the kernel says that a command and its children took, once they have ended.
struct ResourceUse {
  std::optional<int64_t> system_time_ns;  // of the CPU time: in the kernel
  std::optional<int64_t> minor_faults;    // page faults without waiting for a disk
  std::optional<int64_t> major_faults;    // and with
  // System calls that read (write), pread, readv and the like, too, and what they moved: of files,
  // pipes, terminals and sockets. Unknown where the kernel does not count it for us.
  std::optional<int64_t> read_calls;
  std::optional<int64_t> read_bytes;
  std::optional<int64_t> write_calls;
  std::optional<int64_t> written_bytes;
  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};

/// CPU time that went to others while a command ran: what was measured then, they have slowed.
struct OthersTime {
  std::optional<int64_t> other_programs_ns;  // that neither the command nor Culprit took
  std::optional<int64_t> stolen_ns;          // that a hypervisor gave to other machines
  friend bool operator==(const OthersTime&, const OthersTime&) = default;
};

/// One execution or recording interval.
struct Run {
  StringId host;
  StringId command;                     // as typed, words joined by spaces
  std::map<StringId, StringId> labels;  // build, setting, size, ...
  int64_t start_ns = 0;                 // CLOCK_REALTIME
  int64_t duration_ns = 0;              // wall time of the recorded interval
  std::optional<int64_t> cpu_time_ns;   // user + system of the command, by the kernel
  std::optional<int> wait_status;       // as wait(2) gives it; none for attached or system-wide
  ResourceUse use{};
  OthersTime others{};
  friend bool operator==(const Run&, const Run&) = default;
};

/// A process from exec (or fork) to exec (or exit): a new program is a new row.
struct Process {
  RunId run;
  uint32_t pid = 0;  // 0: several processes of one name, folded
  uint32_t parent_pid = 0;
  StringId name;  // comm
  friend bool operator==(const Process&, const Process&) = default;
};

struct Thread {
  ProcessId process;
  uint32_t tid = 0;  // 0: several threads of the process, folded
  StringId name;
  uint32_t ordinal = 0;  // 1: the first one of the process, and so on as they began; 0: not known
  friend bool operator==(const Thread&, const Thread&) = default;
};

enum class Mode : uint8_t { all, user, kernel, guest_user, guest_kernel, hypervisor };

/// Who did it. Any field may be "all" (the default of each id, Mode::all).
struct Context {
  RunId run;
  ProcessId process;
  ThreadId thread;
  Mode mode = Mode::all;
  StringId cgroup;
  StringId label;
  RegionId region{};  // the innermost that the thread was in
  friend auto operator<=>(const Context&, const Context&) = default;
};

enum class Unit : uint8_t { cycles, ns, events, bytes };

/// How the numbers of an event were obtained: `=` counted, `~` sampled, `?` modelled.
enum class Provenance : uint8_t { counted, sampled, modelled };

struct Event {
  StringId name;  // "cpu-clock", "instructions", "sim:cycles"
  Unit unit = Unit::events;
  Provenance provenance = Provenance::counted;
  StringId engine;      // its word (engine.h)
  StringId encoding;    // raw encoding with modifiers, as perf writes it
  uint64_t period = 0;  // events per sample, in `unit`; 0: not sampled or varying
  double scale = 1;     // stored integers x scale = values in `unit`
  friend bool operator==(const Event&, const Event&) = default;
};

enum class ImageKind : uint8_t {
  program,  // ELF executable (ET_EXEC, or ET_DYN with an interpreter)
  library,  // any other mapped ELF file
  kernel,   // offsets count from _text
  module,   // kernel module; offsets count from its load address
  vdso,
  jit,      // one code object made at run time; offsets count from its start
  unknown,  // no file behind it, or none that could be identified; run addresses
};

/// Path of the image (of unknown kind) of all mapped memory that no file is behind: code made at
/// run time that nobody has named.
inline constexpr std::string_view kAnonymousPath = "[anonymous]";

/// Paths of the images of what a virtual machine ran while its process was sampled: its kernel,
/// and the programs in it. Of unknown kind, but a kernel of which the recording knows more.
inline constexpr std::string_view kGuestKernelPath = "[guest kernel]";
inline constexpr std::string_view kGuestUserPath = "[guest user]";

/// Whether the path of an image of unknown kind says what it is all the same.
constexpr bool tells_what_it_is(std::string_view path) {
  return path == kAnonymousPath || path == kGuestKernelPath || path == kGuestUserPath;
}

/// Executable code with an identity.
struct Image {
  ImageKind kind = ImageKind::unknown;
  StringId path;         // as the process saw it; "[kernel]", "[vdso]", "[jit] name"
  std::string build_id;  // lower-case hexadecimal; "" if unknown
  uint64_t inode = 0;    // with size and mtime: the identity without a build-id
  uint64_t size_bytes = 0;
  int64_t mtime_ns = 0;
  std::string content_hash;  // jit: of code bytes and name
  int64_t born_ns = 0;       // jit: lifetime within the run, 0 = unknown
  int64_t died_ns = 0;
  friend bool operator==(const Image&, const Image&) = default;
};

/// A place in code. The same in every run of the same image.
struct Location {
  ImageId image;
  FileOffset offset;
  friend auto operator<=>(const Location&, const Location&) = default;
};

/// One entry of a histogram. `value` is in the event's unit / scale; for sampled
/// events `variance` is that of `value` (0: Poisson of `samples`).
struct Cell {
  EventId event;
  uint64_t samples = 0;
  uint64_t value = 0;
  double variance = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

/// Values of one event, parallel to Histogram::offsets.
struct EventColumn {
  EventId event;
  std::vector<uint64_t> samples;  // empty: none was taken, all is counted
  std::vector<uint64_t> value;
  std::vector<double> variance;  // empty: Poisson of the samples (or exact, if counted)

  [[nodiscard]] uint64_t samples_at(size_t row) const {
    return row < samples.size() ? samples[row] : 0;
  }
  friend bool operator==(const EventColumn&, const EventColumn&) = default;
};

/// The heart of the profile: counts by code address and data object. Rows ascend by (offset,
/// object), no pair comes twice: what an instruction did is the sum of its rows.
struct Histogram {
  ContextId context;
  ImageId image;
  std::vector<FileOffset> offsets;
  std::vector<EventColumn> columns;
  std::vector<ObjectId> objects{};  // parallel to `offsets`; empty: recorded of none
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

/// A cell of a histogram with its whole key: the flat form of histograms.
struct HistogramRow {
  ContextId context;
  Location location;
  Cell cell;
  ObjectId object{};
  friend auto operator<=>(const HistogramRow&, const HistogramRow&) = default;
};

/// An event over a whole interval, not tied to code.
struct Count {
  ContextId context;
  EventId event;
  uint32_t interval = 0;
  uint32_t repetition = 0;
  uint64_t value = 0;
  uint64_t time_enabled_ns = 0;
  uint64_t time_running_ns = 0;  // less than enabled: multiplexed
  friend bool operator==(const Count&, const Count&) = default;
};

/// What a context did in one slice of its run's time: every sample that is in a histogram and whose
/// time is known, once more, without its place. Slices of one run may differ in width: those of its
/// beginning were kept before it was known to be long. Wider ones are made of whole narrower ones.
struct SliceCount {
  ContextId context;
  uint64_t width_ns = 0;
  uint64_t begin_ns = 0;  // since the run's start
  Cell cell;
  friend auto operator<=>(const SliceCount&, const SliceCount&) = default;
};

/// A node of the tree of call stacks; roots have no parent. Callers above callees:
/// a child was called from `location` of its parent.
struct StackNode {
  StackId parent;
  Location location;  // leaf: the sampled address; above: return address - 1
  friend auto operator<=>(const StackNode&, const StackNode&) = default;
};

struct StackCount {
  ContextId context;
  StackId stack;
  Cell cell;
  friend auto operator<=>(const StackCount&, const StackCount&) = default;
};

struct BranchCount {
  ContextId context;
  Location from;
  Location to;
  uint64_t count = 0;
  uint64_t mispredicted = 0;
  uint64_t cycles = 0;  // sum of the records' cycle fields: since the branch before
  uint64_t judged = 0;  // of `count`, those that say whether they were predicted
  uint64_t timed = 0;   // of `count`, those that have a cycle field
  friend auto operator<=>(const BranchCount&, const BranchCount&) = default;
};

/// Code that ran straight on between two taken branches of one branch record: from the
/// target of the earlier to the source of the later, both included (a "range" of AutoFDO).
struct FallThrough {
  ContextId context;
  ImageId image;
  FileOffset from;
  FileOffset to;
  uint64_t count = 0;
  friend auto operator<=>(const FallThrough&, const FallThrough&) = default;
};

/// Sampled accesses to memory of one place in the code to one object, that had their data from one
/// source. Their addresses are not kept: the object is what there is to know of them.
struct SampledAccess {
  ContextId context;
  EventId event;
  Location location;
  ObjectId object;
  uint64_t source = 0;  // perf_mem_data_src
  uint64_t samples = 0;
  uint64_t timed = 0;                       // of `samples`, those that have a latency
  uint64_t latency_cycles = 0;              // sum over accesses, each as the CPU defines it
  uint64_t squared_latency = 0;             // sum of the squares [cycles^2]
  uint64_t instruction_latency_cycles = 0;  // sum, of the whole instructions
  friend auto operator<=>(const SampledAccess&, const SampledAccess&) = default;
};

enum class ObjectKind : uint8_t {
  unknown,
  global,
  heap,
  stack,
  range,
  field,
  mapping,  // memory that the program has mapped: of a file, or of none
};

/// Names of objects that are no data structure of the program's.
inline constexpr std::string_view kAllocatorObject = "[allocator]";  // of the heap, in no block
inline constexpr std::string_view kOtherObjects =
    "[other objects]";  // beyond an instruction's most

/// A data structure. Row 0 of a profile's objects is always "unknown" (see ids.h).
struct DataObject {
  ObjectKind kind = ObjectKind::unknown;
  StringId name;
  StringId type;
  ObjectId parent;  // field: the object it belongs to
  Location site;    // heap, mapping: the call that allocates; stack: function; global: its place
  uint64_t size_bytes = 0;   // heap, mapping: of each block, where sizes are told apart
  StackId calls{};           // heap, mapping: that led to the allocation; names are made of these
  uint64_t blocks = 0;       // heap, mapping: that there ever were
  uint64_t total_bytes = 0;  // of them
  friend auto operator<=>(const DataObject&, const DataObject&) = default;
};

/// Where in the blocks of an object, or in a variable, an instruction was seen to access it.
struct AccessOffset {
  ContextId context;
  Location location;
  ObjectId object;
  uint64_t offset = 0;   // the lowest that was seen (where `span` is not known: the first) [bytes]
  uint64_t stride = 0;   // the others differ from it by multiples of it; 0: none does
  uint64_t span = 0;     // how far the highest is from the lowest; 0 beside a stride: not known
  uint64_t samples = 0;  // accesses seen
  friend auto operator<=>(const AccessOffset&, const AccessOffset&) = default;
};

/// Where an object was, and when.
struct ObjectRange {
  ObjectId object;
  ContextId context;
  RunAddress start;
  uint64_t size_bytes = 0;
  int64_t born_ns = 0;
  int64_t died_ns = 0;
  friend auto operator<=>(const ObjectRange&, const ObjectRange&) = default;
};

enum class CacheLevel : uint8_t { l1i, l1d, l2, l3, memory, itlb, dtlb, stlb };
enum class AccessKind : uint8_t { integer_load, integer_store, float_load, float_store, fetch };

/// What happened to the lines that one instruction brought in, or a prefetcher that it set off,
/// from fill to eviction. Spatial use is bytes_touched / (lines x line size), temporal use
/// bytes_accessed / bytes_touched - 1.
///
/// Of a run with a sample of cache sets each row is of one stratum: 0 are sets that were followed
/// for certain, each other number is a random group of those that were drawn. Values are scaled:
/// their sum over strata is the estimate for all sets, and how random groups differ is its error.
struct Tenure {
  ContextId context;
  Location location;
  ObjectId object;
  CacheLevel level = CacheLevel::l1d;
  AccessKind kind = AccessKind::integer_load;
  uint64_t lines = 0;
  uint64_t bytes_touched = 0;  // different bytes of each line
  uint64_t bytes_accessed = 0;
  uint64_t touches = 0;           // times that this level was asked for one of the lines
  uint64_t lines_reused = 0;      // of `lines`: asked for more than once
  uint64_t lines_at_end = 0;      // of `lines`: still there when the run ended
  uint64_t lines_prefetched = 0;  // of `lines`: by a prefetcher
  uint64_t lines_never_used = 0;  // of those: no byte was used
  uint64_t lines_cut = 0;         // of `lines`: not all that was used of them is known
  uint32_t stratum = 0;           // of cache sets, as below
  friend auto operator<=>(const Tenure&, const Tenure&) = default;
};

enum class EdgeKind : uint8_t {
  reuse,
  eviction_conflict,
  eviction_capacity,
  sharing_true,
  sharing_false,
  refetch_capacity,  // brought in again, since it was evicted by capacity
  refetch_conflict
};

/// An edge leads from the instruction that brought a line in (or lost it) to the one that reused it
/// (or pushed it out, or had to bring it in again), each in its own context. `object` is of the
/// line, `to_object` of what the second one accessed.
struct Edge {
  ContextId from_context;
  ContextId to_context;
  Location from;
  Location to;
  ObjectId object;
  CacheLevel level = CacheLevel::l1d;
  EdgeKind kind = EdgeKind::reuse;
  uint64_t count = 0;
  ObjectId to_object{};
  uint32_t stratum = 0;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// An OpenMP construct or marked region.
struct Region {
  StringId name;
  StringId kind;  // "parallel", "for", "critical", "user", ...
  StringId file;
  uint32_t first_line = 0;
  uint32_t last_line = 0;
  RegionId parent;  // the construct around it: a region is a path of constructs
  Location site{};  // where it begins: the call that enters it, or the function that is its body
  Location end{};   // the call that ends it first; no image: not seen
  friend auto operator<=>(const Region&, const Region&) = default;
};

/// One thread's share of a region: a part (region_words.h) in ns, or a counter. Executions are
/// those of the region, in each row of its parts.
struct RegionValue {
  ContextId context;
  RegionId region;
  StringId part;
  EventId event;  // all: a time in ns
  uint64_t executions = 0;
  uint64_t value = 0;
  friend auto operator<=>(const RegionValue&, const RegionValue&) = default;
};

/// The core clock, measured by a loop of dependent adds interleaved with the run.
struct ClockCalibration {
  double hertz = 0;      // median over the bursts
  double low_hertz = 0;  // 95 % interval
  double high_hertz = 0;
  uint32_t bursts = 0;
  friend bool operator==(const ClockCalibration&, const ClockCalibration&) = default;
};

/// The computer. Unknown texts are "", unknown numbers 0.
struct Machine {
  std::string architecture;  // "x86_64", "aarch64" as uname prints
  std::string cpu_model;
  std::string cpu_id;  // as perf's tables of CPUs have it: "GenuineIntel-6-55-7", an Arm MIDR
  std::string kernel_release;
  uint32_t cpus_online = 0;
  bool has_pmu = false;
  std::string virtualization;  // "kvm", ... or ""
  std::optional<ClockCalibration> clock;
  friend bool operator==(const Machine&, const Machine&) = default;
};

struct Profile {
  Machine machine;
  std::map<std::string, std::string> environment;  // what else may matter: engine options, limits

  StringTable strings;
  std::vector<Run> runs;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Context> contexts;
  std::vector<Event> events;
  std::vector<Image> images;
  std::vector<StackNode> stacks;
  std::vector<DataObject> objects;
  std::vector<ObjectRange> object_ranges;
  std::vector<Region> regions;

  std::vector<Histogram> histograms;  // by (context, image), each pair once
  std::vector<StackCount> stack_counts;
  /// Samples of kernel code with what the kernel was asked to do and by which code: recorded where
  /// stack_counts were not asked for. The outermost user frames may be missing.
  std::vector<StackCount> kernel_stacks;
  std::vector<BranchCount> branch_counts;
  std::vector<FallThrough> fall_throughs;
  std::vector<SampledAccess> sampled_accesses;
  std::vector<Count> counts;
  std::vector<SliceCount> slice_counts;
  std::vector<Tenure> tenures;
  std::vector<Edge> edges;
  std::vector<RegionValue> region_values;
  std::vector<AccessOffset> access_offsets;

  Ledger ledger;
};

/// Empties the counts and keeps the tables: after a flush, or where only tables matter.
void clear_counts(Profile& profile);

}  // namespace culprit

template <>
struct std::hash<culprit::Location> {
  size_t operator()(const culprit::Location& at) const noexcept {
    return static_cast<size_t>((at.offset.value ^ uint64_t{at.image.value} << 40) *
                               0x9e3779b97f4a7c15);
  }
};
