#include "cli/run_program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

namespace culprit {

std::optional<Unrunnable> check_program(const std::string& program) {
  const auto refuse = [&](int status, const std::string& reason) {
    return Unrunnable{status, Error{"cannot run " + in_quotes(program) + ": " + reason}};
  };
  const auto check = [&](const std::string& path) -> std::optional<Unrunnable> {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
      return refuse(errno == ENOENT || errno == ENOTDIR ? kNotFound : kCannotRun,
                    errno_error("", errno).message.substr(2));
    }
    if (S_ISDIR(status.st_mode)) return refuse(kCannotRun, "it is a directory");
    if (::access(path.c_str(), X_OK) != 0) {
      return refuse(kCannotRun, "it is not executable (chmod +x?)");
    }
    return std::nullopt;
  };
  if (program.find('/') != std::string::npos) return check(program);
  std::optional<Unrunnable> worst = refuse(kNotFound, "not found in PATH");
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    const auto problem = check(std::string(folder.empty() ? "." : folder) + "/" + program);
    if (!problem) return std::nullopt;
    if (problem->status == kCannotRun) worst = problem;
  }
  return worst;
}

int end_like(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::fflush(nullptr);
    std::signal(WTERMSIG(wait_status), SIG_DFL);
    ::raise(WTERMSIG(wait_status));
    return 128 + WTERMSIG(wait_status);
  }
  return WEXITSTATUS(wait_status);
}

}  // namespace culprit
