#include "cli/kernel_program.h"

#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program_files.h"
#include "base/text.h"

namespace culprit {
namespace {

/// All that comes out of a pipe.
std::string read_to_end(int fd) {
  std::string text;
  char bytes[256];
  for (ssize_t got = 0; (got = ::read(fd, bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<size_t>(got));
  }
  return text;
}

std::vector<std::string> make_words(const char* action, const std::string& program,
                                    const KernelRun& run) {
  return {program, action, run.kernel, std::to_string(run.rounds), std::to_string(run.bytes)};
}

}  // namespace

Result<std::string> find_kernel_program() {
  std::string program = find_kernels();
  if (!program.empty()) return program;
  return Error{
      "culprit_kernels is not beside this culprit, nor in ../lib/culprit: install it whole"};
}

std::vector<std::string> make_kernel_command(const std::string& program, const KernelRun& run) {
  return make_words("run", program, run);
}

Result<double> time_kernel(const std::string& program, const KernelRun& run) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{"a pipe cannot be made"};
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
  std::vector<std::string> words = make_words("time", program, run);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (failed != 0) return Error{fmt::format("{} cannot be started", printable(program))};
  const std::string text = read_to_end(reader.get());
  int status = 0;
  ::waitpid(child, &status, 0);
  uint64_t ns = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), ns);
  if (status != 0 || failure != std::errc()) {
    return Error{fmt::format("the kernel {} failed", run.kernel)};
  }
  return static_cast<double>(ns);
}

}  // namespace culprit
