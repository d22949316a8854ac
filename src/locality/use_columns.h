#pragma once

// The columns in which people read Uses, of statements and of data objects alike:
//
//      ?cycles  ?share  waits  =accesses  L1miss  L2miss  spatial  temporal  statement
//
// Of data all cycles are waits, and that column is not there.

#include <string>
#include <vector>

#include "locality/use.h"
#include "print/text_table.h"

namespace culprit {

class UseColumns {
 public:
  enum class Of : uint8_t { code, data };

  /// `all`: the cost that shares are of. `level`: whose spatial and temporal use is shown.
  UseColumns(Of of, const UseEvents& events, const Caches& caches, double all, CacheLevel level)
      : of_(of),
        events_(events),
        caches_(caches),
        all_(all),
        level_(tenure_level(level).value_or(0)) {}

  /// Those that fit beside the labels.
  [[nodiscard]] std::vector<TextColumn> make(const std::vector<const Use*>& rows,
                                             const std::string& heading,
                                             const std::vector<std::string>& labels,
                                             size_t width) const;
  /// What "-" means in the columns of these rows, for the words below a table; "" where there is
  /// none. `samples`: of the whole run.
  [[nodiscard]] std::string describe_gaps(const std::vector<const Use*>& rows,
                                          uint64_t samples) const;
  /// "710 M cycles ?  17.0 %, 84 % of them waits".
  [[nodiscard]] std::string describe_cost(const Use& use) const;

 private:
  [[nodiscard]] std::string share(const Use& use) const;

  Of of_;
  const UseEvents& events_;
  const Caches& caches_;
  double all_;
  size_t level_;
};

/// "37.2 %"; "-" of nothing.
std::string format_percent(uint64_t part, uint64_t whole);
/// "1.78 M", "1.78 M ±12 %", "1.78 M *".
std::string format_count(double count, const SampleError& error);
/// Of accesses, with their error if its digits show.
std::string format_accesses(uint64_t accesses, double variance);
/// As a percentage of them, with the error that a sample of sets has.
std::string format_misses(uint64_t misses, double variance, uint64_t accesses,
                          const Caches& caches);
std::string format_spatial(const LineUse& use, const Caches& caches);
std::string format_temporal(const LineUse& use, const Caches& caches);
/// What a table with errors says below it; "" if all sets were simulated.
std::string describe_sampling(const Caches& caches);

}  // namespace culprit
