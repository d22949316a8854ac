#include "store/packed_bytes.h"

#include <fmt/format.h>
#include <memory>
#include <zstd.h>

namespace culprit {

namespace {
// Fast enough to flush every second; the columns are small before it. What is large is machine
// code for the most part, which more effort hardly makes smaller.
int find_level(size_t raw_bytes) {
  constexpr size_t kLarge = size_t{1} << 18;
  return raw_bytes < kLarge ? 5 : 1;
}
}  // namespace

Result<std::string> compress(std::string_view raw) {
  if (raw.size() > kMaxRawBytes) {
    return Error{fmt::format("{} bytes in one piece, more than {}", raw.size(), kMaxRawBytes)};
  }
  std::string packed(ZSTD_compressBound(raw.size()), '\0');
  // The checksum makes a flipped bit an error and not another number.
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     ZSTD_freeCCtx);
  CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, find_level(raw.size()));
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const size_t size =
      ZSTD_compress2(context.get(), packed.data(), packed.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0) {
    return Error{fmt::format("cannot compress: {}", ZSTD_getErrorName(size))};
  }
  packed.resize(size);
  return packed;
}

Result<std::string> decompress(std::string_view packed, uint64_t raw_bytes) {
  if (raw_bytes > kMaxRawBytes) {
    return Error{fmt::format("claims {} bytes, more than {}", raw_bytes, kMaxRawBytes)};
  }
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != raw_bytes) {
    return Error{"its compressed size does not fit"};
  }
  std::string raw(raw_bytes, '\0');
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size());
  if (ZSTD_isError(size) != 0) return Error{ZSTD_getErrorName(size)};
  if (size != raw_bytes) return Error{"its compressed size does not fit"};
  return raw;
}

}  // namespace culprit
