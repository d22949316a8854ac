#include "collect/emulator.h"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace culprit {
namespace {

/// From here on plugins must be made for another interface (QEMU_PLUGIN_MIN_VERSION is 2).
constexpr int kFirstOfOtherInterface = 9;

/// What it prints, if it exits with 0.
std::string read_output(const std::string& program, const char* option) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  const char* const words[] = {program.c_str(), option, nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr,
                                    const_cast<char* const*>(words), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (failed != 0) return "";
  std::string text = read_fd(reader.get(), program, 1 << 16).value_or("");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

/// "qemu-x86_64 version 7.2.22 (Debian ...)": 7; 0 if there is none.
int read_major_version(std::string_view text) {
  constexpr std::string_view kBefore = " version ";
  const size_t at = text.find(kBefore);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + kBefore.size());
  int major = 0;
  std::from_chars(text.data(), text.data() + text.size(), major);
  return major;
}

}  // namespace

Emulator ask_emulator(const std::string& program) {
  Emulator emulator;
  const std::string text = read_output(program, "--version");
  const std::string_view line = std::string_view(text).substr(0, text.find('\n'));
  emulator.version = printable(line.substr(0, line.find(" (")));  // without the packager's
  if (emulator.version.empty()) return emulator;
  const bool has_plugins = read_output(program, "-h").find("-plugin") != std::string::npos;
  if (!has_plugins) {
    emulator.problem = "is built without plugins, as Debian's are from 13 on";
  } else if (read_major_version(line) >= kFirstOfOtherInterface) {
    emulator.problem = "has another interface for plugins than culprit's is made for";
  } else {
    return emulator;
  }
  emulator.remedy =
      "put a QEMU with plugins, 8.2 or older (Debian 12's qemu-user), before it in PATH";
  return emulator;
}

}  // namespace culprit
