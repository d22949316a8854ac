#include "simulate/counting/counted_objects.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <sys/uio.h>
#include <unistd.h>

#include "base/file.h"
#include "simulate/counting/thread.h"
#include "simulate/counting/translation.h"

namespace culprit::counting {

using objects::Allocator;
using objects::ObjectNumber;
using objects::Span;

namespace {

uint64_t key_of(uint32_t instruction, ObjectNumber object) {
  return uint64_t{instruction} << 32 | object;
}

/// The text of the program that is there, as far as it is short and can be read.
std::string read_own_text(uint64_t address) {
  constexpr size_t kMostBytes = 128;
  constexpr uint64_t kPage = 4096;
  std::string text;
  while (text.size() < kMostBytes) {
    char piece[kMostBytes];
    const size_t wanted = std::min<uint64_t>(kMostBytes, kPage - address % kPage);
    iovec here{piece, wanted};
    iovec there{reinterpret_cast<void*>(address), wanted};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got <= 0) return "";
    const size_t length = ::strnlen(piece, static_cast<size_t>(got));
    text.append(piece, length);
    if (length < static_cast<size_t>(got)) break;
    address += length;
  }
  text.resize(std::min(text.size(), kMostBytes));
  return text;
}

using PathRoom = std::array<uint32_t, objects::DataObjects::kLongestPath>;

}  // namespace

CountedObjects::CountedObjects(CountsWriter& writer, Told told, std::string_view architecture)
    : writer_(writer),
      convention_(call_convention(architecture)),
      grouping_(told.grouping),
      own_allocators_(std::move(told.allocators)),
      objects_(std::move(told.ranges), told.grouping),
      frame_library_(std::move(told.frames_path)) {
  objects_.set_frame_reader([this](const std::string& path, uint64_t function) {
    return frame_library_.find_variables(path, function);
  });
  writer_.header().has_objects = static_cast<uint32_t>(told.grouping) + 1;
  add_found_ranges();
}

void CountedObjects::see_code(uint32_t mapping, const FoundMapping& found) {
  const objects::ImagePlace place{found.path, mapping, found.mapping.start, found.mapping.end,
                                  found.mapping.file_offset};
  const std::lock_guard lock(mutex_);
  if (objects_.knows_image(place)) return;
  objects::ElfObjects elf;
  if (const Result<Fd> fd = open_readable(found.path)) {
    if (const Result<MappedFile> file = MappedFile::map(fd->get(), found.path)) {
      if (Result<objects::ElfObjects> parsed =
              objects::parse_elf_objects(file->bytes(), own_allocators_)) {
        elf = *std::move(parsed);
      }
    }
  }
  objects_.add_image(place, elf);
  if (objects_.knows_allocators()) writer_.header().has_allocators = 1;
  add_found_ranges();
}

/// They are told even if nothing is ever counted there.
void CountedObjects::add_found_ranges() {
  const std::vector<ObjectNumber>& found = objects_.found_ranges();
  for (; ranges_added_ < found.size(); ++ranges_added_) row_of(found[ranges_added_]);
}

std::optional<Allocator> CountedObjects::find_allocator(uint64_t address) {
  const std::lock_guard lock(mutex_);
  return objects_.find_allocator(address);
}

/// 0: the object is not known, or the table is full.
uint32_t CountedObjects::row_of(ObjectNumber number) {
  if (number == objects::kNothing) return 0;
  {
    const objects::Object& object = objects_.object(number);
    if (object.row != 0) return object.row;
  }
  const ObjectNumber around = objects_.object(number).parent;
  const uint32_t parent = around == objects::kNothing ? 0 : row_of(around);
  objects::Object& object = objects_.object(number);
  object.row = writer_.add_object({.kind = static_cast<uint8_t>(object.kind),
                                   .is_folded = object.is_folded,
                                   .reserved = {},
                                   .name = 0,
                                   .mapping = object.mapping,
                                   .path_first = 0,
                                   .path_sites = 0,
                                   .parent = parent,
                                   .place = object.place,
                                   .size_bytes = object.size_bytes,
                                   .total_bytes = object.total_bytes,
                                   .blocks = object.blocks},
                                  object.name, object.path);
  return object.row;
}

void CountedObjects::note_totals(const objects::Object& object) {
  if (object.row == 0) return;
  counts_file::Object& row = writer_.object(object.row);
  row.size_bytes = object.size_bytes;
  row.total_bytes = object.total_bytes;
  row.blocks = object.blocks;
}

uint32_t CountedObjects::find_site(uint32_t instruction, ObjectNumber object, uint64_t address) {
  const std::lock_guard lock(mutex_);
  if (const auto known = sites_.find(key_of(instruction, object)); known != sites_.end()) {
    return known->second;
  }
  uint32_t& count = objects_of_[instruction];
  const ObjectNumber around = objects_.object(object).site;
  if (count >= kMostInstancesOfSite && around != objects::kNothing) object = around;
  const bool has_instances = grouping_ == objects::Grouping::instance;
  const uint32_t most = has_instances ? kMostInstancesOfSite + kMostOfSite : kMostOfSite;
  if (count >= most && object != objects_.other()) object = objects_.other();
  uint32_t& site = sites_[key_of(instruction, object)];
  if (site != 0) return site;
  site = writer_.add_site_of_object(instruction, row_of(object));
  if (site == 0) site = instruction;
  if (site != instruction) add_offset(site, object, address);
  ++count;
  return site;
}

uint32_t CountedObjects::instruction_of(uint32_t site) {
  const std::lock_guard lock(mutex_);
  const uint32_t instruction = writer_.site_object(site).instruction;
  return instruction == 0 ? site : instruction;
}

void CountedObjects::note_offset(uint32_t site, ObjectNumber object, uint64_t address) {
  const std::lock_guard lock(mutex_);
  add_offset(site, object, address);
}

void CountedObjects::add_offset(uint32_t site, ObjectNumber object, uint64_t address) {
  counts_file::SiteObject& row = writer_.site_object(site);
  // An instruction has room for so many objects; its other sites are those of other objects.
  if (row.instruction == 0 || object == objects::kNothing || objects_.object(object).row == 0 ||
      row.object != objects_.object(object).row) {
    return;
  }
  const std::optional<uint64_t> begin = find_begin(object, address);
  if (!begin) return;
  const uint64_t offset = address - *begin;
  if (row.samples++ == 0) row.offset = offset;
  const uint64_t highest = std::max(offset, row.offset + row.span);
  const uint64_t apart = offset > row.offset ? offset - row.offset : row.offset - offset;
  row.stride = std::gcd(row.stride, apart);
  row.offset = std::min(offset, row.offset);
  row.span = highest - row.offset;
}

/// Where the block or the variable of the object begins that has the address. A thread's frames may
/// change while another looks at them: then that is not known.
std::optional<uint64_t> CountedObjects::find_begin(ObjectNumber number, uint64_t address) {
  const objects::Object& object = objects_.object(number);
  if (object.kind != objects::Kind::frame) return objects_.find_begin(number, address);
  if (object.name.empty()) return std::nullopt;
  for (const std::shared_ptr<StackFrames>& stack : stacks_) {
    if (!stack->contains(address)) continue;
    const size_t call = stack->find(address);
    if (call == 0) return std::nullopt;
    const auto end_of_frame = address - static_cast<uint64_t>(stack->offset(call, address));
    const uint64_t begin = end_of_frame + object.address;
    return address - begin < object.size_bytes ? std::optional(begin) : std::nullopt;
  }
  return std::nullopt;
}

ObjectNumber CountedObjects::allocator_for(std::span<const uint32_t> path) {
  const std::lock_guard lock(mutex_);
  return objects_.allocator_for(path);
}

void CountedObjects::enter(CountedThread& thread, Allocator allocator, RegisterFile registers,
                           uint64_t base) {
  const auto argument = [&](uint8_t number, uint64_t otherwise) {
    return number == Allocator::kNone ? otherwise : registers[convention_.arguments[number]];
  };
  const std::span<const CallStack::Call> calls = thread.calls.calls();
  const uint64_t stack = registers != nullptr ? registers[convention_.stack] : 0;
  uint64_t returns_to = 0;
  if (registers != nullptr && !calls.empty()) {
    // What the engine says must agree with the calls that were seen: else it is not believed.
    const CallStack::Call& top = calls.back();
    const bool is_pushed = convention_.link == CallConvention::kNone;
    if (!is_pushed) returns_to = registers[convention_.link];
    if (is_pushed && top.slot == stack) {
      returns_to = *reinterpret_cast<const uint64_t*>(stack + base);
    }
    if (returns_to != top.from->end) returns_to = 0;
  }
  if (returns_to == 0) {
    ++writer_.header().unseen_allocations;
    return;
  }
  if (!thread.has_stack) note_stack(thread, stack, base);
  HeapCalls::Call call{.allocator = allocator,
                       .stack_pointer = stack,
                       .return_address = returns_to,
                       .size_bytes = argument(allocator.size, 0),
                       .registers = registers};
  call.caller_count = thread.calls.path(call.callers).size();
  const uint64_t count = argument(allocator.count, 1);
  if (__builtin_mul_overflow(call.size_bytes, count, &call.size_bytes)) call.size_bytes = 0;
  call.block = argument(allocator.block, 0);
  if (allocator.kind == Allocator::Kind::marks || allocator.kind == Allocator::Kind::marks_own) {
    return mark(thread, call, argument(0, 0) + base);
  }
  if (!thread.heap.enter(call) || allocator.kind != Allocator::Kind::frees) return;
  const std::lock_guard lock(mutex_);
  objects_.free(call.block);
}

/// `name`: where it is in this process.
void CountedObjects::mark(const CountedThread& thread, const HeapCalls::Call& call, uint64_t name) {
  if (call.size_bytes > UINT64_MAX - call.block) return;
  const std::string text = read_own_text(name);
  const Span where{call.block, call.block + call.size_bytes};
  const bool is_own = call.allocator.kind == Allocator::Kind::marks_own;
  const std::lock_guard lock(mutex_);
  if (text.empty() || !(is_own ? objects_.mark_for_thread(text, where, thread.number)
                               : objects_.mark(text, where))) {
    ++writer_.header().lost_ranges;
    return;
  }
  add_found_ranges();
  const ObjectNumber there = objects_.shadow().find(call.block);
  const bool is_range = there != objects::DataObjects::kThreadRange;
  note_totals(objects_.object(is_range ? there : objects_.thread_ranges().back().object));
}

std::vector<objects::DataObjects::ThreadRange> CountedObjects::ranges_of(
    const CountedThread& thread, uint32_t& version) {
  const std::lock_guard lock(mutex_);
  version = objects_.thread_ranges_version();
  std::vector<objects::DataObjects::ThreadRange> own = objects_.thread_ranges();
  std::erase_if(own, [&](const auto& one) { return one.thread != thread.number; });
  return own;
}

void CountedObjects::leave(CountedThread& thread, uint64_t address, uint64_t base) {
  const HeapCalls::Call call = thread.heap.call();
  if (!thread.heap.returns_to(address, call.registers[convention_.stack])) return;
  thread.heap.leave();
  uint64_t result = call.registers[convention_.result];
  const bool stores = call.allocator.kind == Allocator::Kind::stores_block;
  if (call.allocator.kind == Allocator::Kind::frees) return;
  if (stores && static_cast<uint32_t>(result) != 0) return;
  if (stores) result = *reinterpret_cast<const uint64_t*>(call.block + base);
  if (result == 0) return;
  const std::lock_guard lock(mutex_);
  if (call.allocator.kind == Allocator::Kind::reallocates) objects_.free(call.block);
  ObjectNumber range = objects::kNothing;
  if (objects_.has_ranges_of_calls()) {
    for (const uint32_t site : call.path()) {
      if (range == objects::kNothing) {
        range = objects_.find_range_of_call(writer_.site(site).address);
      }
    }
  }
  const ObjectNumber number = objects_.allocate(result, call.size_bytes, call.path(), range);
  if (range != objects::kNothing) add_found_ranges();
  note_totals(objects_.object(number));
  if (grouping_ != objects::Grouping::instance) return;
  for (const ObjectNumber folded : objects_.take_folded()) {
    const uint32_t row = objects_.object(folded).row;
    if (row != 0) writer_.object(row).is_folded = 1;
  }
  writer_.header().blocks_not_apart = objects_.not_apart();
}

void CountedObjects::add_thread(uint64_t thread_pointer) {
  const std::lock_guard lock(mutex_);
  objects_.add_thread(thread_pointer);
}

void CountedObjects::end_call(CountedThread& thread, const SystemCalls& system_calls,
                              int64_t result) {
  const SystemCall& call = thread.system_call;
  const auto& arguments = call.arguments;
  const bool has_failed = result < 0 && result > -4096;
  const auto begin = static_cast<uint64_t>(result);
  PathRoom room;
  if (system_calls.is_brk(call.number)) {
    const std::lock_guard lock(mutex_);
    if (heap_end_ != 0 && begin > heap_end_) objects_.map_for_allocator({heap_end_, begin});
    if (begin < heap_end_) objects_.unmap({begin, heap_end_});
    heap_end_ = begin;
  }
  if (has_failed) return;
  const auto map = [&](uint64_t bytes) {
    const Span where{begin, begin + bytes};
    if (thread.heap.is_inside()) {
      objects_.map_for_allocator(where);
    } else {
      objects_.map(where, thread.mapped_file, thread.calls.path(room));
    }
  };
  if (system_calls.is_mmap(call.number)) {
    const std::lock_guard lock(mutex_);
    map(arguments[1]);
  } else if (system_calls.is_munmap(call.number)) {
    const std::lock_guard lock(mutex_);
    objects_.unmap({arguments[0], arguments[0] + arguments[1]});
  } else if (system_calls.is_mremap(call.number)) {
    const std::lock_guard lock(mutex_);
    objects_.unmap({arguments[0], arguments[0] + arguments[1]});
    map(arguments[2]);
  }
}

void CountedObjects::note_stack(CountedThread& thread, uint64_t address, uint64_t base) {
  thread.has_stack = true;
  const std::optional<FoundMapping> found = find_own_mapping(address, base);
  const Span mapping =
      found && found->path.empty() ? Span{found->mapping.start, found->mapping.end} : Span{};
  const std::lock_guard lock(mutex_);
  const Span where = objects_.note_stack(address, mapping);
  if (where.begin == where.end) return;
  // Threads that have ended leave their stacks to others.
  std::erase_if(stacks_, [&](const std::shared_ptr<StackFrames>& one) {
    const bool is_there = one->overlaps(where.begin, where.end);
    if (is_there) one->forget();
    return is_there;
  });
  thread.frames = std::make_shared<StackFrames>(where.begin, where.end);
  stacks_.push_back(thread.frames);
}

void CountedObjects::begin_call(CountedThread& thread, const BlockFacts& before, uint64_t base) {
  uint64_t end = 0;  // of the frame
  if (convention_.link != CallConvention::kNone) {
    if (thread.registers != nullptr) end = thread.registers[convention_.stack];
  } else if (const uint64_t slot = thread.calls.calls().back().slot; slot != 0) {
    // Helpers of an engine may tell of a store that is none of the call's.
    const bool is_there = *reinterpret_cast<const uint64_t*>(slot + base) == before.end;
    if (is_there) end = slot + sizeof slot;
  }
  if (end != 0 && !thread.has_stack) note_stack(thread, end - 1, base);
  if (thread.frames) thread.frames->begin_call(thread.calls.height(), end);
}

const objects::FrameLayout& CountedObjects::find_frame(const BlockFacts& block) {
  const std::lock_guard lock(mutex_);
  return objects_.find_frame(block.start);
}

std::shared_ptr<const StackFrames> CountedObjects::find_stack(uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(stacks_.begin(), stacks_.end(),
                                  [&](const auto& one) { return one->contains(address); });
  return found == stacks_.end() ? nullptr : *found;
}

bool CountedObjects::needs_registers(const BlockFacts& block) {
  if (convention_.link == CallConvention::kNone) return false;
  const std::lock_guard lock(mutex_);
  if (block.branch == counts_file::ControlFlow::system_call) after_system_calls_.insert(block.end);
  return !std::exchange(has_begun_, true) || after_system_calls_.contains(block.start);
}

}  // namespace culprit::counting
