#pragma once

// Standard input, output and error of what is run, for a while.

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "base/file.h"
#include "base/result.h"

namespace culprit::scan {

/// While it lives, what is run reads nothing and writes to a file.
class Redirected {
 public:
  static Result<Redirected> make(const std::string& output) {
    Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    Fd file(::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!null || !file) return errno_error("cannot write '" + output + "'", errno);
    Redirected redirected;
    for (int fd = 0; fd < 3; ++fd) {
      redirected.saved_[fd] = Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
      ::dup2(fd == 0 ? null.get() : file.get(), fd);
    }
    return redirected;
  }
  Redirected(Redirected&&) noexcept = default;
  Redirected& operator=(Redirected&&) = delete;
  ~Redirected() {
    for (int fd = 0; fd < 3; ++fd) {
      if (saved_[fd]) ::dup2(saved_[fd].get(), fd);
    }
  }

 private:
  Redirected() = default;
  Fd saved_[3];
};

}  // namespace culprit::scan
