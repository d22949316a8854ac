#pragma once

// Decompressor: the zstd stream that runs through all COMPRESSED records of a file.
// What a record inflates to need not end where one of the records inside it ends, and may
// be ten thousand times as long: it is inflated a block at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace culprit {

class Decompressor {
 public:
  using Block = std::vector<std::byte>;

  Decompressor();
  ~Decompressor();

  /// The next record's bytes; what the one before inflates to has been asked for entirely.
  void add(std::span<const std::byte> compressed);
  /// Inflates up to a block more, behind what is left; false: there is no more. An error if it
  /// is damaged, or inflates to more than kMostPerRecord.
  Result<bool> inflate_more();

  /// What is there and was not taken yet.
  [[nodiscard]] std::span<const std::byte> available() const;
  void take(size_t count) { begin_ += count; }
  /// Keeps the bytes of available() where they are.
  [[nodiscard]] const std::shared_ptr<Block>& block() const { return block_; }

  static constexpr size_t kMostPerRecord = size_t{256} << 20;

 private:
  struct Stream;

  std::unique_ptr<Stream> stream_;
  std::vector<std::byte> compressed_;
  size_t compressed_begin_ = 0;
  bool has_more_inside_ = false;  // zstd holds bytes for which there was no room
  size_t inflated_ = 0;           // of this record
  std::shared_ptr<Block> block_;
  size_t begin_ = 0;
};

}  // namespace culprit
