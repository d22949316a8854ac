#include "perfdata/record_stream.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include "base/bytes.h"
#include "perfdata/decompressor.h"
#include "perfdata/user_records.h"

namespace culprit {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr uint64_t kMostTaken = uint64_t{64} << 20;

Error ends_within(uint64_t at, uint64_t wanted, uint64_t left) {
  return Error{"it ends in the middle of a record: " + std::to_string(left) + " of " +
               std::to_string(wanted) + " bytes at " + std::to_string(at)};
}

}  // namespace

RecordStream::RecordStream(int fd, uint64_t limit_bytes, std::endian order, uint64_t begins_at)
    : fd_(fd),
      limit_(limit_bytes),
      order_(order),
      begins_at_(begins_at),
      block_(find_free_block()) {}
RecordStream::RecordStream(RecordStream&&) noexcept = default;
RecordStream& RecordStream::operator=(RecordStream&&) noexcept = default;
RecordStream::~RecordStream() = default;

/// The zeroing of a new block, and the kernel's of its pages, take longer than reading into it.
std::shared_ptr<RecordBlock> RecordStream::find_free_block() {
  for (const std::shared_ptr<RecordBlock>& block : blocks_) {
    if (block.use_count() == 1) return block;
  }
  blocks_.push_back(std::make_shared<RecordBlock>(kBlockBytes));
  return blocks_.back();
}

HeldBlock RecordStream::hold() const {
  if (is_inflated_) return decompressor_->block();
  return block_;
}

const RecordBlock* RecordStream::block() const {
  return is_inflated_ ? decompressor_->block().get() : block_.get();
}

std::span<const std::byte> RecordStream::available() const {
  return std::span<const std::byte>(*block_).subspan(begin_, end_ - begin_);
}

/// Reads until `count` bytes lie in one block; false if fewer are left.
Result<bool> RecordStream::ensure(size_t count) {
  if (end_ - begin_ >= count) return true;
  const bool is_held = block_.use_count() > 2;  // by others than this and `blocks_`
  if (begin_ + count > block_->size() || (begin_ == end_ && !is_held)) {
    const std::shared_ptr<RecordBlock> old = block_;
    if (is_held) block_ = find_free_block();
    std::copy(old->begin() + static_cast<ptrdiff_t>(begin_),
              old->begin() + static_cast<ptrdiff_t>(end_), block_->begin());
    end_ -= begin_;
    begin_ = 0;
  }
  while (end_ - begin_ < count && limit_ > 0) {
    const size_t room = std::min<uint64_t>(block_->size() - end_, limit_);
    const ssize_t got = ::read(fd_, block_->data() + end_, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read on", errno);
    if (got == 0) limit_ = 0;
    end_ += static_cast<size_t>(got);
    read_ += static_cast<uint64_t>(got);
    if (got > 0) limit_ -= static_cast<uint64_t>(got);
  }
  return end_ - begin_ >= count;
}

Result<std::optional<RawRecord>> RecordStream::next_in_file() {
  ASSIGN_OR_RETURN(const bool has_header, ensure(RecordHeader::kBytes));
  if (!has_header) {
    if (begin_ == end_) return std::optional<RawRecord>();
    return ends_within(position(), RecordHeader::kBytes, end_ - begin_);
  }
  ByteReader in(available(), order_);
  RawRecord record;
  record.header.type = in.take<uint32_t>().value_or(0);
  record.header.misc = in.take<uint16_t>().value_or(0);
  record.header.size = in.take<uint16_t>().value_or(0);
  if (record.header.size < RecordHeader::kBytes) {
    return Error{"the record at byte " + std::to_string(position()) + " says a size of " +
                 std::to_string(record.header.size) + " bytes"};
  }
  ASSIGN_OR_RETURN(const bool is_whole, ensure(record.header.size));
  if (!is_whole) return ends_within(position(), record.header.size, end_ - begin_);
  record.bytes = available().first(record.header.size);
  begin_ += record.header.size;
  is_inflated_ = false;
  return std::optional<RawRecord>(record);
}

/// The next of the records inside a compressed one; nullopt if not all of it is there yet.
Result<std::optional<RawRecord>> RecordStream::next_inflated() {
  while (true) {
    const std::span<const std::byte> inflated = decompressor_->available();
    const Result<RecordHeader> header = parse_header(inflated, order_);
    if (header) {
      decompressor_->take(header->size);
      is_inflated_ = true;
      return std::optional<RawRecord>(RawRecord{*header, inflated.first(header->size)});
    }
    // There is not even a header's worth, or the rest of the record comes later, unless nothing is
    // so long.
    if (inflated.size() > UINT16_MAX) return header.error();
    ASSIGN_OR_RETURN(const bool has_more, decompressor_->inflate_more());
    if (!has_more) return std::optional<RawRecord>();
  }
}

Result<void> RecordStream::unpack(const RawRecord& record) {
  ByteReader body(record.bytes.subspan(RecordHeader::kBytes), order_);
  uint64_t size = body.remaining();
  if (static_cast<UserRecord>(record.header.type) == UserRecord::compressed2) {
    ASSIGN_OR_RETURN(size, body.take<uint64_t>());
  }
  ASSIGN_OR_RETURN(const std::span<const std::byte> compressed, body.take_bytes(size));
  if (!decompressor_) decompressor_ = std::make_unique<Decompressor>();
  decompressor_->add(compressed);
  return {};
}

Result<std::optional<RawRecord>> RecordStream::next() {
  while (true) {
    if (decompressor_) {
      ASSIGN_OR_RETURN(std::optional<RawRecord> inflated, next_inflated());
      if (inflated) return inflated;
    }
    ASSIGN_OR_RETURN(std::optional<RawRecord> record, next_in_file());
    if (!record) {
      const size_t left = decompressor_ ? decompressor_->available().size() : 0;
      if (left != 0) return Error{"its compressed records end in the middle of a record"};
      return std::optional<RawRecord>();
    }
    const auto type = static_cast<UserRecord>(record->header.type);
    if (type != UserRecord::compressed && type != UserRecord::compressed2) return record;
    RETURN_IF_ERROR(unpack(*record));
  }
}

Result<void> RecordStream::skip(uint64_t count) {
  const uint64_t at = position();
  uint64_t left = count;
  while (left > 0) {
    ASSIGN_OR_RETURN(const bool has_more, ensure(1));
    if (!has_more) return ends_within(at, count, count - left);
    const uint64_t step = std::min<uint64_t>(left, end_ - begin_);
    begin_ += step;
    left -= step;
  }
  return {};
}

Result<std::vector<std::byte>> RecordStream::take(uint64_t count) {
  if (count > kMostTaken) {
    return Error{"a record at byte " + std::to_string(position()) + " is followed by " +
                 std::to_string(count) + " bytes of data: more than is plausible"};
  }
  const uint64_t at = position();
  std::vector<std::byte> taken;
  while (taken.size() < count) {
    ASSIGN_OR_RETURN(const bool has_more, ensure(1));
    if (!has_more) return ends_within(at, count, taken.size());
    const auto step = available().first(std::min<uint64_t>(count - taken.size(), end_ - begin_));
    taken.insert(taken.end(), step.begin(), step.end());
    begin_ += step.size();
  }
  return taken;
}

}  // namespace culprit
