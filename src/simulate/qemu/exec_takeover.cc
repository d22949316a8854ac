#include "simulate/qemu/exec_takeover.h"

#include <algorithm>
#include <cstdlib>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/uio.h>
#include <unistd.h>

#include "base/exec_command.h"
#include "simulate/qemu/exec_target.h"

namespace culprit {
namespace {

constexpr size_t kLongestText = 1 << 17;  // MAX_ARG_STRLEN
constexpr size_t kMostWords = 1 << 20;

/// Reads our own memory by way of the kernel: a wrong pointer is an error, not our end.
bool read_memory(uint64_t address, void* to, size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::optional<std::string> read_text(uint64_t address) {
  std::string text;
  while (text.size() < kLongestText) {
    char part[256];
    const uint64_t to_page_end = 4096 - address % 4096;
    const size_t bytes = std::min<uint64_t>(sizeof part, to_page_end);
    if (!read_memory(address, part, bytes)) return std::nullopt;
    char* const end = std::find(part, part + bytes, '\0');
    text.append(part, end);
    if (end != part + bytes) return text;
    address += bytes;
  }
  return std::nullopt;
}

/// A NULL-terminated array of texts of the program; nullopt: a wrong pointer among them.
std::optional<std::vector<std::string>> read_texts(uint64_t array, uint64_t base) {
  std::vector<std::string> texts;
  if (array == 0) return texts;
  for (size_t i = 0; i < kMostWords; ++i) {
    uint64_t pointer = 0;
    if (!read_memory(array + base + i * sizeof pointer, &pointer, sizeof pointer))
      return std::nullopt;
    if (pointer == 0) return texts;
    std::optional<std::string> text = read_text(pointer + base);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return std::nullopt;
}

/// "" if it is not there.
std::string whole_path(const std::string& path) {
  char* const whole = ::realpath(path.c_str(), nullptr);
  const std::string copy = whole != nullptr ? whole : "";
  std::free(whole);
  return copy;
}

}  // namespace

ExecTakeover::ExecTakeover(std::string_view architecture, std::vector<std::string> emulator,
                           const std::string& program, std::vector<std::string> needed)
    : machine_(architecture == "x86_64" ? EM_X86_64 : EM_AARCH64),
      emulator_(std::move(emulator)),
      program_(whole_path(program)),
      needed_(std::move(needed)) {}

/// The kernel takes /proc/self/exe for QEMU, where the program means itself.
std::string ExecTakeover::resolve_own_path(const std::string& path) const {
  const bool is_own =
      path == "/proc/self/exe" || path == "/proc/" + std::to_string(::getpid()) + "/exe";
  return is_own && !program_.empty() ? program_ : path;
}

/// Whether QEMU and the plugin can be read there. In another root, or as another user, they may be
/// hidden, and QEMU would end where the program by itself runs.
bool ExecTakeover::has_all_needed() const {
  // Asked for the real user without the capabilities that an exec takes away, too.
  const auto can = [](const std::string& path, int mode) {
    return ::access(path.c_str(), mode) == 0 &&
           ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
  };
  return can(emulator_.front(), X_OK) &&
         std::ranges::all_of(needed_, [&](const std::string& path) { return can(path, R_OK); });
}

void ExecTakeover::take_over(const counting::ExecCall& call, unsigned number, uint64_t base,
                             counting::Counting& counting) {
  if (!call.is_by_path) return counting.add_native_exec();
  const std::optional<std::string> file = read_text(call.path + base);
  const auto words = read_texts(call.arguments, base);
  const auto variables = read_texts(call.environment, base);
  if (!file || !words || !variables) return;  // the kernel will say EFAULT
  const std::string program = resolve_own_path(*file);
  const auto target =
      find_exec_target(program, words->empty() ? program : words->front(), machine_);
  if (!target || !has_all_needed()) {
    if (::access(program.c_str(), X_OK) == 0) counting.add_native_exec();
    return;
  }
  QemuExec exec = make_qemu_exec(
      *target, words->empty() ? *words : std::vector(words->begin() + 1, words->end()), *variables);
  std::vector<std::string> command = emulator_;
  command.insert(command.end(), exec.words.begin(), exec.words.end());
  counting.begin_exec(number);
  ::execve(emulator_.front().c_str(), make_exec_words(command).data(),
           make_exec_words(exec.environment).data());
  counting.exec_failed();
  counting.add_native_exec();
}

}  // namespace culprit
