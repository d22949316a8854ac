#include "cli/output_file.h"

#include <cerrno>
#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace culprit {

namespace {

std::string journal_of(const std::string& path) {
  return path + "-journal";
}

}  // namespace

Result<OutputFile> OutputFile::claim(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) return errno_error("cannot write '" + path + "'", errno);
    return OutputFile(path, false);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error{"cannot write '" + path + "': it exists and is not a regular file"};
  }
  // An interrupted profile has a journal beside it, which belongs to it by its name.
  const std::string old = path + ".old";
  ::unlink(journal_of(old).c_str());
  ::rename(journal_of(path).c_str(), journal_of(old).c_str());
  if (::rename(path.c_str(), old.c_str()) != 0) {
    return errno_error("cannot move '" + path + "' to '" + old + "'", errno);
  }
  return OutputFile(path, true);
}

void OutputFile::give_back() const {
  ::unlink(path_.c_str());
  ::unlink(journal_of(path_).c_str());
  if (!moved_old_) return;
  ::rename(journal_of(path_ + ".old").c_str(), journal_of(path_).c_str());
  ::rename((path_ + ".old").c_str(), path_.c_str());
}

std::string file_size_text(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return "?";
  return format_bytes(static_cast<uint64_t>(status.st_size));
}

void survive_file_size_limit() {
  struct sigaction action{};
  ::sigaction(SIGXFSZ, nullptr, &action);
  if (action.sa_handler != SIG_DFL) return;
  action.sa_handler = [](int) {};
  ::sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace culprit
