#pragma once

// RecordStream: the records of a perf.data file, one after the other, as they
// lie in the file or come through a pipe; COMPRESSED records are replaced by the
// records inside them. Memory is a block of a megabyte at a time, and as many as
// somebody still holds records of.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "records/parse_record.h"

namespace culprit {

/// One record as it lies there. `owner` keeps the bytes where they are.
struct RawRecord {
  RecordHeader header;
  std::span<const std::byte> bytes;  // header included
  std::shared_ptr<const void> owner;
  size_t owner_bytes = 0;
};

class Decompressor;

class RecordStream {
 public:
  /// Reads `fd` from where it stands, at byte `begins_at` of the file (for messages), at most
  /// `limit_bytes`. The descriptor stays the caller's.
  RecordStream(int fd, uint64_t limit_bytes, std::endian order, uint64_t begins_at = 0);
  RecordStream(RecordStream&&) noexcept;
  RecordStream& operator=(RecordStream&&) noexcept;
  ~RecordStream();

  /// The next record; nullopt at the end. An error if bytes are left that are no whole record,
  /// or the file cannot be read; nothing more comes after that.
  Result<std::optional<RawRecord>> next();

  /// Passes over `count` bytes that follow a record without being one (AUX traces).
  Result<void> skip(uint64_t count);
  /// Takes `count` bytes that follow a record (tracing data); at most 64 MB.
  Result<std::vector<std::byte>> take(uint64_t count);

  /// Bytes taken from the descriptor so far, as far as records were made of them.
  [[nodiscard]] uint64_t consumed() const { return read_ - (end_ - begin_); }

 private:
  using Block = std::vector<std::byte>;

  Result<bool> ensure(size_t count);
  Result<std::optional<RawRecord>> next_in_file();
  Result<std::optional<RawRecord>> next_inflated();
  Result<void> unpack(const RawRecord& record);
  [[nodiscard]] uint64_t position() const { return begins_at_ + consumed(); }
  [[nodiscard]] std::span<const std::byte> available() const;

  int fd_;
  uint64_t limit_;
  std::endian order_;
  uint64_t begins_at_;
  std::shared_ptr<Block> block_;
  size_t begin_ = 0;  // of what is left in the block
  size_t end_ = 0;
  uint64_t read_ = 0;
  std::unique_ptr<Decompressor> decompressor_;  // made when the first compressed record comes
};

}  // namespace culprit
