#pragma once

// HistogramGrouper: rows in canonical order (merge.h) → histograms, row by row, so that nobody has
// to hold all rows. Of the open histogram it holds the cells alone: most events are at few offsets,
// and how many offsets a column has is known at its end.

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
  struct OffsetCell {
    size_t row;
    uint64_t samples;
    uint64_t value;
    double variance;
  };
  struct OpenColumn {
    EventId event;
    std::vector<OffsetCell> cells{};
  };

  void end();
  OpenColumn& column_of(EventId event);

  std::vector<Histogram> histograms_;
  std::optional<HistogramRow> last_;
  // The open one. Its vectors are used again for the next.
  ContextId context_;
  ImageId image_;
  std::vector<FileOffset> offsets_;
  std::vector<ObjectId> objects_;    // by offset
  std::vector<OpenColumn> columns_;  // in the order of events; empty: it has not the event
  size_t next_ = 0;                  // the column that the next row of an offset may belong to
};

}  // namespace culprit
