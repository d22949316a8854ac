#include "base/exec_command.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace culprit {
namespace {

constexpr const char* kShell = "/bin/sh";

/// Also between fork and exec.
bool is_elf_file(const char* path) {
  char start[SELFMAG] = "";
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = ::read(fd, start, sizeof start);
  ::close(fd);
  return got == SELFMAG && std::memcmp(start, ELFMAG, SELFMAG) == 0;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const std::string candidate = (folder.empty() ? "." : std::string(folder)) + "/" + name;
    struct stat status{};
    if (::access(candidate.c_str(), X_OK) == 0 && ::stat(candidate.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      return candidate;
    }
  }
  return "";
}

std::vector<char*> make_exec_words(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

ExecCommand::ExecCommand(const std::vector<std::string>& words)
    : path_(find_program(words.front())), words_(make_exec_words(words)) {
  shell_words_ = {const_cast<char*>(kShell), path_.data()};
  shell_words_.insert(shell_words_.end(), words_.begin() + 1, words_.end());
}

int ExecCommand::exec(char* const* environment) const {
  ::execve(path_.c_str(), words_.data(), environment);
  const int reason = errno;
  if (reason != ENOEXEC || is_elf_file(path_.c_str())) return reason;
  ::execve(kShell, shell_words_.data(), environment);
  return errno;
}

}  // namespace culprit
