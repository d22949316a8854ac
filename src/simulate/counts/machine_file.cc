#include "simulate/counts/machine_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <type_traits>
#include <unistd.h>

#include "base/file.h"

namespace culprit::counting {
namespace {

/// simulate::MachineModel without its name.
struct MachineBytes {
  uint64_t size = sizeof(MachineBytes);
  char llvm_cpu[64];
  uint32_t line_bytes;
  simulate::CacheGeometry l1i, l1d, l2, l3;
  simulate::TlbSettings tlb;
  simulate::PrefetchSettings prefetch;
  simulate::BranchSettings branch;
  simulate::CoreSettings core;
  simulate::MemorySettings memory;
};
static_assert(std::is_trivially_copyable_v<MachineBytes>);

}  // namespace

std::string machine_file_path(const std::string& folder) {
  return folder + "/machine";
}

Result<void> write_machine_file(const std::string& path, const simulate::MachineModel& machine) {
  MachineBytes bytes{sizeof(MachineBytes), {},           machine.line_bytes,
                     machine.l1i,          machine.l1d,  machine.l2,
                     machine.l3,           machine.tlb,  machine.prefetch,
                     machine.branch,       machine.core, machine.memory};
  machine.llvm_cpu.copy(bytes.llvm_cpu, sizeof bytes.llvm_cpu - 1);
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd || ::write(fd.get(), &bytes, sizeof bytes) != static_cast<ssize_t>(sizeof bytes)) {
    return errno_error("cannot write '" + path + "'", errno);
  }
  return {};
}

Result<simulate::MachineModel> read_machine_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, 1 << 16));
  MachineBytes bytes{};
  if (text.size() != sizeof bytes) return Error{"'" + path + "' is of another version of culprit"};
  std::memcpy(&bytes, text.data(), sizeof bytes);
  if (bytes.size != sizeof bytes) return Error{"'" + path + "' is of another version of culprit"};
  simulate::MachineModel machine;
  machine.llvm_cpu.assign(bytes.llvm_cpu, ::strnlen(bytes.llvm_cpu, sizeof bytes.llvm_cpu));
  machine.line_bytes = bytes.line_bytes;
  machine.l1i = bytes.l1i;
  machine.l1d = bytes.l1d;
  machine.l2 = bytes.l2;
  machine.l3 = bytes.l3;
  machine.tlb = bytes.tlb;
  machine.prefetch = bytes.prefetch;
  machine.branch = bytes.branch;
  machine.core = bytes.core;
  machine.memory = bytes.memory;
  return machine;
}

}  // namespace culprit::counting
