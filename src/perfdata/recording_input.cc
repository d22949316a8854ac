#include "perfdata/recording_input.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace culprit {

Result<RecordingInput> open_recording(const std::string& path) {
  constexpr size_t kHeadBytes = 16;
  const bool is_input = path == "-";
  RecordingInput input;
  input.name = is_input ? "standard input" : in_quotes(path);
  input.fd = Fd(is_input ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!input.fd) return errno_error("cannot open " + input.name, errno);
  struct stat status{};
  if (::fstat(input.fd.get(), &status) != 0) {
    return errno_error("cannot read " + input.name, errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{
        fmt::format("cannot import {}: it is a folder (perf record --threads makes "
                    "such); record without --threads, or import its file 'data' alone",
                    input.name)};
  }
  input.is_file = S_ISREG(status.st_mode);
  if (input.is_file) input.size_bytes = static_cast<uint64_t>(status.st_size);
  input.head.resize(kHeadBytes);
  size_t filled = 0;
  while (filled < kHeadBytes) {
    const ssize_t got = ::read(input.fd.get(), input.head.data() + filled, kHeadBytes - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_error("cannot read " + input.name, errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  input.head.resize(filled);
  return input;
}

bool is_perf_data(const std::string& head) {
  return head.starts_with("PERFILE2") || head.starts_with("2ELIFREP") || is_of_old_perf(head);
}

bool is_of_old_perf(const std::string& head) {
  return head.starts_with("PERFFILE");
}

}  // namespace culprit
