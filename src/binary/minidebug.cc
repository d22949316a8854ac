#include "binary/minidebug.h"

#include <algorithm>
#include <lzma.h>

namespace culprit {
namespace {

constexpr uint64_t kMaxMemoryBytes = uint64_t{128} << 20;
constexpr size_t kMaxContentBytes = size_t{256} << 20;

}  // namespace

Result<std::vector<std::byte>> parse_minidebug(std::span<const std::byte> section) {
  // The size is not known before: try with more room until it fits.
  for (size_t room = std::max<size_t>(section.size() * 8, 64 << 10);; room *= 4) {
    std::vector<std::byte> content(std::min(room, kMaxContentBytes));
    uint64_t memory_limit = kMaxMemoryBytes;
    size_t in_at = 0;
    size_t out_at = 0;
    const lzma_ret status = lzma_stream_buffer_decode(
        &memory_limit, 0, nullptr, reinterpret_cast<const uint8_t*>(section.data()), &in_at,
        section.size(), reinterpret_cast<uint8_t*>(content.data()), &out_at, content.size());
    if (status == LZMA_OK) {
      content.resize(out_at);
      return content;
    }
    if (status != LZMA_BUF_ERROR || content.size() == kMaxContentBytes)
      return Error{".gnu_debugdata: damaged or too large xz data"};
  }
}

}  // namespace culprit
