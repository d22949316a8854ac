#include "perfdata/decompressor.h"

#include <string>
#include <zstd.h>

namespace culprit {

struct Decompressor::Stream {
  ZSTD_DStream* zstd = ZSTD_createDStream();

  Stream() { ZSTD_initDStream(zstd); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ZSTD_freeDStream(zstd); }
};

Decompressor::Decompressor()
    : stream_(std::make_unique<Stream>()), block_(std::make_shared<Block>()) {}
Decompressor::~Decompressor() = default;

std::span<const std::byte> Decompressor::available() const {
  return std::span<const std::byte>(*block_).subspan(begin_);
}

Result<void> Decompressor::add(std::span<const std::byte> compressed) {
  // A block of its own: somebody may hold records of the last one.
  auto block = std::make_shared<Block>(available().begin(), available().end());
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  size_t filled = block->size();
  const size_t most = filled + kMostPerRecord;
  for (bool is_full = true; in.pos < in.size || is_full;) {
    if (filled == most) {
      return Error{"a compressed record inflates to more than " +
                   std::to_string(kMostPerRecord >> 20) + " MB"};
    }
    block->resize(std::min(most, filled + ZSTD_DStreamOutSize()));
    ZSTD_outBuffer out{block->data(), block->size(), filled};
    const size_t result = ZSTD_decompressStream(stream_->zstd, &out, &in);
    if (ZSTD_isError(result) != 0) {
      return Error{std::string("a compressed record is damaged: ") + ZSTD_getErrorName(result)};
    }
    is_full = out.pos == out.size;
    filled = out.pos;
  }
  block->resize(filled);
  block_ = std::move(block);
  begin_ = 0;
  return {};
}

}  // namespace culprit
