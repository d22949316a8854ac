#include "base/file_faults.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/result.h"

namespace culprit {
namespace {

struct LoadedObject {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The handler reads these; they are written before it is installed.
std::array<LoadedObject, 256> loaded_objects;
size_t loaded_count = 0;
uintptr_t page_bytes = 4096;

/// Zeros in place of the code or data of a library would be wrong results without a word.
int note_loaded_object(dl_phdr_info* info, size_t /*size*/, void* /*unused*/) {
  for (size_t i = 0; i < info->dlpi_phnum && loaded_count < loaded_objects.size(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    loaded_objects[loaded_count++] = {begin & ~(page_bytes - 1), begin + segment.p_memsz};
  }
  return 0;
}

bool is_in_loaded_object(uintptr_t address) {
  for (size_t i = 0; i < loaded_count; ++i) {
    const LoadedObject& object = loaded_objects[i];
    if (address >= object.begin && address < object.end) return true;
  }
  return false;
}

/// Runs as a signal handler: system calls only.
void replace_missing_page(int signal, siginfo_t* info, void* /*context*/) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (info->si_code == BUS_ADRERR && !is_in_loaded_object(address)) {
    void* const page = reinterpret_cast<void*>(address & ~(page_bytes - 1));
    if (::mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0) != MAP_FAILED)
      return;
  }
  ::signal(signal, SIG_DFL);                // the instruction runs again, and ends us
  if (info->si_code <= 0) ::raise(signal);  // somebody sent it: there is no such instruction
}

bool install() {
  page_bytes = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(note_loaded_object, nullptr);
  struct sigaction action{};
  action.sa_sigaction = replace_missing_page;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK(::sigaction(SIGBUS, &action, nullptr) == 0);
  return true;
}

}  // namespace

void survive_file_faults() {
  static const bool is_installed = install();
  static_cast<void>(is_installed);
}

}  // namespace culprit
