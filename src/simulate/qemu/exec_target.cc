#include "simulate/qemu/exec_target.h"

#include <algorithm>
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

/// A variable that keeps QEMU from mapping memory while the program runs. From QEMU 9.0 on the
/// kernel places the program's mappings among QEMU's own: a heap for each of QEMU's threads, or a
/// mapping for what its heap has no room for, would come at a time of chance, and so move the
/// program's addresses by chance.
struct HeapLimit {
  std::string_view name;
  std::string_view value;
};
constexpr HeapLimit kHeapLimits[] = {{"MALLOC_ARENA_MAX", "1"}, {"MALLOC_MMAP_MAX_", "0"}};

bool is_of(const std::string& variable, std::string_view name) {
  return variable.starts_with(name) && variable.substr(name.size(), 1) == "=";
}

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
  for (const std::string& variable : environment) {
    const bool is_of_heap = std::ranges::any_of(
        kHeapLimits, [&](const HeapLimit& limit) { return is_of(variable, limit.name); });
    // QEMU would be linked by LD_* itself. For -E a comma separates variables.
    const bool is_not_for_qemu = is_of_heap || variable.starts_with("LD_");
    if (is_not_for_qemu && variable.find(',') == std::string::npos) {
      exec.words.insert(exec.words.end(), {"-E", variable});
    } else {
      exec.environment.push_back(variable);
    }
  }
  for (const auto& [name, value] : kHeapLimits) {
    exec.environment.push_back(std::string(name) + "=" + std::string(value));
    const bool is_given = std::ranges::any_of(
        environment, [&](const std::string& variable) { return is_of(variable, name); });
    if (!is_given) exec.words.insert(exec.words.end(), {"-U", std::string(name)});
  }
  exec.words.insert(exec.words.end(), {"-0", target.name, target.program});
  exec.words.insert(exec.words.end(), target.words.begin(), target.words.end());
  exec.words.insert(exec.words.end(), arguments.begin(), arguments.end());
  return exec;
}

}  // namespace culprit
