#include "recording/rerun_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {

/// /dev/null in place of one of our standard streams.
class RerunStreams::NullStream {
 public:
  NullStream(int stream, int flags) : stream_(stream) {
    const Fd null(::open("/dev/null", flags | O_CLOEXEC));
    before_ = Fd(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (before_ && null) ::dup2(null.get(), stream);
  }
  NullStream(const NullStream&) = delete;
  NullStream& operator=(const NullStream&) = delete;
  ~NullStream() {
    if (before_) ::dup2(before_.get(), stream_);
  }

 private:
  int stream_;
  Fd before_;
};

std::optional<off_t> RerunStreams::find_input() {
  const off_t start = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  return start >= 0 ? std::optional(start) : std::nullopt;
}

RerunStreams::RerunStreams(std::optional<off_t> input_start, Errors errors)
    : output_(std::make_unique<NullStream>(STDOUT_FILENO, O_WRONLY)) {
  if (errors == Errors::hidden) errors_ = std::make_unique<NullStream>(STDERR_FILENO, O_WRONLY);
  if (!input_start) {
    input_ = std::make_unique<NullStream>(STDIN_FILENO, O_RDONLY);
    return;
  }
  input_end_ = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
  ::lseek(STDIN_FILENO, *input_start, SEEK_SET);
}

/// Standard input is where the first run left it.
RerunStreams::~RerunStreams() {
  if (input_end_ >= 0) ::lseek(STDIN_FILENO, input_end_, SEEK_SET);
}

}  // namespace culprit
