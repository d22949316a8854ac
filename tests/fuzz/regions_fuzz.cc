// libFuzzer target: what a program may write into the files of its regions, and the rows that are
// made of it. The structs are large and mostly empty, so the input is laid over their beginnings:
// 256 bytes of the header and first mapping, 1,024 of the paths, the rest of a thread.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "collect/regions/region_files.h"
#include "collect/regions/region_profile.h"

namespace {

using namespace culprit;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

size_t lay_over(void* to, size_t room, const uint8_t*& data, size_t& size) {
  const size_t taken = size < room ? size : room;
  if (taken > 0) std::memcpy(to, data, taken);
  data += taken;
  size -= taken;
  return taken;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto paths = std::make_unique<culprit_region_paths>();
  static const auto thread = std::make_unique<culprit_region_thread>();
  std::memset(paths.get(), 0, sizeof *paths);
  std::memset(thread.get(), 0, sizeof *thread);
  auto* header = reinterpret_cast<char*>(paths.get());
  lay_over(header + sizeof paths->magic, 64, data, size);
  lay_over(&paths->files[0], 64, data, size);
  lay_over(paths->names, 64, data, size);
  lay_over(paths->paths, 1024, data, size);
  lay_over(reinterpret_cast<char*>(thread.get()) + sizeof thread->magic, 4096, data, size);
  paths->magic = CULPRIT_PATHS_MAGIC;
  thread->magic = CULPRIT_THREAD_MAGIC;
  paths->path_count %= 40;
  const Result<RegionProcess> process = parse_region_paths(bytes_of(*paths));
  if (!process) {
    if (process.error().message.empty()) __builtin_trap();
    return 0;
  }
  RegionFiles files;
  files.processes.push_back(*process);
  const Result<RegionThread> one = parse_region_thread(bytes_of(*thread), process->paths.size());
  if (one) files.processes[0].threads.push_back(*one);
  Profile profile;
  profile.runs.emplace_back();
  RegionRows rows;
  add_regions(files, 0.3, {}, rows, profile);
  for (size_t i = 0; i < profile.regions.size(); ++i) {
    const RegionId parent = profile.regions[i].parent;
    if (!parent.is_all() && parent.value >= i) __builtin_trap();
  }
  for (const RegionValue& value : profile.region_values) {
    if (value.region.value >= profile.regions.size()) __builtin_trap();
    if (value.context.value >= profile.contexts.size()) __builtin_trap();
  }
  return 0;
}
