#include "collect/timer/posix_timer_check.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/exec_command.h"
#include "base/file.h"
#include "base/text.h"

namespace culprit {
namespace {

constexpr size_t kScriptLineBytes = 256;  // the kernel reads no further
constexpr int kMaxInterpreters = 5;       // as deep as the kernel follows them

#if defined(__x86_64__)
constexpr uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#else
constexpr uint16_t kOwnMachine = EM_NONE;
#endif

/// "#! /usr/bin/env python3" -> {"/usr/bin/env", "python3"}
std::vector<std::string> parse_interpreter(std::string_view line) {
  line = line.substr(0, line.find('\n'));
  std::vector<std::string> words;
  for (const std::string_view word : split(line.substr(2), ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

template <class T>
std::optional<T> read_at(int fd, uint64_t offset) {
  T value;
  if (offset > INT64_MAX - sizeof value) return std::nullopt;
  if (::pread(fd, &value, sizeof value, static_cast<off_t>(offset)) != sizeof value) {
    return std::nullopt;
  }
  return value;
}

/// The dynamic linker an ELF file names; "" for a static one.
std::string read_dynamic_linker(int fd, const Elf64_Ehdr& header) {
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read_at<Elf64_Phdr>(fd, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return "";
    if (segment->p_type != PT_INTERP) continue;
    char name[256] = "";
    if (segment->p_offset > INT64_MAX) return "";
    const ssize_t got = ::pread(fd, name, sizeof name - 1, static_cast<off_t>(segment->p_offset));
    return got > 0 ? std::string(name) : "";
  }
  return "";
}

Error refuse(const std::string& path, const std::string& why) {
  return Error{"cannot profile " + in_quotes(path) + " here: " + why};
}

/// The dynamic linker ignores LD_PRELOAD where a program gains rights by being run.
bool gains_privileges(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
      status.st_gid != ::getegid()) {
    return true;
  }
  return ::geteuid() != 0 && ::fgetxattr(fd, "security.capability", nullptr, 0) > 0;
}

Result<void> check_elf(int fd, const std::string& path) {
  const auto header = read_at<Elf64_Ehdr>(fd, 0);
  if (!header) return refuse(path, "its ELF header is cut short");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != kOwnMachine) {
    return refuse(path, "it is a program for another architecture than culprit itself");
  }
  const std::string linker = read_dynamic_linker(fd, *header);
  if (linker.empty()) return refuse(path, "it is statically linked");
  if (linker.find("musl") != std::string::npos) {
    return refuse(path, "it uses musl, and the sampling library is built for glibc");
  }
  if (gains_privileges(fd)) {
    return refuse(path, "it is set-user-id, set-group-id or has capabilities");
  }
  return {};
}

}  // namespace

Result<void> check_preloadable(const std::vector<std::string>& command) {
  std::string name = command.empty() ? "" : command[0];
  for (int depth = 0; depth < kMaxInterpreters; ++depth) {
    const std::string path = find_program(name);
    if (path.empty()) return {};
    const Result<Fd> fd = open_readable(path);
    if (!fd) return {};  // executable only, or not there: running it will tell
    char start[kScriptLineBytes] = "";
    const ssize_t got = ::pread((*fd).get(), start, sizeof start - 1, 0);
    if (got >= SELFMAG && std::memcmp(start, ELFMAG, SELFMAG) == 0) {
      return check_elf((*fd).get(), path);
    }
    if (got < 2 || start[0] != '#' || start[1] != '!') return {};
    const std::vector<std::string> words = parse_interpreter({start, static_cast<size_t>(got)});
    if (words.empty()) return {};
    const bool is_env = words[0].ends_with("/env") && words.size() > 1;
    name = is_env && words.size() == 2 ? words[1] : words[0];
  }
  return {};
}

}  // namespace culprit
