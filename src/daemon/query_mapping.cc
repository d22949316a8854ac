#include "daemon/query_mapping.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <sys/ioctl.h>

#include "base/file.h"

namespace culprit {

namespace {

// linux/fs.h has it from Linux 6.11 on.
struct MappingQuery {
  uint64_t size_bytes = sizeof(MappingQuery);
  uint64_t flags = 0;  // none: the one that covers the address
  uint64_t address = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t rights = 0;
  uint64_t page_bytes = 0;
  uint64_t file_offset = 0;
  uint64_t inode = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint32_t name_bytes = 0;  // of the buffer, then of the name and its NUL
  uint32_t build_id_bytes = 0;
  uint64_t name_at = 0;
  uint64_t build_id_at = 0;
};
static_assert(sizeof(MappingQuery) == 104);

constexpr unsigned long kQueryMapping = _IOWR('f', 17, MappingQuery);
constexpr uint64_t kIsExecutable = 4;

}  // namespace

Result<std::optional<ProcMapping>> query_mapping(uint32_t pid, RunAddress address) {
  const Result<Fd> maps = open_readable(fmt::format("/proc/{}/maps", pid));
  if (!maps) return std::optional<ProcMapping>();
  std::array<char, PATH_MAX> name{};
  MappingQuery query;
  query.address = address.value;
  query.name_bytes = name.size();
  query.name_at = reinterpret_cast<uint64_t>(name.data());
  if (::ioctl(maps->get(), kQueryMapping, &query) != 0) {
    // Whatever else is wrong may be wrong with this mapping only: its name may be too long.
    if (errno == ENOENT || errno == ESRCH) return std::optional<ProcMapping>();
    return errno_error("the kernel does not answer about single mappings", errno);
  }
  ProcMapping mapping;
  mapping.start = RunAddress(query.start);
  mapping.end = RunAddress(query.end);
  mapping.executable = (query.rights & kIsExecutable) != 0;
  mapping.file_offset = query.file_offset;
  mapping.device_major = query.device_major;
  mapping.device_minor = query.device_minor;
  mapping.inode = query.inode;
  if (query.name_bytes > 0)
    mapping.path = std::string(name.data(), ::strnlen(name.data(), name.size()));
  return std::optional(std::move(mapping));
}

}  // namespace culprit
