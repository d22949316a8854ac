#pragma once

// Time in the kernel: of how much of a program's time, for what, and who asks for it.
//
//     in the kernel                  48.6 %
//       reads and writes of files    41.0 %   pread64, pwrite64: readDbPage pager.c:3112
//       page faults: fresh memory     4.2 %
//
// Kinds come from the kernel's functions on the stack (kernel_work.h). Where no stacks were
// recorded the innermost function alone has to tell.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attribute/attribution.h"
#include "report/report.h"
#include "stats/estimate.h"
#include "why/gain_forecast.h"
#include "why/kernel_work.h"

namespace culprit {

/// Something that has a part of a sum [0 to 1].
struct NamedShare {
  std::string name;
  double share = 0;
};

/// All work of one kind.
struct KernelPart {
  const KernelKind* kind = nullptr;
  Estimate share;  // of everything's time [0 to 1]
  uint64_t samples = 0;
  std::vector<NamedShare> calls;  // system calls, most first; of where they are known
  std::string function;           // of the program's own, that asks for most of it; "" if unknown
  std::string line;               // "file.c:9", where it does; "" if unknown
  double place_share = 0;         // of this part, that the function asks for
  std::string hint;               // what to do about it here; "" if nothing more is known
  /// In user mode, in the C library's functions that make these calls: what the change of modes
  /// costs there [0 to 1 of everything's time].
  Estimate around;
  std::vector<std::string> entries;  // the names of these functions
  double copied = 0;      // of this part: bytes copied between kernel and program [0 to 1]
  double file_cache = 0;  // of this part: pages of the file cache found or made [0 to 1]
};

struct KernelTime {
  Estimate share;                 // of everything's time, in the kernel [0 to 1]
  uint64_t samples = 0;           // of everything
  bool has_stacks = false;        // else the kinds are by the innermost functions alone
  std::vector<KernelPart> parts;  // most first; they add up to `share`
  /// What the command took, where the kernel says it.
  ResourceUse use;
  std::optional<double> cpu_s;
  /// Of processes with at most 10 ms each, where the clock was sampled: how many had samples, and
  /// their part of everything's time, in user mode, too [0 to 1].
  size_t short_process_count = 0;
  Estimate short_processes;
};

/// The kernel's time of everything, or of what the functions or modules that the filters name asked
/// for (or what they call did). Shares are of everything all the same.
/// Errors: standard errors of Poisson counts. nullopt: no time or cycles were sampled, the kernel
///         was not sampled, or the filters are of something else than code
std::optional<KernelTime> find_kernel_time(const Profile& profile, const FactsLookup& facts,
                                           const std::vector<Filter>& filters);

/// What reads and writes of the whole run in blocks of 64 KiB save: calls, with the time around
/// them; pages of the file cache that were found more than once; and copies of bytes beyond what
/// 5 GB/s take.
/// Units:  mean size of a block [bytes], shares [0 to 1] -> [0 to 1]
/// Errors: low is without the time around the calls and the copies, high with 100 ns of the
///         program's own code for each call; both by the part's sampling error. nullopt: no reads
///         or writes, few, or of 16 KiB and more on average; or another repair is known for who
///         asks
std::optional<GainForecast> estimate_block_gain(const KernelTime& time, const KernelPart& part);

/// What tells time in a profile: a clock, else cycles.
std::optional<size_t> find_time_event(const Profile& profile);

/// "pread64 55 %, pwrite64 40 %" of a part; "" if no call is known.
std::string describe_calls(const KernelPart& part);

/// "pread64, pwrite64": the largest two.
std::string list_calls(const KernelPart& part);

/// What is saved at most by a repair of the part, of everything's time, by the upper end of its 95
/// % interval: with the time around its calls; and where programs are begun, with all of the short
/// ones [0 to 1].
double find_upper_end(const KernelTime& time, const KernelPart& part);

/// "125,021 reads of 4.10 kB on average, 3 writes of ..."; what it can tell of a part by the
/// kernel's account of the whole run. "" if nothing.
std::string describe_use(const KernelTime& time, const KernelPart& part);

}  // namespace culprit
