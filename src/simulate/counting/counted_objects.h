#pragma once

// CountedObjects: the data objects of the process, for all threads: what the program maps and
// allocates goes to objects::DataObjects, and what is counted at an object gets a row in the counts
// file.

#include <mutex>
#include <span>
#include <string>
#include <tsl/robin_map.h>
#include <vector>

#include "base/hash.h"
#include "simulate/counting/heap_calls.h"
#include "simulate/counting/known_mappings.h"
#include "simulate/counting/registers.h"
#include "simulate/counting/system_calls.h"
#include "simulate/objects/data_objects.h"

namespace culprit::counting {

struct CountedThread;

class CountedObjects {
 public:
  /// Further objects of an instruction are counted together.
  static constexpr uint32_t kMostOfSite = 1024;

  /// What the user tells of the program's data.
  struct Told {
    std::vector<objects::Range> ranges{};
    std::vector<objects::OwnAllocator> allocators{};
    objects::Grouping grouping = objects::Grouping::site;
  };
  CountedObjects(CountsWriter& writer, Told told, std::string_view architecture);

  [[nodiscard]] const objects::ShadowMemory& shadow() const { return objects_.shadow(); }

  /// A piece of a file whose code is about to run.
  void see_code(uint32_t mapping, const FoundMapping& found);
  std::optional<objects::Allocator> find_allocator(uint64_t address);

  /// The site of what the instruction accesses of the object; that of the instruction itself if
  /// there is no more room.
  /// The first access, `address`, is looked at as by note_offset().
  uint32_t find_site(uint32_t instruction, objects::ObjectNumber object, uint64_t address);
  /// Of the site of an object, its instruction's; else the site.
  uint32_t instruction_of(uint32_t site);
  /// An access of the site: where in its block of the object it is.
  void note_offset(uint32_t site, objects::ObjectNumber object, uint64_t address);

  objects::ObjectNumber allocator_for(std::span<const uint32_t> path);

  /// `base`: the program's addresses are shifted by so much in this process.
  void enter(CountedThread& thread, objects::Allocator allocator, RegisterFile registers,
             uint64_t base);
  /// The thread, inside an allocating function, goes on at `address`: whether that is its end.
  void leave(CountedThread& thread, uint64_t address, uint64_t base);

  /// A system call that changes mappings has returned.
  void end_call(CountedThread& thread, const SystemCalls& system_calls, int64_t result);
  /// The thread has just put a return address there.
  void note_stack(CountedThread& thread, uint64_t address, uint64_t base);

  // Around a fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  uint32_t row_of(objects::ObjectNumber number);
  void add_offset(uint32_t site, objects::ObjectNumber object, uint64_t address);
  void add_found_ranges();
  void allocate(CountedThread& thread, uint64_t address, uint64_t size_bytes);
  void note_totals(const objects::Object& object);
  void mark(const HeapCalls::Call& call, uint64_t name);

  std::mutex mutex_;
  CountsWriter& writer_;
  CallConvention convention_;
  std::vector<objects::OwnAllocator> own_allocators_;
  objects::DataObjects objects_;
  tsl::robin_map<uint64_t, uint32_t, SpreadHash> sites_;  // by instruction and object
  tsl::robin_map<uint32_t, uint32_t> objects_of_;         // of an instruction: how many
  uint64_t heap_end_ = 0;                                 // by brk
  size_t ranges_added_ = 0;
};

}  // namespace culprit::counting
