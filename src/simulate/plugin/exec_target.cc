#include "simulate/plugin/exec_target.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

namespace culprit {
namespace {

constexpr int kDeepestScript = 5;  // as the kernel: scripts whose interpreters are scripts

/// The first bytes of an executable file; "" if it is none that we may take over.
std::string read_start(const std::string& path) {
  if (::access(path.c_str(), X_OK) != 0) return {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  char bytes[256];
  struct stat status{};
  const bool is_plain = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const bool changes_rights = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  const ssize_t got = is_plain && !changes_rights ? ::pread(fd, bytes, sizeof bytes, 0) : 0;
  ::close(fd);
  return got > 0 ? std::string(bytes, static_cast<size_t>(got)) : std::string();
}

bool is_elf_for(const std::string& start, uint16_t machine) {
  Elf64_Ehdr header;
  if (start.size() < sizeof header) return false;
  std::memcpy(&header, start.data(), sizeof header);
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == machine;
}

/// From QEMU 9.0 on the kernel places the program's mappings among QEMU's own. A heap for each of
/// QEMU's threads would come at a time, so at addresses, of chance.
constexpr std::string_view kOneHeap = "MALLOC_ARENA_MAX=";

}  // namespace

std::optional<ExecTarget> find_exec_target(const std::string& path, const std::string& name,
                                           uint16_t machine) {
  ExecTarget target{path, name, {}};
  for (int depth = 0; depth < kDeepestScript; ++depth) {
    const std::string start = read_start(target.program);
    if (is_elf_for(start, machine)) return target;
    if (!start.starts_with("#!")) return std::nullopt;
    // "#!INTERPRETER [ONE ARGUMENT]" runs INTERPRETER [ONE ARGUMENT] SCRIPT ...
    const std::string_view line = trim(std::string_view(start).substr(2, start.find('\n') - 2));
    const size_t end = line.find_first_of(" \t");
    const std::string interpreter(line.substr(0, end));
    std::vector<std::string> words;
    if (end != std::string_view::npos) words.emplace_back(trim(line.substr(end)));
    words.push_back(target.program);
    words.insert(words.end(), target.words.begin(), target.words.end());
    target = {interpreter, interpreter, words};
  }
  return std::nullopt;
}

QemuExec make_qemu_exec(const ExecTarget& target, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& environment) {
  QemuExec exec;
  bool limits_heaps = false;
  for (const std::string& variable : environment) {
    const bool is_of_heaps = variable.starts_with(kOneHeap);
    limits_heaps = limits_heaps || is_of_heaps;
    // QEMU would be linked by LD_* itself. For -E a comma separates variables.
    const bool is_not_for_qemu = is_of_heaps || variable.starts_with("LD_");
    if (is_not_for_qemu && variable.find(',') == std::string::npos) {
      exec.words.insert(exec.words.end(), {"-E", variable});
    } else {
      exec.environment.push_back(variable);
    }
  }
  exec.environment.push_back(std::string(kOneHeap) + "1");
  if (!limits_heaps) exec.words.insert(exec.words.end(), {"-U", "MALLOC_ARENA_MAX"});
  exec.words.insert(exec.words.end(), {"-0", target.name, target.program});
  exec.words.insert(exec.words.end(), target.words.begin(), target.words.end());
  exec.words.insert(exec.words.end(), arguments.begin(), arguments.end());
  return exec;
}

}  // namespace culprit
