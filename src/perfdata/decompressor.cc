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

void Decompressor::add(std::span<const std::byte> compressed) {
  compressed_.assign(compressed.begin(), compressed.end());
  compressed_begin_ = 0;
  inflated_ = 0;
}

Result<bool> Decompressor::inflate_more() {
  constexpr size_t kBlockBytes = size_t{1} << 20;
  if (compressed_begin_ == compressed_.size() && !has_more_inside_) return false;
  // A block of its own: somebody may hold records of the last one.
  auto block = std::make_shared<Block>(available().begin(), available().end());
  const size_t left = block->size();
  block->resize(left + kBlockBytes);
  ZSTD_inBuffer in{compressed_.data(), compressed_.size(), compressed_begin_};
  ZSTD_outBuffer out{block->data(), block->size(), left};
  // It is called until it neither takes nor gives any more.
  for (size_t before = SIZE_MAX; out.pos < out.size && before != in.pos + out.pos;) {
    before = in.pos + out.pos;
    const size_t result = ZSTD_decompressStream(stream_->zstd, &out, &in);
    if (ZSTD_isError(result) != 0) {
      return Error{std::string("a compressed record is damaged: ") + ZSTD_getErrorName(result)};
    }
  }
  compressed_begin_ = in.pos;
  has_more_inside_ = out.pos == out.size;
  inflated_ += out.pos - left;
  if (inflated_ > kMostPerRecord) {
    return Error{"a compressed record inflates to more than " +
                 std::to_string(kMostPerRecord >> 20) + " MB"};
  }
  const bool has_gained = out.pos != left;
  block->resize(out.pos);
  block->shrink_to_fit();
  block_ = std::move(block);
  begin_ = 0;
  return has_gained;
}

}  // namespace culprit
