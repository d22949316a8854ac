#pragma once

// Decompressor: the zstd stream that runs through all COMPRESSED records of a file.
// What a record inflates to need not end where one of the records inside it ends.

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
  Decompressor();
  ~Decompressor();

  /// Adds what `compressed` inflates to behind what is left; an error if it is damaged or
  /// inflates to more than kMostPerRecord.
  Result<void> add(std::span<const std::byte> compressed);

  /// What is there and was not taken yet.
  [[nodiscard]] std::span<const std::byte> available() const;
  void take(size_t count) { begin_ += count; }
  /// Keeps the bytes of available() where they are.
  [[nodiscard]] std::shared_ptr<const void> owner() const { return block_; }

  static constexpr size_t kMostPerRecord = size_t{256} << 20;

 private:
  struct Stream;
  using Block = std::vector<std::byte>;

  std::unique_ptr<Stream> stream_;
  std::shared_ptr<Block> block_;
  size_t begin_ = 0;
};

}  // namespace culprit
