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
  void end();
  EventColumn& column_of(EventId event);

  std::vector<Histogram> histograms_;
  std::optional<HistogramRow> last_;
  // The open one. Its vectors are used again for the next: what is kept has the size that it needs.
  ContextId context_;
  ImageId image_;
  std::vector<FileOffset> offsets_;
  std::vector<ObjectId> objects_;     // by offset
  std::vector<EventColumn> columns_;  // in the order of events; empty: it has not the event
  size_t next_ = 0;                   // the column that the next row of an offset may belong to
};

}  // namespace culprit
