// Counts files, which the simulated program can reach: damaged ones are an error.
//
// The input is a list of patches (16 bytes: table, entry, eight bytes of value) to a small file
// that is right. Numbers of entries stay small: a file may be large, and then takes long.

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "simulate/counts_reader.h"

namespace {

namespace file = culprit::counts_file;

struct Patch {
  uint32_t table;
  uint32_t entry;
  uint64_t value;
};

constexpr uint64_t kTables[] = {0,
                                file::kSitesStart,
                                file::kBlocksStart,
                                file::kBlockSitesStart,
                                file::kMappingsStart,
                                file::kTextStart,
                                file::kStaticStart,
                                file::core_start(0),
                                file::core_start(0) + file::kRunsInCore,
                                file::core_start(0) + file::kAccessesInCore,
                                file::core_start(0) + file::kCountsInCore,
                                file::core_start(0) + file::kTicksInCore,
                                file::core_start(0) + file::kMissesInCore};

void put(int fd, uint64_t at, const void* bytes, size_t size) {
  CHECK(::pwrite(fd, bytes, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size));
}

/// Numbers of entries that are allowed, but would take long, become small.
void keep_small(int fd) {
  file::Header header;
  CHECK(::pread(fd, static_cast<void*>(&header), sizeof header, 0) == sizeof header);
  for (auto* const number : {&header.sites, &header.blocks, &header.block_sites, &header.mappings,
                             &header.text_bytes, &header.message_bytes, &header.cores}) {
    if (*number <= file::kMaxBlockSites) *number = *number % 64;
  }
  put(fd, 0, static_cast<const void*>(&header), sizeof header);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const culprit::Fd fd(::memfd_create("counts", MFD_CLOEXEC));
  CHECK(fd);
  file::Header header{};
  header.magic = file::kMagic;
  header.layout = file::kLayout;
  header.has_cycles = 1;
  header.sample_classes = 4;
  header.sites = header.blocks = header.block_sites = header.mappings = 16;
  header.text_bytes = 16;
  header.cores = 1;
  put(fd.get(), 0, static_cast<const void*>(&header), sizeof header);
  CHECK(::ftruncate(fd.get(), static_cast<off_t>(file::core_start(1))) == 0);
  for (; size >= sizeof(Patch); data += sizeof(Patch), size -= sizeof(Patch)) {
    Patch patch;
    std::memcpy(&patch, data, sizeof patch);
    const uint64_t at = kTables[patch.table % std::size(kTables)] + patch.entry % 4096;
    put(fd.get(), at, &patch.value, sizeof patch.value);
  }
  keep_small(fd.get());
  const auto counts = culprit::CountsFile::read(fd.get(), "counts");
  if (!counts) CHECK(!counts.error().message.empty());
  if (counts) {
    const auto visited = counts->visit_threads([](const culprit::ThreadCounts&) {});
    if (!visited) CHECK(!visited.error().message.empty());
  }
  const auto glance = culprit::read_counts_summary(fd.get(), "counts");
  if (!glance) CHECK(!glance.error().message.empty());
  return 0;
}
