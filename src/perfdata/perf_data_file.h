#pragma once

// PerfDataFile: opens a perf.data in either form and gives its events, its header's
// facts and its records in the order of the file.
//
//   file form   header │ ids │ attrs │ records ... │ feature sections
//   pipe form   magic │ records, among them attrs, features, build-ids

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "perfdata/attributes.h"
#include "perfdata/features.h"
#include "perfdata/record_stream.h"
#include "perfdata/recording_input.h"

namespace culprit {

class PerfDataFile {
 public:
  /// Errors name what is wrong with the file.
  static Result<PerfDataFile> open(RecordingInput input);

  /// The next record of the kernel, or a finished round; all else perf wrote goes into
  /// attributes() and facts(). nullopt at the end.
  Result<std::optional<RawRecord>> next();
  /// See RecordStream.
  bool next_whole(RawRecord& record) { return records_.next_whole(record); }
  /// Keeps the block of the record that came last; see RecordStream.
  [[nodiscard]] HeldBlock hold() const { return records_.hold(); }
  [[nodiscard]] const RecordBlock* block() const { return records_.block(); }

  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  [[nodiscard]] const RecordedFacts& facts() const { return facts_; }
  [[nodiscard]] std::endian order() const { return order_; }
  [[nodiscard]] uint64_t consumed_bytes() const { return consumed_before_ + records_.consumed(); }
  [[nodiscard]] uint64_t total_bytes() const { return total_bytes_; }  // 0: a pipe
  [[nodiscard]] uint64_t aux_bytes() const { return aux_bytes_; }      // traces, left out
  [[nodiscard]] uint64_t damaged_records() const { return damaged_records_; }
  [[nodiscard]] bool is_unfinished() const { return is_unfinished_; }  // perf was killed

 private:
  PerfDataFile(Fd fd, std::endian order);
  Result<void> read_header(const struct FileHeader& header);
  Result<void> read_attributes(const struct FileHeader& header);
  void read_features(const struct FileHeader& header);
  Result<bool> handle(const RawRecord& record);
  Result<void> handle_attribute(const RawRecord& record);

  Fd fd_;
  std::endian order_;
  Attributes attributes_;
  RecordedFacts facts_;
  RecordStream records_;
  uint64_t consumed_before_ = 0;
  uint64_t total_bytes_ = 0;
  uint64_t aux_bytes_ = 0;
  uint64_t damaged_records_ = 0;
  bool is_unfinished_ = false;
};

}  // namespace culprit
