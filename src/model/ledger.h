#pragma once

// The Ledger: what makes the numbers of a profile weaker. It travels with every
// result and is printed under it. An entry is a named amount; names are listed
// here once, so that every collector and every report means the same.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// One kind of weakness. `key` is what JSON and the file use.
struct LedgerKind {
  std::string_view key;
  std::string_view unit;  // "samples", "ns", "records", ...
  std::string_view text;  // completes "<amount> ..." in a report
};

namespace ledger {
inline constexpr LedgerKind kLostSamples{"lost_samples", "samples",
                                         "lost (the reader was too slow)"};
inline constexpr LedgerKind kLostRecords{"lost_records", "records",
                                         "lost: some mappings or names may be missing"};
inline constexpr LedgerKind kUnknownAddress{"unknown_address", "samples",
                                            "at addresses in no known mapping"};
inline constexpr LedgerKind kThrottled{"throttled", "times", "the kernel throttled sampling"};
inline constexpr LedgerKind kUnsampledTime{"unsampled_time", "ns",
                                           "of CPU time not covered by samples"};
inline constexpr LedgerKind kKernelNotSampled{"kernel_not_sampled", "ns",
                                              "in the kernel, which may not be sampled here"};
inline constexpr LedgerKind kMergedTicks{"merged_ticks", "samples",
                                         "stand for several periods each (coarse timer)"};
inline constexpr LedgerKind kFoldedProcesses{"folded_processes", "processes",
                                             "folded into one row per name"};
inline constexpr LedgerKind kTruncatedStacks{"truncated_stacks", "stacks",
                                             "cut at the depth limit"};
inline constexpr LedgerKind kStacksOutsideCopy{
    "stacks_outside_copy", "stacks",
    "cut: longer than the part that was copied, or on another stack"};
inline constexpr LedgerKind kStacksWithoutTables{
    "stacks_without_unwind_tables", "stacks",
    "cut: they go through code without unwind tables (.eh_frame)"};
inline constexpr LedgerKind kDamagedStacks{"damaged_stacks", "stacks",
                                           "cut: stack and unwind tables contradict each other"};
inline constexpr LedgerKind kUnsupportedStacks{
    "unsupported_stacks", "stacks", "not unwound: of a 32-bit program or an unknown architecture"};
inline constexpr LedgerKind kJitFilesRefused{
    "jit_files_refused", "files",
    "of JIT compilers (perf-PID.map, jitdump) not believed: each must be a regular file of the "
    "process's user or root that not everybody may write"};
inline constexpr LedgerKind kJitFilesCut{
    "jit_files_cut", "files",
    "of JIT compilers (perf-PID.map, jitdump) larger than what is read of them: some names lack"};
inline constexpr LedgerKind kImagesWithoutFacts{"images_without_facts", "images",
                                                "without symbols; shown by address"};
inline constexpr LedgerKind kImagesReplaced{"images_replaced", "images",
                                            "replaced or deleted since they ran"};
inline constexpr LedgerKind kSourcesRefused{
    "sources_refused", "source files",
    "not read: the owner of the program that names them may not (--symbols DIR with copies helps)"};
inline constexpr LedgerKind kDamagedRecords{"damaged_records", "records", "damaged and left out"};
inline constexpr LedgerKind kUnknownEvents{"unknown_events", "samples",
                                           "of events that the file does not describe"};
inline constexpr LedgerKind kAuxBytes{"aux_bytes", "bytes",
                                      "of AUX traces (Intel PT, CoreSight, SPE) not decoded"};
inline constexpr LedgerKind kRawFields{"raw_fields", "samples",
                                       "with raw fields that were not interpreted"};
inline constexpr LedgerKind kTextPokes{"text_pokes", "changes",
                                       "of kernel code at run time, not followed"};
inline constexpr LedgerKind kLateRecords{"late_records", "records",
                                         "came too late to be put in order of time"};
inline constexpr LedgerKind kBranchCallStacks{
    "branch_call_stacks", "samples", "with call stacks of branch records, which are not branches"};
inline constexpr LedgerKind kBranchesApart{
    "branches_apart", "pairs of branch records",
    "with no code between them that can have run straight on: something is missing there"};
inline constexpr LedgerKind kRunsWithoutCode{
    "branch_runs_without_code", "straight runs",
    "of branch records in code that is not known: their instructions are not counted"};
inline constexpr LedgerKind kImpossibleRuns{
    "branch_runs_impossible", "straight runs",
    "of branch records contradict the code (a branch between is missing) and are not counted"};
inline constexpr LedgerKind kCrossingRuns{
    "branch_runs_crossing", "straight runs",
    "of branch records end in another function and are not counted"};
inline constexpr LedgerKind kBranchesWithoutPlace{"branches_without_place", "branch records",
                                                  "from or to addresses in no known mapping"};
inline constexpr LedgerKind kSystemCalls{"system_calls", "system calls",
                                         "ran natively; the kernel's work in them is not counted"};
inline constexpr LedgerKind kSystemCallTime{"system_call_time", "ns",
                                            "in system calls, waiting included"};
inline constexpr LedgerKind kNotSimulatedPrograms{
    "not_simulated_programs", "programs",
    "ran natively, uncounted: of another kind than the simulated one, or with other rights"};
inline constexpr LedgerKind kUncountedBlocks{"uncounted_blocks", "blocks",
                                             "of code not counted: there were too many"};
inline constexpr LedgerKind kUncountedThreads{"uncounted_threads", "threads",
                                              "not counted: there were too many"};
inline constexpr LedgerKind kStoppedAtLimit{
    "stopped_at_limit", "processes", "reached the limit of instructions and ran on uncounted"};
inline constexpr LedgerKind kOutsideRegion{
    "outside_region", "instructions",
    "ran outside the part that was to be simulated (--roi, --skip) and are not counted"};
inline constexpr LedgerKind kUnknownCosts{
    "unknown_costs", "executions",
    "of instructions that the scheduling model does not know: timed as one uop of one cycle"};
inline constexpr LedgerKind kEdgesNotKept{
    "edges_not_kept", "reuses and evictions",
    "of cache lines without the instruction that did it: there were too many pairs"};
inline constexpr LedgerKind kInterrupted{"interrupted", "recordings",
                                         "not closed properly; what was flushed is here"};
}  // namespace ledger

class Ledger {
 public:
  void add(const LedgerKind& kind, uint64_t amount = 1) {
    amounts_[std::string(kind.key)] += amount;
  }
  void set(std::string key, uint64_t amount) { amounts_[std::move(key)] = amount; }
  void erase(const LedgerKind& kind) { amounts_.erase(std::string(kind.key)); }
  /// A sentence that no amount can express: "kernel symbols hidden (kptr_restrict)".
  void note(std::string sentence);
  void merge(const Ledger& other);

  [[nodiscard]] uint64_t amount(const LedgerKind& kind) const;
  [[nodiscard]] const std::map<std::string, uint64_t>& amounts() const { return amounts_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  friend bool operator==(const Ledger&, const Ledger&) = default;

 private:
  std::map<std::string, uint64_t> amounts_;
  std::vector<std::string> notes_;
};

/// The kind with this key, for printing; nullptr for keys of newer versions.
const LedgerKind* find_ledger_kind(std::string_view key);

/// A sentence per entry and note, for people; the first says so if no sample was lost.
std::vector<std::string> describe_ledger(const Ledger& ledger);

}  // namespace culprit
