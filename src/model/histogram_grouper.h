#pragma once

// HistogramGrouper: rows in canonical order (merge.h) → histograms, row by row, so that nobody has
// to hold all rows.

#include <optional>
#include <vector>

#include "model/profile.h"

namespace culprit {

class HistogramGrouper {
 public:
  /// False: the row does not come behind the one before, and was not taken.
  bool add(const HistogramRow& row);
  /// What was added; then there is nothing.
  std::vector<Histogram> take();

 private:
  void begin(const HistogramRow& row);
  void end();
  EventColumn& column_of(EventId event);

  std::vector<Histogram> histograms_;  // the last one is open
  std::vector<ObjectId> objects_;      // of the open one's rows
  std::optional<HistogramRow> last_;
};

}  // namespace culprit
