#include "events/generic_events.h"

#include <algorithm>
#include <array>
#include <linux/perf_event.h>
#include <strings.h>

#include "base/text.h"

#ifndef PERF_COUNT_SW_CGROUP_SWITCHES  // since Linux 5.13
#define PERF_COUNT_SW_CGROUP_SWITCHES 11
#endif

namespace culprit {
namespace {

constexpr auto kHardware = GenericKind::hardware;
constexpr auto kSoftware = GenericKind::software;

constexpr GenericEvent kGenericEvents[] = {
    {kHardware, PERF_COUNT_HW_CPU_CYCLES, "cycles", "cpu-cycles", "cycles",
     "cycles of the core while it is not halted"},
    {kHardware, PERF_COUNT_HW_INSTRUCTIONS, "instructions", "", "", "retired instructions"},
    {kHardware, PERF_COUNT_HW_CACHE_REFERENCES, "cache-references", "", "",
     "accesses to the last-level cache (what counts as one differs between CPUs)"},
    {kHardware, PERF_COUNT_HW_CACHE_MISSES, "cache-misses", "", "",
     "misses of the last-level cache (what counts as one differs between CPUs)"},
    {kHardware, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", "branch-instructions", "",
     "retired branches"},
    {kHardware, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses", "", "", "mispredicted branches"},
    {kHardware, PERF_COUNT_HW_BUS_CYCLES, "bus-cycles", "", "cycles", "cycles of the bus"},
    {kHardware, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend",
     "idle-cycles-frontend", "cycles", "cycles without instructions to start"},
    {kHardware, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stalled-cycles-backend",
     "idle-cycles-backend", "cycles", "cycles without room or data to go on"},
    {kHardware, PERF_COUNT_HW_REF_CPU_CYCLES, "ref-cycles", "", "cycles",
     "cycles at a frequency that does not change"},
    {kSoftware, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock", "", "ns", "time of a CPU"},
    {kSoftware, PERF_COUNT_SW_TASK_CLOCK, "task-clock", "", "ns", "CPU time of the task"},
    {kSoftware, PERF_COUNT_SW_PAGE_FAULTS, "page-faults", "faults", "", "page faults"},
    {kSoftware, PERF_COUNT_SW_CONTEXT_SWITCHES, "context-switches", "cs", "",
     "switches to another task"},
    {kSoftware, PERF_COUNT_SW_CPU_MIGRATIONS, "cpu-migrations", "migrations", "",
     "moves to another CPU"},
    {kSoftware, PERF_COUNT_SW_PAGE_FAULTS_MIN, "minor-faults", "", "",
     "page faults without reading from disk"},
    {kSoftware, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "major-faults", "", "",
     "page faults that read from disk"},
    {kSoftware, PERF_COUNT_SW_ALIGNMENT_FAULTS, "alignment-faults", "", "",
     "misaligned accesses that the kernel had to carry out"},
    {kSoftware, PERF_COUNT_SW_EMULATION_FAULTS, "emulation-faults", "", "",
     "instructions that the kernel had to emulate"},
    {kSoftware, PERF_COUNT_SW_DUMMY, "dummy", "", "", "nothing: carries records of processes"},
    {kSoftware, PERF_COUNT_SW_BPF_OUTPUT, "bpf-output", "", "", "what a BPF program writes"},
    {kSoftware, PERF_COUNT_SW_CGROUP_SWITCHES, "cgroup-switches", "", "",
     "switches to a task of another cgroup"},
};

/// One word of a cache event's name, its spellings, the usual one first.
struct CacheWord {
  uint64_t value;
  std::array<const char*, 5> spellings;
};

constexpr CacheWord kCaches[] = {
    {PERF_COUNT_HW_CACHE_L1D, {"L1-dcache", "l1-d", "l1d", "L1-data"}},
    {PERF_COUNT_HW_CACHE_L1I, {"L1-icache", "l1-i", "l1i", "L1-instruction"}},
    {PERF_COUNT_HW_CACHE_LL, {"LLC", "L2"}},
    {PERF_COUNT_HW_CACHE_DTLB, {"dTLB", "d-tlb", "Data-TLB"}},
    {PERF_COUNT_HW_CACHE_ITLB, {"iTLB", "i-tlb", "Instruction-TLB"}},
    {PERF_COUNT_HW_CACHE_BPU, {"branch", "branches", "bpu", "btb", "bpc"}},
    {PERF_COUNT_HW_CACHE_NODE, {"node"}},
};
constexpr CacheWord kOperations[] = {
    {PERF_COUNT_HW_CACHE_OP_READ, {"load", "loads", "read"}},
    {PERF_COUNT_HW_CACHE_OP_WRITE, {"store", "stores", "write"}},
    {PERF_COUNT_HW_CACHE_OP_PREFETCH,
     {"prefetch", "prefetches", "speculative-read", "speculative-load"}},
};
constexpr CacheWord kOutcomes[] = {
    {PERF_COUNT_HW_CACHE_RESULT_ACCESS, {"refs", "Reference", "ops", "access"}},
    {PERF_COUNT_HW_CACHE_RESULT_MISS, {"misses", "miss"}},
};

/// What the kernel has a number for: nothing writes to instruction caches, and TLBs of
/// instructions and branch predictors are only read.
bool exists(uint64_t cache, uint64_t operation) {
  switch (cache) {
    case PERF_COUNT_HW_CACHE_L1I:
      return operation != PERF_COUNT_HW_CACHE_OP_WRITE;
    case PERF_COUNT_HW_CACHE_ITLB:
    case PERF_COUNT_HW_CACHE_BPU:
      return operation == PERF_COUNT_HW_CACHE_OP_READ;
    default:
      return true;
  }
}

uint64_t cache_config(uint64_t cache, uint64_t operation, uint64_t outcome) {
  return cache | operation << 8 | outcome << 16;
}

bool is_prefix(std::string_view text, std::string_view word) {
  return text.size() >= word.size() && strncasecmp(text.data(), word.data(), word.size()) == 0 &&
         (text.size() == word.size() || text[word.size()] == '-');
}

/// The longest spelling that `*text` begins with, as a whole word; taken off, with its dash.
template <size_t N>
std::optional<uint64_t> take_word(std::string_view* text, const CacheWord (&words)[N]) {
  std::optional<uint64_t> found;
  size_t length = 0;
  for (const CacheWord& word : words) {
    for (const char* spelling : word.spellings) {
      if (spelling == nullptr) break;
      const std::string_view wanted(spelling);
      if (wanted.size() > length && is_prefix(*text, wanted)) {
        found = word.value;
        length = wanted.size();
      }
    }
  }
  if (found) text->remove_prefix(std::min(text->size(), length + 1));
  return found;
}

/// "CACHE[-OPERATION][-OUTCOME]", the last two in either order; none: loads, accesses.
std::optional<uint64_t> parse_cache_event(std::string_view name) {
  if (name.ends_with('-')) return std::nullopt;
  const std::optional<uint64_t> cache = take_word(&name, kCaches);
  if (!cache) return std::nullopt;
  std::optional<uint64_t> operation;
  std::optional<uint64_t> outcome;
  while (!name.empty()) {
    if (!operation && (operation = take_word(&name, kOperations))) continue;
    if (!outcome && (outcome = take_word(&name, kOutcomes))) continue;
    return std::nullopt;
  }
  const uint64_t op = operation.value_or(PERF_COUNT_HW_CACHE_OP_READ);
  if (!exists(*cache, op)) return std::nullopt;
  return cache_config(*cache, op, outcome.value_or(PERF_COUNT_HW_CACHE_RESULT_ACCESS));
}

}  // namespace

uint32_t perf_type(GenericKind kind) {
  return kind == GenericKind::hardware   ? PERF_TYPE_HARDWARE
         : kind == GenericKind::software ? PERF_TYPE_SOFTWARE
                                         : PERF_TYPE_HW_CACHE;
}

std::optional<GenericEvent> find_generic_event(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (const GenericEvent& event : kGenericEvents) {
    if (name == event.name || name == event.alias) return event;
  }
  if (const std::optional<uint64_t> config = parse_cache_event(name)) {
    return GenericEvent{GenericKind::cache, *config, "", "", "", ""};
  }
  return std::nullopt;
}

std::vector<GenericEvent> list_generic_events() {
  return {std::begin(kGenericEvents), std::end(kGenericEvents)};
}

std::vector<CacheEventName> list_cache_events() {
  std::vector<CacheEventName> events;
  for (const CacheWord& cache : kCaches) {
    for (const CacheWord& operation : kOperations) {
      if (!exists(cache.value, operation.value)) continue;
      const std::string name = std::string(cache.spellings[0]) + "-" + operation.spellings[0];
      const bool is_prefetch = operation.value == PERF_COUNT_HW_CACHE_OP_PREFETCH;
      for (const CacheWord& outcome : kOutcomes) {
        const bool is_miss = outcome.value == PERF_COUNT_HW_CACHE_RESULT_MISS;
        events.push_back({name + (is_miss       ? "-misses"
                                  : is_prefetch ? "es"
                                                : "s"),
                          cache_config(cache.value, operation.value, outcome.value)});
      }
    }
  }
  return events;
}

}  // namespace culprit
