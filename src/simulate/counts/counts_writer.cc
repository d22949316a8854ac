#include "simulate/counts/counts_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "base/time.h"

namespace culprit::counting {

namespace file = counts_file;

namespace {

constexpr uint64_t kTablesBytes = file::kCoresStart;

}  // namespace

/// Fills path_, fd_: a file that nobody else has, as the number is nobody else's.
bool CountsWriter::open_new(uint32_t image, bool is_fork) {
  path_ = folder_ + "/" + std::to_string(::getpid()) + "." + std::to_string(image);
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void* mapped = nullptr;
  if (fd_ < 0 || !map_part(0, kTablesBytes, header_, &mapped)) return false;
  header_ = static_cast<file::Header*>(mapped);
  header_->layout = file::kLayout;
  header_->pid = static_cast<uint32_t>(::getpid());
  header_->parent_pid = static_cast<uint32_t>(::getppid());
  header_->is_fork = is_fork ? 1 : 0;
  header_->start_ns = monotonic_ns();
  return true;
}

/// Maps a part of the open file, which grows to hold it, at `at` (replacing what is there) or
/// anywhere if nullptr.
bool CountsWriter::map_part(uint64_t start, uint64_t bytes, void* at, void** mapped) {
  const uint64_t end = start + bytes;
  if (::lseek(fd_, 0, SEEK_END) < static_cast<off_t>(end) &&
      ::ftruncate(fd_, static_cast<off_t>(end)) != 0) {
    return false;
  }
  const int flags = MAP_SHARED | MAP_NORESERVE | (at != nullptr ? MAP_FIXED : 0);
  void* const address =
      ::mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd_, static_cast<off_t>(start));
  if (address == MAP_FAILED) return false;
  *mapped = address;
  return true;
}

bool CountsWriter::create(const std::string& folder, uint32_t image) {
  folder_ = folder;
  if (!open_new(image, false)) return false;
  ::close(std::exchange(fd_, -1));
  header_->sites = header_->blocks = header_->mappings = 1;  // the place holders
  header_->objects = header_->object_paths = header_->region_paths = 1;
  header_->text_bytes = 1;
  std::atomic_thread_fence(std::memory_order_release);
  header_->magic = file::kMagic;
  return true;
}

void CountsWriter::set_program(std::string_view path) {
  path.copy(header_->program, sizeof header_->program - 1);
}

bool CountsWriter::continue_in_child(uint32_t image, const file::CoreHeader* core) {
  // The parent goes on writing to the old file: its tables are read through a mapping of
  // their own until they are copied. Nobody else of this process runs now.
  file::Header* const old = header_;
  const size_t used_text = old->text_bytes;
  const auto copy = [](const auto* from, size_t count) { return std::pair(from, count); };
  const auto sites = copy(table<file::Site>(file::kSitesStart), old->sites.load());
  const auto blocks = copy(table<file::Block>(file::kBlocksStart), old->blocks.load());
  const auto lists = copy(table<uint32_t>(file::kBlockSitesStart), old->block_sites.load());
  const auto mappings = copy(table<file::MappedRange>(file::kMappingsStart), old->mappings.load());
  const auto ticks = copy(table<file::StaticTicks>(file::kStaticStart),
                          old->has_cycles != 0 ? old->block_sites.load() : 0);
  const auto of_objects = copy(table<file::SiteObject>(file::kSiteObjectsStart),
                               old->has_objects != 0 ? old->sites.load() : 0);
  const auto objects = copy(table<file::Object>(file::kObjectsStart), old->objects.load());
  const auto paths = copy(table<uint32_t>(file::kObjectPathsStart), old->object_paths.load());
  const auto regions = copy(table<file::RegionPath>(file::kRegionPathsStart),
                            old->has_regions != 0 ? old->region_paths.load() : 1);
  const char* const text = table<char>(file::kTextStart);

  header_ = nullptr;
  if (!open_new(image, true)) {
    header_ = old;
    return false;
  }
  const auto restore = [&](uint64_t start, const auto& part) {
    using T = std::remove_cvref_t<decltype(*part.first)>;
    std::copy_n(part.first, part.second, table<T>(start));
    return static_cast<uint32_t>(part.second);
  };
  header_->sites = restore(file::kSitesStart, sites);
  header_->blocks = restore(file::kBlocksStart, blocks);
  header_->block_sites = restore(file::kBlockSitesStart, lists);
  header_->mappings = restore(file::kMappingsStart, mappings);
  restore(file::kStaticStart, ticks);
  restore(file::kSiteObjectsStart, of_objects);
  header_->objects = restore(file::kObjectsStart, objects);
  header_->object_paths = restore(file::kObjectPathsStart, paths);
  header_->region_paths = restore(file::kRegionPathsStart, regions);
  header_->has_regions = old->has_regions;
  region_parts_ = 0;
  header_->has_objects = old->has_objects;
  header_->has_allocators = old->has_allocators.load();
  header_->has_cycles = old->has_cycles;
  header_->sample_classes = old->sample_classes;
  header_->sample_weight = old->sample_weight.load();
  header_->has_windows = old->has_windows;
  std::copy_n(text, used_text, table<char>(file::kTextStart));
  header_->text_bytes = static_cast<uint32_t>(used_text);
  std::memcpy(header_->program, old->program, sizeof header_->program);
  header_->cores = header_->threads = core != nullptr ? 1 : 0;
  header_->sites_without_file = old->sites_without_file.load();
  ::munmap(old, kTablesBytes);

  for (void*& other : cores_) {
    if (other != nullptr && other != core) ::munmap(other, file::kCoreBytes);
    other = nullptr;
  }
  void* const own = const_cast<file::CoreHeader*>(core);  // what is there is replaced
  const bool is_whole = own == nullptr || map_core(0, own);
  ::close(std::exchange(fd_, -1));
  std::atomic_thread_fence(std::memory_order_release);
  header_->magic = file::kMagic;
  return is_whole;
}

void CountsWriter::forget_file() {
  // The parent's threads write to what is mapped here. Nothing is read from it any more.
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  ::mmap(header_, kTablesBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  for (void*& core : cores_) {
    if (core != nullptr) ::mmap(core, file::kCoreBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  }
}

uint32_t CountsWriter::add_site(const file::Site& site) {
  const std::lock_guard lock(adding_);
  const uint32_t number = header_->sites;
  if (number >= file::kMaxSites) return 0;
  table<file::Site>(file::kSitesStart)[number] = site;
  if (site.mapping == 0) ++header_->sites_without_file;
  header_->sites.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t CountsWriter::add_site_of_object(uint32_t instruction, uint32_t object) {
  const std::lock_guard lock(adding_);
  const uint32_t number = header_->sites;
  if (number >= file::kMaxSites) return 0;
  table<file::SiteObject>(file::kSiteObjectsStart)[number] = {instruction, object, 0, 0, 0, 0};
  file::Site* const sites = table<file::Site>(file::kSitesStart);
  sites[number] = sites[instruction];
  header_->sites.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t CountsWriter::add_object(file::Object object, std::string_view name,
                                  std::span<const uint32_t> path) {
  const std::lock_guard lock(adding_);
  const uint32_t number = header_->objects;
  const uint32_t first = header_->object_paths;
  if (number >= file::kMaxObjects || path.size() > file::kMaxObjectPaths - first) return 0;
  object.name = name.empty() ? 0 : add_text(name);
  object.path_first = first;
  object.path_sites = static_cast<uint32_t>(path.size());
  std::copy(path.begin(), path.end(), table<uint32_t>(file::kObjectPathsStart) + first);
  header_->object_paths.store(first + object.path_sites);
  table<file::Object>(file::kObjectsStart)[number] = object;
  header_->objects.store(number + 1, std::memory_order_release);
  return number;
}

uint32_t CountsWriter::add_block(std::span<const uint32_t> sites, int32_t displacement) {
  const uint32_t number = header_->blocks;
  const uint32_t first = header_->block_sites;
  if (number >= file::kMaxBlocks || sites.size() > file::kMaxBlockSites - first) return 0;
  std::copy(sites.begin(), sites.end(), table<uint32_t>(file::kBlockSitesStart) + first);
  header_->block_sites.store(first + static_cast<uint32_t>(sites.size()));
  table<file::Block>(file::kBlocksStart)[number] = {first, static_cast<uint32_t>(sites.size()),
                                                    displacement, 0};
  header_->blocks.store(number + 1, std::memory_order_release);
  return number;
}

std::span<const uint32_t> CountsWriter::block_sites(uint32_t number) {
  const file::Block& block = table<file::Block>(file::kBlocksStart)[number];
  return {table<uint32_t>(file::kBlockSitesStart) + block.first, block.sites};
}

void CountsWriter::add_block_ticks(std::span<const simulate::CycleParts> parts) {
  const size_t first = header_->block_sites - parts.size();
  file::StaticTicks* const rows = table<file::StaticTicks>(file::kStaticStart) + first;
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t kind = 0; kind < parts[i].ticks.size(); ++kind) {
      rows[i].ticks[kind] =
          static_cast<uint32_t>(std::min<uint64_t>(parts[i].ticks[kind], UINT32_MAX));
    }
  }
}

/// The offset of the text; 0, an empty one, if there is no more room.
uint32_t CountsWriter::add_text(std::string_view text) {
  const uint32_t at = header_->text_bytes;
  if (text.size() + 1 > file::kMaxTextBytes - at) return 0;
  text.copy(table<char>(file::kTextStart) + at, text.size());
  header_->text_bytes.store(at + static_cast<uint32_t>(text.size()) + 1);
  return at;
}

uint32_t CountsWriter::add_region_path(const file::RegionPath& path) {
  const std::lock_guard lock(adding_);
  const uint32_t number = header_->region_paths;
  if (number >= file::kMaxRegionPaths) return 0;
  region_path(number) = path;
  header_->region_paths.store(number + 1, std::memory_order_release);
  return number;
}

file::RegionPath& CountsWriter::region_path(uint32_t number) {
  return table<file::RegionPath>(file::kRegionPathsStart)[number];
}

uint32_t CountsWriter::add_mapping(file::MappedRange mapping, std::string_view path) {
  const std::lock_guard lock(adding_);
  const uint32_t number = header_->mappings;
  if (number >= file::kMaxMappings) return 0;
  mapping.path = add_text(path);
  if (mapping.path == 0) return 0;
  table<file::MappedRange>(file::kMappingsStart)[number] = mapping;
  header_->mappings.store(number + 1, std::memory_order_release);
  return number;
}

file::MappedRange CountsWriter::mapping(uint32_t number) {
  return table<file::MappedRange>(file::kMappingsStart)[number];
}

std::string_view CountsWriter::mapping_path(uint32_t number) {
  return table<char>(file::kTextStart) + mapping(number).path;
}

void CountsWriter::add_message(std::string_view text) {
  const uint32_t at = header_->message_bytes;
  const size_t fits = std::min<size_t>(text.size(), file::kMaxMessageBytes - at);
  text.copy(table<char>(file::kMessagesStart) + at, fits);
  header_->message_bytes.store(at + static_cast<uint32_t>(fits), std::memory_order_release);
}

bool CountsWriter::map_core(uint32_t number, void* at) {
  return map_part(file::core_start(number), file::kCoreBytes, at, &cores_[number]);
}

CoreCounts CountsWriter::next_region_part() {
  if (region_parts_ >= file::kRegionParts) return {};
  return core(file::kThreadsApart + region_parts_++);
}

CoreCounts CountsWriter::core(uint32_t number) {
  if (number >= file::kMaxCores) return {};
  if (cores_[number] == nullptr) {
    fd_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    const bool is_mapped = fd_ >= 0 && map_core(number, nullptr);
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    if (!is_mapped) return {};
    if (header_->cores <= number) header_->cores.store(number + 1);
  }
  char* const start = static_cast<char*>(cores_[number]);
  return {reinterpret_cast<file::CoreHeader*>(start),
          reinterpret_cast<file::BlockRuns*>(start + file::kRunsInCore),
          reinterpret_cast<file::SiteAccesses*>(start + file::kAccessesInCore),
          reinterpret_cast<file::SiteCounts*>(start + file::kCountsInCore),
          reinterpret_cast<simulate::SiteTicks*>(start + file::kTicksInCore),
          reinterpret_cast<simulate::ReplayTicks*>(start + file::kReplaysInCore),
          reinterpret_cast<file::SampledMisses*>(start + file::kMissesInCore),
          reinterpret_cast<file::CertainMisses*>(start + file::kCertainInCore),
          reinterpret_cast<file::Target*>(start + file::kTargetsInCore)};
}

}  // namespace culprit::counting
