#pragma once

// CountedObjects: the data objects of the process, for all threads: what the program maps and
// allocates goes to objects::DataObjects, and what is counted at an object gets a row in the counts
// file.

#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <tsl/robin_map.h>
#include <vector>

#include "base/hash.h"
#include "simulate/counting/frame_library.h"
#include "simulate/counting/heap_calls.h"
#include "simulate/counting/known_mappings.h"
#include "simulate/counting/registers.h"
#include "simulate/counting/stack_frames.h"
#include "simulate/counting/system_calls.h"
#include "simulate/objects/data_objects.h"

namespace culprit::counting {

struct BlockFacts;
struct CountedThread;

class CountedObjects {
 public:
  /// Further objects of an instruction are counted together.
  static constexpr uint32_t kMostOfSite = 1024;
  /// Blocks of their own: further ones of an instruction are counted at their sites.
  static constexpr uint32_t kMostInstancesOfSite = 1 << 14;

  /// What the user tells of the program's data.
  struct Told {
    std::vector<objects::Range> ranges{};
    std::vector<objects::OwnAllocator> allocators{};
    objects::Grouping grouping = objects::Grouping::site;
    std::string frames_path{};  // of the library that knows variables of the stack
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

  /// What the thread has marked for itself, if that has changed since `known`; which version that
  /// is.
  std::vector<objects::DataObjects::ThreadRange> ranges_of(const CountedThread& thread,
                                                           uint32_t& version);
  [[nodiscard]] const objects::DataObjects& objects() const { return objects_; }

  objects::ObjectNumber allocator_for(std::span<const uint32_t> path);

  /// `base`: the program's addresses are shifted by so much in this process.
  void enter(CountedThread& thread, objects::Allocator allocator, RegisterFile registers,
             uint64_t base);
  /// The thread, inside an allocating function, goes on at `address`: whether that is its end.
  void leave(CountedThread& thread, uint64_t address, uint64_t base);

  /// A thread is to have this thread pointer.
  void add_thread(uint64_t thread_pointer);
  /// A system call that changes mappings has returned.
  void end_call(CountedThread& thread, const SystemCalls& system_calls, int64_t result);
  /// The thread has just called, at the end of `before`.
  void begin_call(CountedThread& thread, const BlockFacts& before, uint64_t base);
  /// The frame of the function that the block is in.
  const objects::FrameLayout& find_frame(const BlockFacts& block);
  /// The thread in whose stack the address is, if it is not the thread's own.
  std::shared_ptr<const StackFrames> find_stack(uint64_t address);

  /// Whether the engine has to tell of the thread's registers when the block runs, to know where
  /// frames are: nothing is in memory of a call that a register holds the return address of.
  bool needs_registers(const BlockFacts& block);

  // Around a fork.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void note_stack(CountedThread& thread, uint64_t address, uint64_t base);
  uint32_t row_of(objects::ObjectNumber number);
  void add_offset(uint32_t site, objects::ObjectNumber object, uint64_t address);
  std::optional<uint64_t> find_begin(objects::ObjectNumber number, uint64_t address);
  void add_found_ranges();
  void allocate(CountedThread& thread, uint64_t address, uint64_t size_bytes);
  void note_totals(const objects::Object& object);
  void mark(const CountedThread& thread, const HeapCalls::Call& call, uint64_t name);

  std::mutex mutex_;
  CountsWriter& writer_;
  CallConvention convention_;
  objects::Grouping grouping_;
  std::vector<objects::OwnAllocator> own_allocators_;
  objects::DataObjects objects_;
  tsl::robin_map<uint64_t, uint32_t, SpreadHash> sites_;  // by instruction and object
  tsl::robin_map<uint32_t, uint32_t> objects_of_;         // of an instruction: how many
  uint64_t heap_end_ = 0;                                 // by brk
  size_t ranges_added_ = 0;
  FrameLibrary frame_library_;
  std::vector<std::shared_ptr<StackFrames>> stacks_;  // of all threads
  std::set<uint64_t> after_system_calls_;             // where threads go on, or begin
  bool has_begun_ = false;
};

}  // namespace culprit::counting
