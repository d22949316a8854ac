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
  std::vector<NamedShare> calls;  // system calls, most first; shares are of this part
  std::string function;           // of the program's own, that asks for most of it; "" if unknown
  std::string line;               // "file.c:9", where it does; "" if unknown
  double place_share = 0;         // of this part, that the function asks for
  std::string hint;               // what to do about it here; "" if nothing more is known
};

struct KernelTime {
  Estimate share;                 // of everything's time, in the kernel [0 to 1]
  uint64_t samples = 0;           // of everything
  bool has_stacks = false;        // else the kinds are by the innermost functions alone
  std::vector<KernelPart> parts;  // most first; they add up to `share`
  /// What the command took, where the kernel says it.
  ResourceUse use;
  std::optional<double> cpu_s;
};

/// The kernel's time of everything, or of what the functions or modules that the filters name asked
/// for (or what they call did). Shares are of everything all the same.
/// Errors: standard errors of Poisson counts. nullopt: no time or cycles were sampled, the kernel
///         was not sampled, or the filters are of something else than code
std::optional<KernelTime> find_kernel_time(const Profile& profile, const FactsLookup& facts,
                                           const std::vector<Filter>& filters);

/// "pread64 55 %, pwrite64 40 %" of a part; "" if no call is known.
std::string describe_calls(const KernelPart& part);

/// "pread64, pwrite64": the largest two.
std::string list_calls(const KernelPart& part);

/// "125,021 reads of 4.10 kB on average, 3 writes of ..."; what it can tell of a part by the
/// kernel's account of the whole run. "" if nothing.
std::string describe_use(const KernelTime& time, const KernelPart& part);

}  // namespace culprit
