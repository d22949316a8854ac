#include "base/vdso.h"

#include <cstdlib>
#include <string_view>
#include <sys/auxv.h>

#include "base/file.h"
#include "base/text.h"

namespace culprit {

Result<std::string> read_own_vdso() {
  const uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  if (start == 0) return Error{"the kernel gives this process no vdso"};
  // No auxiliary vector tells where it ends.
  ASSIGN_OR_RETURN(const std::string maps, read_file("/proc/self/maps"));
  for (const std::string_view line : split(maps, '\n')) {
    if (!line.ends_with("[vdso]")) continue;
    const size_t dash = line.find('-');
    const uint64_t end = std::strtoull(std::string(line.substr(dash + 1, 16)).c_str(), nullptr, 16);
    if (end <= start || end - start > (1 << 20)) break;
    // The kernel's own mapping, readable for all: an address from auxv, not from a file.
    return std::string(reinterpret_cast<const char*>(start), end - start);  // NOLINT
  }
  return Error{"the size of the vdso is unknown"};
}

}  // namespace culprit
