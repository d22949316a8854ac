#include "host/emulator.h"

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace culprit {
namespace {

/// What it prints to both outputs, and whether it ends with 0.
struct Answer {
  std::string text;
  bool is_success = false;
};
Answer ask(std::vector<std::string> words) {
  Answer answer;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return answer;
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), STDERR_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, pointers.front(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (failed != 0) return answer;
  answer.text = read_fd(reader.get(), words.front(), 1 << 16).value_or("");
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  answer.is_success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return answer;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// Whether it is an ELF file with all that its header promises: the table of sections is its end.
/// One that was cut short kills who loads it.
bool is_whole(const std::string& path) {
  const Result<Fd> file = open_readable(path);
  struct stat facts{};
  Elf64_Ehdr header{};
  if (!file || ::fstat(file->get(), &facts) != 0 ||
      ::pread(file->get(), &header, sizeof header, 0) != sizeof header) {
    return false;
  }
  const auto size = static_cast<uint64_t>(facts.st_size);
  const uint64_t table_bytes = uint64_t{header.e_shentsize} * header.e_shnum;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_shoff <= size &&
         table_bytes <= size - header.e_shoff;
}

/// Tells the reason from what it said instead of loading the plugin.
std::string explain(const std::string& text) {
  // "Could not load plugin ...: plugin requires API version ..."
  if (text.find("plugin requires API version") != std::string::npos) {
    return "has another interface for plugins than those that culprit knows";
  }
  if (text.find("unknown option") != std::string::npos) {
    return "is built without plugins, as Debian's are from 13 on";
  }
  const std::string said = printable(first_line(text));
  return "cannot load culprit's plugin" + (said.empty() ? said : ": it says \"" + said + "\"");
}

}  // namespace

Emulator ask_emulator(const std::string& program, const std::string& plugin) {
  Emulator emulator;
  const Answer version = ask({program, "--version"});
  if (!version.is_success) return emulator;
  const std::string line = first_line(version.text);
  emulator.version = printable(line.substr(0, line.find(" (")));  // without the packager's
  if (plugin.empty()) {
    emulator.problem = "has no plugin to load: libculprit_qemu.so is missing";
    emulator.remedy = "keep libculprit_qemu.so beside culprit";
    return emulator;
  }
  if (!is_whole(plugin)) {
    emulator.problem = "has no whole plugin to load: '" + printable(plugin) + "' is damaged";
    emulator.remedy = "install culprit anew, or copy its libculprit_qemu.so once more";
    return emulator;
  }
  // An end with success can only be the plugin's: a folder cannot be run.
  const Answer trial = ask({program, "-plugin", plugin + ",trial=on", "/"});
  if (trial.is_success) return emulator;
  emulator.problem = explain(trial.text);
  emulator.remedy =
      "put a QEMU with plugins before it in PATH: Debian 12's qemu-user, or one built with "
      "--enable-plugins";
  return emulator;
}

}  // namespace culprit
