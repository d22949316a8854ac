#include "simulate/plugin/system_calls.h"

#include <algorithm>
#include <cstdlib>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"
#include "simulate/plugin/exec_target.h"
#include "simulate/plugin/execution.h"
#include "simulate/plugin/interleaving.h"
#include "simulate/plugin/tenures_file.h"

namespace culprit {
namespace {

constexpr size_t kLongestText = 1 << 17;  // MAX_ARG_STRLEN
constexpr size_t kMostWords = 1 << 20;

/// Of the mmap under way in this thread, if its pages are huge ones.
thread_local uint64_t huge_mapping_bytes = 0;

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

std::vector<char*> make_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// "" if it is not there.
std::string whole_path(const std::string& path) {
  char* const whole = ::realpath(path.c_str(), nullptr);
  const std::string copy = whole != nullptr ? whole : "";
  std::free(whole);
  return copy;
}

}  // namespace

void save_tenures(unsigned vcpu, CountsWriter& writer) {
  simulate::Hierarchy* const machine = stop_machine(vcpu);
  if (machine != nullptr) write_tenures(writer.path() + ".tenures", *machine);
}

SystemCalls::SystemCalls(std::string_view target, std::vector<std::string> emulator,
                         const std::string& program, CountsWriter& writer, Translation& translation)
    : emulator_(std::move(emulator)),
      program_(whole_path(program)),
      writer_(writer),
      translation_(translation) {
  // Linux' numbers for x86-64, and the generic ones.
  const bool is_x86 = target == "x86_64";
  numbers_ = is_x86 ? Numbers{9, 11, 25, 28, 59, 322, 231, 60, 202, 56}
                    : Numbers{222, 215, 216, 233, 221, 281, 94, 93, 98, 220};
  machine_ = is_x86 ? EM_X86_64 : EM_AARCH64;
  const Result<std::string> pages = read_file("/sys/kernel/mm/transparent_hugepage/enabled", 4096);
  maps_huge_pages_ = pages && pages->find("[always]") != std::string::npos;
}

/// For the kernel /proc/self/exe is QEMU; the program means itself.
std::string SystemCalls::resolve_own_path(const std::string& path) const {
  const bool is_own =
      path == "/proc/self/exe" || path == "/proc/" + std::to_string(::getpid()) + "/exe";
  return is_own && !program_.empty() ? program_ : path;
}

AnnouncedCall SystemCalls::announce(int64_t number, uint64_t first_argument) const {
  // As QEMU takes it: a vfork is a fork, and there is no clone3.
  constexpr uint64_t kSharesMemory = 0x100;  // CLONE_VM
  constexpr uint64_t kVfork = 0x4000;        // CLONE_VFORK
  const bool shares = (first_argument & kSharesMemory) != 0 && (first_argument & kVfork) == 0;
  return {.is_futex = number == numbers_.futex,
          .address = first_argument + base_,
          .ends_thread = number == numbers_.exit,
          .starts_thread = number == numbers_.clone && shares};
}

void SystemCalls::before(unsigned vcpu, int64_t number, const uint64_t (&arguments)[6]) {
  if (Core* const core = cores[vcpu]) {
    if (counting[vcpu] != nullptr) ++core->shared.header->system_calls;
    core->system_call_start_ns = monotonic_ns();
  }
  note_mapping_change(number, arguments);
  note_page_size(number, arguments);
  if (number == numbers_.exit_group) {
    save_tenures(vcpu, writer_);
    end_turns(vcpu);
  } else if (number == numbers_.execve) {
    take_over_exec(vcpu, arguments[0], arguments[1], arguments[2]);
  } else if (number == numbers_.execveat) {
    const bool is_path = static_cast<int>(arguments[0]) == AT_FDCWD && arguments[4] == 0;
    if (is_path) take_over_exec(vcpu, arguments[1], arguments[2], arguments[3]);
    if (!is_path) ++writer_.header().native_execs;
  }
}

void SystemCalls::after(unsigned vcpu, int64_t number, int64_t result) {
  if (number == numbers_.mmap && result > 0 && huge_mapping_bytes != 0) {
    const auto begin = static_cast<uint64_t>(result);
    set_huge_pages(begin, begin + huge_mapping_bytes, true);
  }
  Core* const core = cores[vcpu];
  if (core == nullptr || core->system_call_start_ns == 0) return;
  if (counting[vcpu] != nullptr) {
    core->shared.header->system_call_ns += monotonic_ns() - core->system_call_start_ns;
  }
  core->system_call_start_ns = 0;
}

/// A new mapping elsewhere needs nothing: what was not mapped is not known either.
void SystemCalls::note_mapping_change(int64_t number, const uint64_t (&arguments)[6]) {
  constexpr uint64_t kFixed = 0x10;  // MAP_FIXED
  if (number == numbers_.munmap || (number == numbers_.mmap && (arguments[3] & kFixed) != 0)) {
    translation_.forget_mapping(arguments[0], arguments[1]);
  } else if (number == numbers_.mremap) {
    translation_.forget_mapping(arguments[0], std::max(arguments[1], arguments[2]));
    translation_.forget_mapping(arguments[4], arguments[2]);
  }
}

/// Which pages the kernel would take natively; QEMU's own mapping of them does not matter.
void SystemCalls::note_page_size(int64_t number, const uint64_t (&arguments)[6]) {
  constexpr uint64_t kAnonymous = 0x20;   // MAP_ANONYMOUS
  constexpr uint64_t kHugeTlb = 0x40000;  // MAP_HUGETLB
  constexpr uint64_t kHuge = 14;          // MADV_HUGEPAGE
  constexpr uint64_t kNoHuge = 15;        // MADV_NOHUGEPAGE
  const uint64_t begin = arguments[0];
  const uint64_t bytes = arguments[1];
  if (number == numbers_.mmap) {
    const uint64_t flags = arguments[3];
    const bool is_huge = (flags & kHugeTlb) != 0 || (maps_huge_pages_ && (flags & kAnonymous) != 0);
    huge_mapping_bytes = is_huge ? bytes : 0;
  } else if (number == numbers_.munmap || (number == numbers_.madvise && arguments[2] == kNoHuge)) {
    set_huge_pages(begin, begin + bytes, false);
  } else if (number == numbers_.madvise && arguments[2] == kHuge) {
    set_huge_pages(begin, begin + bytes, true);
  }
}

void SystemCalls::take_over_exec(unsigned vcpu, uint64_t path, uint64_t arguments,
                                 uint64_t environment) {
  const std::optional<std::string> file = read_text(path + base_);
  const auto words = read_texts(arguments, base_);
  const auto variables = read_texts(environment, base_);
  if (!file || !words || !variables) return;  // the kernel will say EFAULT
  const std::string program = resolve_own_path(*file);
  const auto target =
      find_exec_target(program, words->empty() ? program : words->front(), machine_);
  if (!target) {
    if (::access(program.c_str(), X_OK) == 0) ++writer_.header().native_execs;
    return;
  }
  QemuExec exec = make_qemu_exec(
      *target, words->empty() ? *words : std::vector(words->begin() + 1, words->end()), *variables);
  std::vector<std::string> command = emulator_;
  command.insert(command.end(), exec.words.begin(), exec.words.end());
  save_tenures(vcpu, writer_);
  ::execve(emulator_.front().c_str(), make_pointers(command).data(),
           make_pointers(exec.environment).data());
}

}  // namespace culprit
