#include "simulate/counts/windows_file.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit::counting {
namespace {

constexpr uint64_t kLargestWindowsBytes = uint64_t{1} << 32;

void put_number(std::string& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

/// Takes numbers off, one by one.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}

  uint64_t take() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) break;
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    is_good_ = false;
    return 0;
  }
  /// Takes a number of things that are two bytes each at least.
  uint64_t take_count() {
    const uint64_t count = take();
    if (count > (bytes_.size() - at_) / 2) is_good_ = false;
    return is_good_ ? count : 0;
  }
  [[nodiscard]] bool is_good() const { return is_good_; }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool is_good_ = true;
};

/// How many values of the site follow each other from `first` on.
size_t count_of_site(const std::vector<WindowValue>& values, size_t first) {
  size_t end = first;
  while (end < values.size() && values[end].site == values[first].site) ++end;
  return end - first;
}

/// A write beyond the program's own limit would end it by a signal.
bool has_room(int fd, uint64_t bytes) {
  rlimit limit{};
  const off_t size = ::lseek(fd, 0, SEEK_END);
  if (size < 0 || ::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY || static_cast<uint64_t>(size) + bytes <= limit.rlim_cur;
}

std::string encode(const Window& window) {
  std::string bytes;
  put_number(bytes, window.runs.size());
  uint32_t before = 0;
  for (const WindowRuns& one : window.runs) {
    put_number(bytes, one.block - before);
    put_number(bytes, one.runs);
    before = one.block;
  }
  size_t sites = 0;
  for (size_t at = 0; at < window.values.size(); at += count_of_site(window.values, at)) ++sites;
  put_number(bytes, sites);
  before = 0;
  for (size_t at = 0; at < window.values.size();) {
    const size_t count = count_of_site(window.values, at);
    put_number(bytes, window.values[at].site - before);
    put_number(bytes, count);
    before = window.values[at].site;
    for (const size_t end = at + count; at < end; ++at) {
      put_number(bytes, window.values[at].which);
      put_number(bytes, window.values[at].amount);
    }
  }
  return bytes;
}

}  // namespace

std::string windows_file_path(const std::string& counts_path) {
  return counts_path + ".windows";
}

bool append_window(const std::string& path, const Window& window) {
  std::string bytes(sizeof(WindowHeader), '\0');
  bytes += encode(window);
  const WindowHeader header{kWindowMagic,   window.core,    window.number,
                            window.stratum, window.segment, bytes.size() - sizeof(WindowHeader)};
  std::memcpy(bytes.data(), &header, sizeof header);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool is_whole =
      has_room(fd, bytes.size()) && ::write(fd, bytes.data(), bytes.size()) == std::ssize(bytes);
  ::close(fd);
  return is_whole;
}

Result<WindowsFile> WindowsFile::read(const std::string& path) {
  WindowsFile file;
  if (!file_exists(path)) return file;
  ASSIGN_OR_RETURN(file.bytes_, read_file(path, kLargestWindowsBytes));
  for (size_t at = 0; file.bytes_.size() - at >= sizeof(WindowHeader);) {
    Chunk chunk{};
    std::memcpy(&chunk.header, file.bytes_.data() + at, sizeof chunk.header);
    at += sizeof chunk.header;
    if (chunk.header.magic != kWindowMagic) return Error{"'" + path + "' is damaged"};
    if (chunk.header.bytes > file.bytes_.size() - at) break;  // it is being written
    chunk.start = at;
    at += chunk.header.bytes;
    file.chunks_.push_back(chunk);
  }
  std::stable_sort(file.chunks_.begin(), file.chunks_.end(), [](const Chunk& a, const Chunk& b) {
    return a.header.window < b.header.window;
  });
  return file;
}

Result<Window> WindowsFile::window(size_t index, size_t blocks, size_t sites) const {
  const Chunk& chunk = chunks_[index];
  Numbers numbers(std::string_view(bytes_).substr(chunk.start, chunk.header.bytes));
  Window window{.core = chunk.header.core,
                .number = chunk.header.window,
                .stratum = chunk.header.stratum,
                .segment = chunk.header.segment,
                .runs = {},
                .values = {}};
  const Error damaged{"a window of the simulation is damaged"};
  uint64_t block = 0;
  for (uint64_t left = numbers.take_count(); left > 0; --left) {
    block += numbers.take();
    const uint64_t runs = numbers.take();
    if (!numbers.is_good() || block >= blocks) return damaged;
    window.runs.push_back({static_cast<uint32_t>(block), runs});
  }
  uint64_t site = 0;
  for (uint64_t left = numbers.take_count(); left > 0; --left) {
    site += numbers.take();
    for (uint64_t values = numbers.take_count(); values > 0; --values) {
      const uint64_t which = numbers.take();
      const uint64_t amount = numbers.take();
      if (!numbers.is_good() || site >= sites || which >= kWindowValues) return damaged;
      window.values.push_back({static_cast<uint32_t>(site), static_cast<uint32_t>(which), amount});
    }
  }
  if (!numbers.is_good()) return damaged;
  return window;
}

}  // namespace culprit::counting
