#include "simulate/qemu/qemu_command.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exec_command.h"
#include "base/file.h"
#include "base/text.h"
#include "simulate/qemu/exec_target.h"

namespace culprit {
namespace {

/// What we can simulate. Debian's aarch64 cross compiler keeps its libraries in `sysroot`.
struct Architecture {
  uint16_t machine;
  const char* name;
  const char* cpu;      // all that QEMU has; the default model lacks AVX2
  const char* sysroot;  // "": the system's own files
};
constexpr Architecture kArchitectures[] = {
    {EM_X86_64, "x86_64", "max", ""},
    // QEMU computes the architected pointer authentication slowly; any other will do.
    {EM_AARCH64, "aarch64", "max,pauth-impdef=on", "/usr/aarch64-linux-gnu"},
};

/// The machine of an ELF file; nullopt: no 64-bit little-endian ELF file.
std::optional<Elf64_Ehdr> read_elf_header(const std::string& path) {
  const Result<Fd> fd = open_readable(path);
  Elf64_Ehdr header;
  if (!fd || ::pread(fd->get(), &header, sizeof header, 0) != sizeof header) return std::nullopt;
  const bool is_elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  const bool fits =
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
  return is_elf && fits ? std::optional(header) : std::nullopt;
}

Error cannot_simulate(const std::string& program, const std::string& reason) {
  return Error{fmt::format("cannot simulate '{}': {}", printable(program), reason)};
}

/// Why find_exec_target() has found nothing.
Error explain_refusal(const std::string& path) {
  struct stat status{};
  if (::access(path.c_str(), X_OK) != 0) return cannot_simulate(path, "it is not executable");
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return cannot_simulate(path, "it runs with the rights of its owner, which QEMU cannot give it");
  }
  return cannot_simulate(path,
                         "it is neither a 64-bit program for x86-64 or aarch64, nor a script "
                         "whose interpreter is one");
}

/// What is to run, and for which machine.
struct Found {
  ExecTarget target;
  const Architecture* architecture = nullptr;
};
Result<Found> find_simulated(const std::string& program) {
  const std::string path = find_program(program);
  if (path.empty() || !file_exists(path)) return cannot_simulate(program, "not found");
  for (const Architecture& one : kArchitectures) {
    if (auto target = find_exec_target(path, program, one.machine)) {
      return Found{*std::move(target), &one};
    }
  }
  return explain_refusal(path);
}

/// The dynamic linker that the program names; "" for a static one.
std::string read_interpreter(const std::string& path, const Elf64_Ehdr& header) {
  const Result<Fd> fd = open_readable(path);
  if (!fd) return {};
  for (unsigned i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Elf64_Phdr); ++i) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + i * sizeof segment;
    if (::pread(fd->get(), &segment, sizeof segment, static_cast<off_t>(at)) != sizeof segment)
      break;
    if (segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::string text(segment.p_filesz, '\0');
    const ssize_t got =
        ::pread(fd->get(), text.data(), text.size(), static_cast<off_t>(segment.p_offset));
    return got > 0 ? std::string(text.c_str()) : std::string();
  }
  return {};
}

Result<std::string> find_sysroot(const Architecture& architecture, const std::string& asked,
                                 const std::string& program, const Elf64_Ehdr& header) {
  const std::string sysroot = asked.empty() ? architecture.sysroot : asked;
  const std::string interpreter = read_interpreter(program, header);
  if (interpreter.empty() || file_exists(sysroot + interpreter)) return sysroot;
  // QEMU takes the system's own file where the sysroot has none.
  if (file_exists(interpreter)) return sysroot;
  return cannot_simulate(
      program, fmt::format("its dynamic linker {} is not in '{}'\ngive the folder that has the "
                           "program's libraries with --sysroot{}",
                           printable(interpreter), sysroot.empty() ? "/" : sysroot,
                           architecture.machine == EM_AARCH64
                               ? " (Debian: apt-get install libc6-arm64-cross)"
                               : ""));
}

}  // namespace

Result<std::string> find_simulated_program(const std::string& program) {
  ASSIGN_OR_RETURN(const Found found, find_simulated(program));
  return found.target.program;
}

Result<QemuCommand> make_qemu_command(const std::vector<std::string>& command,
                                      const std::vector<std::string>& environment,
                                      const QemuSettings& settings) {
  ASSIGN_OR_RETURN(const Found found, find_simulated(command.front()));
  const ExecTarget* const target = &found.target;
  const Architecture* const architecture = found.architecture;
  // A script's interpreter was named by its own first line.
  const std::optional<Elf64_Ehdr> header = read_elf_header(target->program);
  if (!header) return explain_refusal(target->program);

  const std::string emulator_name = fmt::format("qemu-{}", architecture->name);
  const std::string emulator = find_program(emulator_name);
  if (emulator.empty()) {
    return cannot_simulate(command.front(), fmt::format("there is no {} on this machine\nDebian "
                                                        "12 has it in the package qemu-user (a "
                                                        "static one cannot load plugins): "
                                                        "apt-get install qemu-user",
                                                        emulator_name));
  }
  for (const std::string& part : {settings.plugin_path, settings.counting.folder}) {
    if (part.find(',') != std::string::npos) {
      return Error{fmt::format("QEMU cannot take '{}' as an option: it has a comma in it", part)};
    }
  }
  ASSIGN_OR_RETURN(const std::string sysroot,
                   find_sysroot(*architecture, settings.sysroot, target->program, *header));

  QemuCommand result;
  result.architecture = architecture->name;
  // The seed: what the kernel would hand the program as random bytes is the same in each run.
  result.words = {emulator, "-cpu", architecture->cpu, "-seed", "1"};
  if (!sysroot.empty()) result.words.insert(result.words.end(), {"-L", sysroot});
  std::string plugin = fmt::format("{},words={}", settings.plugin_path, result.words.size() + 2);
  for (const std::string& word : counting::counting_words(settings.counting)) plugin += "," + word;
  result.words.insert(result.words.end(), {"-plugin", plugin});
  QemuExec exec = make_qemu_exec(*target, {command.begin() + 1, command.end()}, environment);
  result.words.insert(result.words.end(), exec.words.begin(), exec.words.end());
  result.environment = std::move(exec.environment);
  return result;
}

}  // namespace culprit
