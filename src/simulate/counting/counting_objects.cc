// Counting by data object: what execution and system calls say of objects goes to CountedObjects.

#include <unistd.h>

#include "simulate/counting/counting.h"
#include "simulate/counting/execution.h"

namespace culprit::counting {

Result<void> Counting::start_objects(const CountingOptions& options,
                                     const ProcessSetting& setting) {
  if (!options.objects) return {};
  CountedObjects::Told told{.grouping = options.grouping, .frames_path = setting.frames_path};
  ASSIGN_OR_RETURN(told.ranges,
                   objects::read_ranges_file(objects::ranges_file_path(options.folder)));
  ASSIGN_OR_RETURN(told.allocators,
                   objects::read_allocators_file(objects::allocators_file_path(options.folder)));
  objects_ = std::make_unique<CountedObjects>(writer_, std::move(told), setting.architecture);
  shadow_ = &objects_->shadow();
  return {};
}

std::optional<objects::Allocator> Counting::find_allocator(const BlockFacts& block) {
  return objects_ ? objects_->find_allocator(block.start) : std::nullopt;
}

void Counting::enter_allocator(unsigned number, objects::Allocator allocator,
                               RegisterFile registers) {
  CountedThread* const thread = number < kMostThreads ? threads_[number] : nullptr;
  if (thread != nullptr && objects_) objects_->enter(*thread, allocator, registers, base_);
}

bool Counting::needs_registers(const BlockFacts& block) {
  return objects_ && objects_->needs_registers(block);
}

void Counting::note_registers(unsigned number, RegisterFile registers) {
  if (CountedThread* const thread = threads_[number]) thread->registers = registers;
}

/// Memory of the heap that is in no block belongs to the allocator, and to whoever has called it.
objects::ObjectNumber Counting::find_allocator_object(CountedThread& thread) {
  if (!thread.heap.is_inside()) return objects::DataObjects::kAllocator;
  HeapCalls::Call& call = thread.heap.call();
  if (call.allocator_object == objects::kNothing) {
    const std::span<const uint32_t> path = call.path();
    const uint32_t inner = path.empty() ? 0 : path[0];
    const uint32_t outer = path.size() < 2 ? 0 : path[1];
    auto& known = thread.allocator_callers[(inner * 31 + outer) % thread.allocator_callers.size()];
    if (known.object == objects::kNothing || known.inner != inner || known.outer != outer) {
      known = {inner, outer, objects_->allocator_for(path)};
    }
    call.allocator_object = known.object;
  }
  return call.allocator_object;
}

/// Of memory that is another object's by thread.
objects::ObjectNumber Counting::find_object_of(CountedThread& thread, objects::ObjectNumber object,
                                               uint64_t address) {
  using objects::DataObjects;
  if (object == DataObjects::kThreadRange) {
    const DataObjects& all = objects_->objects();
    if (thread.ranges_version != all.thread_ranges_version()) {
      thread.ranges = objects_->ranges_of(thread, thread.ranges_version);
    }
    for (auto one = thread.ranges.rbegin(); one != thread.ranges.rend(); ++one) {
      if (address >= one->where.begin && address < one->where.end) return one->object;
    }
    object = all.beneath().find(address);
  }
  if (object == DataObjects::kAllocator) return find_allocator_object(thread);
  return object == DataObjects::kStack ? find_stack_object(thread, address) : object;
}

/// The frame of the function that has the block.
const objects::FrameLayout& Counting::frame_of(const BlockFacts& block) {
  const std::atomic_ref known(block.frame);
  const objects::FrameLayout* frame = known.load(std::memory_order_acquire);
  if (frame == nullptr) {
    frame = &objects_->find_frame(block);
    known.store(frame, std::memory_order_release);
  }
  return *frame;
}

/// Memory of a stack belongs to the function in whose frame it is: the one whose code is running,
/// since functions end in jumps to others, or the one that has called.
objects::ObjectNumber Counting::find_stack_object(CountedThread& thread, uint64_t address) {
  using objects::DataObjects;
  if (!thread.frames || !thread.frames->contains(address)) {
    return find_foreign_object(thread, address);
  }
  StackFrames& frames = *thread.frames;
  const size_t call = frames.find(address);
  if (call == 0) return DataObjects::kStack;
  const int64_t offset = frames.offset(call, address);
  const objects::FrameLayout* frame = frames.layout(call);
  if (frames.is_innermost(call)) {
    const objects::FrameLayout& now = frame_of(*thread.previous);
    if (&now != frame) frames.note_layout(call, now);
    return now.find(offset);
  }
  if (frame == nullptr) {
    const std::span<const CallStack::Call> calls = thread.calls.calls();
    const size_t forgotten = thread.calls.height() - calls.size();
    if (call < forgotten) return DataObjects::kStack;
    frame = &frame_of(*calls[call - forgotten].from);
    frames.note_layout(call, *frame);
  }
  return frame->find(offset);
}

/// Of another thread's stack, what that one has found there.
objects::ObjectNumber Counting::find_foreign_object(CountedThread& thread, uint64_t address) {
  using objects::DataObjects;
  if (!thread.foreign || !thread.foreign->contains(address)) {
    thread.foreign = objects_->find_stack(address);
  }
  if (!thread.foreign) return DataObjects::kStack;
  const size_t call = thread.foreign->find(address);
  const objects::FrameLayout* const known = call == 0 ? nullptr : thread.foreign->layout(call);
  return known == nullptr ? DataObjects::kStack
                          : known->find(thread.foreign->offset(call, address));
}

void Counting::note_offset(CountedThread& thread, uint32_t site, objects::ObjectNumber object,
                           uint64_t address) {
  thread.until_offset = thread.draw_gap(CountedThread::kOffsetPeriod);
  objects_->note_offset(site, object,
                        thread.begin_of_access(objects_->instruction_of(site), address));
}

uint32_t Counting::find_other_site(CountedThread& thread, uint32_t instruction,
                                   objects::ObjectNumber object, uint64_t address) {
  uint32_t site = thread.object_sites->find(instruction, object);
  if (site == 0) site = objects_->find_site(instruction, object, address);
  thread.object_sites->note(instruction, object, site);
  return site;
}

/// Follows calls as CallStack::follow() does, for objects and constructs. The thread goes on with
/// `now`.
size_t Counting::follow_calls(CountedThread& thread, const BlockFacts& before,
                              const BlockFacts& now) {
  using counts_file::ControlFlow;
  const size_t least = thread.calls.follow(before, now);
  const bool is_call =
      before.branch == ControlFlow::call || before.branch == ControlFlow::indirect_call;
  if (constructs_ && thread.constructs.is_any_over(least)) {
    constructs_->leave(thread.constructs, least, thread.registers, thread.construct_changes);
  }
  if (!objects_) return least;
  if (is_call) {
    objects_->begin_call(thread, before, base_);
  } else if (thread.frames) {
    thread.frames->end_calls(least);
  }
  if (thread.heap.is_inside() && before.branch == ControlFlow::returns) {
    objects_->leave(thread, now.start, base_);
  }
  return least;
}

void Counting::begin_mapping(CountedThread& thread, const SystemCall& call) {
  thread.system_call = call;
  thread.mapped_file.clear();
  if (const auto pointer = system_calls_.find_thread_pointer(call)) objects_->add_thread(*pointer);
  constexpr uint64_t kAnonymous = 0x20;  // MAP_ANONYMOUS
  if (!system_calls_.is_mmap(call.number) || (call.arguments[3] & kAnonymous) != 0) return;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(static_cast<int>(call.arguments[4]));
  const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
  if (length > 0) thread.mapped_file.assign(path, static_cast<size_t>(length));
}

void Counting::end_mapping(CountedThread& thread, int64_t result) {
  objects_->end_call(thread, system_calls_, result);
}

}  // namespace culprit::counting
