#include "exports/gzip.h"

#include <algorithm>
#include <limits>
#include <zlib.h>

namespace culprit {

Result<std::string> gzip(std::string_view bytes, std::string_view comment) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window; 16: a gzip header
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{"cannot compress: zlib does not start (is memory short?)"};
  }
  constexpr int kUnix = 3;           // as zlib's own headers say
  std::string own_comment(comment);  // zlib takes no const
  gz_header header{};
  header.os = kUnix;
  header.comment = reinterpret_cast<Bytef*>(own_comment.data());
  deflateSetHeader(&stream, &header);
  std::string packed;
  std::string buffer(1 << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    if (stream.avail_in == 0) {
      constexpr size_t kMost = std::numeric_limits<uInt>::max();
      const std::string_view piece = bytes.substr(0, kMost);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      bytes.remove_prefix(piece.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(buffer.data(), buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) return Error{"cannot compress: zlib gave up"};
  return packed;
}

}  // namespace culprit
