#pragma once

// CountsWriter: the side of the counts file that writes. Appends to its tables, gives each core
// its part, and begins a new file in a forked child, at the same addresses, so that every
// pointer into the old one stays right. No descriptor stays open: the program numbers its
// own from the same table.

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "simulate/counts/counts_file.h"

namespace culprit::counting {

/// One core's part of the mapped file.
struct CoreCounts {
  counts_file::CoreHeader* header = nullptr;
  counts_file::BlockRuns* runs = nullptr;         // by block
  counts_file::SiteAccesses* accesses = nullptr;  // by site
  counts_file::SiteCounts* counts = nullptr;      // by site
  simulate::SiteTicks* ticks = nullptr;           // by site
  simulate::ReplayTicks* replays = nullptr;       // by site
  counts_file::SampledMisses* misses = nullptr;   // by site
  counts_file::CertainMisses* certain = nullptr;  // by site; where `ticks` would be
  counts_file::Target* targets = nullptr;         // in the order in which they came
};

class CountsWriter {
 public:
  /// Makes and maps a file in `folder` for the process image of that number. False: errno says why.
  bool create(const std::string& folder, uint32_t image);
  void set_program(std::string_view path);

  /// Goes on in a forked child, as the process image of that number, with a file of its own that
  /// has the same sites and blocks, and no counts yet. `core` is the part of the thread that forked
  /// (nullptr: it has none); the child has the first part at the same address, and those of other
  /// threads are no more.
  bool continue_in_child(uint32_t image, const counts_file::CoreHeader* core);
  /// What a forked child calls that cannot have a file: what it writes goes nowhere, least of all
  /// into its parent's file.
  void forget_file();

  // Each returns the new entry's number, or 0 if the table is full (0 is never a real one:
  // entry 0 of every table is a place holder).
  uint32_t add_site(const counts_file::Site& site);
  [[nodiscard]] const counts_file::Site& site(uint32_t number) {
    return table<counts_file::Site>(counts_file::kSitesStart)[number];
  }
  /// The instruction's accesses to one data object.
  uint32_t add_site_of_object(uint32_t instruction, uint32_t object);
  uint32_t add_block(std::span<const uint32_t> sites, int32_t displacement);
  /// The sites of a block that was added.
  std::span<const uint32_t> block_sites(uint32_t number);
  /// What the sites of the block that was added last take; one per site.
  void add_block_ticks(std::span<const simulate::CycleParts> parts);
  uint32_t add_region_path(const counts_file::RegionPath& path);
  counts_file::RegionPath& region_path(uint32_t number);
  uint32_t add_mapping(counts_file::MappedRange mapping, std::string_view path);

  /// The name and the path are put where the row then says they are.
  uint32_t add_object(counts_file::Object object, std::string_view name,
                      std::span<const uint32_t> path);
  counts_file::SiteObject& site_object(uint32_t site) {
    return table<counts_file::SiteObject>(counts_file::kSiteObjectsStart)[site];
  }
  counts_file::Object& object(uint32_t number) {
    return table<counts_file::Object>(counts_file::kObjectsStart)[number];
  }

  /// A mapping that was added, and its path; number 0 has "".
  counts_file::MappedRange mapping(uint32_t number);
  std::string_view mapping_path(uint32_t number);

  void add_message(std::string_view text);

  /// The part of a core; maps it when first asked for. nullptr parts: no such core, or no memory.
  CoreCounts core(uint32_t number);
  /// A new part for a thread in a region. Its header's fields for that are set by the caller.
  CoreCounts next_region_part();

  [[nodiscard]] const std::string& path() const { return path_; }
  counts_file::Header& header() { return *header_; }

 private:
  bool open_new(uint32_t image, bool is_fork);
  bool map_part(uint64_t start, uint64_t bytes, void* at, void** mapped);
  bool map_core(uint32_t number, void* at);
  uint32_t add_text(std::string_view text);
  template <class T>
  T* table(uint64_t start) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(header_) + start);
  }

  // Sites, objects, mappings and texts are added by threads that translate and by those that meet
  // an object first; whoever adds holds no other lock afterwards.
  std::mutex adding_;
  std::string folder_;
  std::string path_;
  int fd_ = -1;  // only while something is being mapped
  counts_file::Header* header_ = nullptr;
  void* cores_[counts_file::kMaxCores] = {};
  uint32_t region_parts_ = 0;
};

}  // namespace culprit::counting
