#pragma once

// RecordStream: the records of a perf.data file, one after the other, as they
// lie in the file or come through a pipe; COMPRESSED records are replaced by the
// records inside them. Memory is a block of a megabyte at a time, and as many as
// somebody still holds; those that nobody holds any more are filled again.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "perfdata/user_records.h"
#include "records/parse_record.h"

namespace culprit {

/// One record as it lies there: until the next one is asked for, or as long as somebody holds
/// the block that it is in.
struct RawRecord {
  RecordHeader header;
  std::span<const std::byte> bytes;  // header included
  uint32_t event = kNoEvent;         // its place in Attributes, once it is known
  static constexpr uint32_t kNoEvent = UINT32_MAX;
};

using RecordBlock = std::vector<std::byte>;
using HeldBlock = std::shared_ptr<const RecordBlock>;

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
  /// Takes the next one quicker, if it is a kernel's record that lies whole in the block, as most
  /// do. False: ask next().
  bool next_whole(RawRecord& record) {
    const size_t left = end_ - begin_;
    if (left < RecordHeader::kBytes || decompressor_ || order_ != std::endian::native) return false;
    const std::byte* const at = block_->data() + begin_;
    RecordHeader header;
    std::memcpy(&header.type, at, sizeof header.type);
    std::memcpy(&header.misc, at + 4, sizeof header.misc);
    std::memcpy(&header.size, at + 6, sizeof header.size);
    if (header.type >= kFirstUserRecord || header.size < RecordHeader::kBytes) return false;
    if (header.size > left) return false;
    record = {header, {at, header.size}};
    begin_ += header.size;
    is_inflated_ = false;
    return true;
  }
  /// The block of the record that came last.
  [[nodiscard]] HeldBlock hold() const;
  /// That block without holding it, to compare it.
  [[nodiscard]] const RecordBlock* block() const;

  /// Passes over `count` bytes that follow a record without being one (AUX traces).
  Result<void> skip(uint64_t count);
  /// Takes `count` bytes that follow a record (tracing data); at most 64 MB.
  Result<std::vector<std::byte>> take(uint64_t count);

  /// Bytes taken from the descriptor so far, as far as records were made of them.
  [[nodiscard]] uint64_t consumed() const { return read_ - (end_ - begin_); }

 private:
  std::shared_ptr<RecordBlock> find_free_block();
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
  std::vector<std::shared_ptr<RecordBlock>> blocks_;  // all there are
  std::shared_ptr<RecordBlock> block_;                // the one that is being read
  size_t begin_ = 0;                                  // of what is left in the block
  size_t end_ = 0;
  uint64_t read_ = 0;
  std::unique_ptr<Decompressor> decompressor_;  // made when the first compressed record comes
  bool is_inflated_ = false;                    // the last record is one of the decompressor's
};

}  // namespace culprit
