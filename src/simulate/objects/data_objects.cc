#include "simulate/objects/data_objects.h"

#include <algorithm>
#include <cstring>

#include "base/thread_local_place.h"

namespace culprit::objects {
namespace {

bool overlap(Span a, Span b) {
  return a.begin < b.end && b.begin < a.end;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// visit(part, object) for the parts of a stretch that are one object each, maybe in pieces.
template <class Visit>
void visit_objects(const ShadowMemory& shadow, Span where, Visit visit) {
  constexpr uint64_t kSteps[] = {4096, 16, 1};
  for (uint64_t at = where.begin; at < where.end;) {
    for (const uint64_t step : kSteps) {
      const uint64_t end = std::min(at / step * step + step, where.end);
      if (step != 1 && !shadow.is_one(at, end)) continue;
      visit(Span{at, end}, shadow.find(at));
      at = end;
      break;
    }
  }
}

constexpr std::string_view kGroupings[] = {"site", "size", "instance"};

}  // namespace

std::string_view word_of(Grouping grouping) {
  return kGroupings[static_cast<size_t>(grouping)];
}

Grouping grouping_of(std::string_view word) {
  const auto* const found = std::find(std::begin(kGroupings), std::end(kGroupings), word);
  return found == std::end(kGroupings) ? Grouping::site
                                       : static_cast<Grouping>(found - std::begin(kGroupings));
}

DataObjects::DataObjects(std::vector<Range> ranges, Grouping grouping)
    : ranges_(std::move(ranges)), grouping_(grouping) {
  objects_.resize(kOther + 1);
  objects_[kAllocator].kind = Kind::allocator;
  objects_[kStack].kind = Kind::stack;
  objects_[kStack].blocks = 1;
  objects_[kOther].kind = Kind::other;
  for (const Range& range : ranges_) {
    if (range.is_by_address()) activate(range, {range.address, range.address + range.size_bytes});
  }
}

ObjectNumber DataObjects::add(Object object) {
  if (objects_.size() >= ShadowMemory::kMostObjects) return kNothing;
  objects_.push_back(std::move(object));
  return static_cast<ObjectNumber>(objects_.size() - 1);
}

/// Ranges lie over what they are in.
void DataObjects::paint(Span where, ObjectNumber object, ObjectNumber spare) {
  shadow_.paint(where.begin, where.end, object, spare);
  for (const ActiveRange& range : active_ranges_) {
    if (!overlap(range.where, where)) continue;
    const Span both{std::max(range.where.begin, where.begin), std::min(range.where.end, where.end)};
    if (range.object == kThreadRange) copy_beneath(both);
    shadow_.paint(both.begin, both.end, range.object);
  }
}

void DataObjects::activate(const Range& range, Span where) {
  const ObjectNumber around = shadow_.find(where.begin);
  const ObjectNumber number = add({.kind = Kind::range,
                                   .name = range.name,
                                   .place = where.begin,
                                   .address = where.begin,
                                   .size_bytes = where.end - where.begin,
                                   .total_bytes = where.end - where.begin,
                                   .blocks = 1,
                                   .parent = around});
  active_ranges_.push_back({where, number});
  found_ranges_.push_back(number);
  shadow_.paint(where.begin, where.end, number);
}

/// The object of the name, which has another part.
ObjectNumber DataObjects::find_marked(std::string_view name, Span where) {
  ObjectNumber& number = marked_[std::string(name)];
  const uint64_t bytes = where.end - where.begin;
  if (number == kNothing) {
    const ObjectNumber there = shadow_.find(where.begin);
    number = add({.kind = Kind::range,
                  .name = std::string(name),
                  .place = where.begin,
                  .address = where.begin,
                  .parent = there == kThreadRange ? beneath_->find(where.begin) : there});
    found_ranges_.push_back(number);
  }
  Object& object = objects_[number];
  object.size_bytes = std::max(object.size_bytes, bytes);
  object.total_bytes += bytes;
  ++object.blocks;
  return number;
}

bool DataObjects::mark_for_thread(std::string_view name, Span where, uint32_t thread) {
  if (where.begin >= where.end) return true;
  const auto is_same = [&](const ThreadRange& one) {
    return one.thread == thread && one.where.begin == where.begin && one.where.end == where.end &&
           objects_[one.object].name == name;
  };
  if (std::any_of(thread_ranges_.begin(), thread_ranges_.end(), is_same)) return true;
  if (active_ranges_.size() >= kMostMarks) return false;
  if (!beneath_) beneath_ = std::make_unique<ShadowMemory>();
  thread_ranges_.push_back({where, thread, find_marked(name, where)});
  copy_beneath(where);
  active_ranges_.push_back({where, kThreadRange, true});
  thread_ranges_version_.fetch_add(1, std::memory_order_release);
  shadow_.paint(where.begin, where.end, kThreadRange);
  return true;
}

/// What is there now lies beneath ranges of threads.
void DataObjects::copy_beneath(Span where) {
  visit_objects(shadow_, where, [&](Span part, ObjectNumber object) {
    if (object != kThreadRange) beneath_->paint(part.begin, part.end, object);
  });
}

/// Ranges of threads there are no more.
void DataObjects::uncover(Span where) {
  visit_objects(shadow_, where, [&](Span covered, ObjectNumber there) {
    if (there != kThreadRange) return;
    visit_objects(*beneath_, covered, [&](Span part, ObjectNumber object) {
      shadow_.paint(part.begin, part.end, object);
    });
  });
}

bool DataObjects::mark(std::string_view name, Span where) {
  if (where.begin >= where.end) return true;
  const auto is_same = [&](const ActiveRange& one) {
    return one.is_marked && one.where.begin == where.begin && one.where.end == where.end &&
           objects_[one.object].name == name;
  };
  if (std::any_of(active_ranges_.begin(), active_ranges_.end(), is_same)) return true;
  if (active_ranges_.size() >= kMostMarks) return false;
  const ObjectNumber number = find_marked(name, where);
  active_ranges_.push_back({where, number, true});
  shadow_.paint(where.begin, where.end, number);
  return true;
}

/// What is there is the marked object's until it is another's.
void DataObjects::forget_marks(Span where) {
  const size_t of_threads = std::erase_if(
      thread_ranges_, [&](const ThreadRange& one) { return overlap(one.where, where); });
  if (of_threads != 0) {
    thread_ranges_version_.fetch_add(1, std::memory_order_release);
    for (const ActiveRange& one : active_ranges_) {
      if (one.object == kThreadRange && overlap(one.where, where)) uncover(one.where);
    }
  }
  std::erase_if(active_ranges_,
                [&](const ActiveRange& one) { return one.is_marked && overlap(one.where, where); });
}

/// An image is known by the segment of code that was mapped there, maybe with what is before it in
/// the file.
bool DataObjects::knows_image(const ImagePlace& place) const {
  return known_images_.contains({place.start, place.file_offset});
}

void DataObjects::add_image(const ImagePlace& place, const ElfObjects& elf) {
  known_images_[{place.start, place.file_offset}] = images_.size();
  const std::optional<uint64_t> bias = elf.find_bias(place.start, place.end, place.file_offset);
  if (!bias) return;
  const auto is_same = [&](const Image& one) {
    return one.bias == *bias && one.path == place.path;
  };
  if (std::any_of(images_.begin(), images_.end(), is_same)) return;
  for (const ElfFunction& one : elf.allocators) allocators_[one.address + *bias] = one.allocator;
  Image image;
  image.path = place.path;
  image.mapping = place.mapping;
  image.elf.loads = elf.loads;
  image.elf.functions = elf.functions;
  image.bias = *bias;
  for (const ElfLoad& load : elf.loads) {
    image.extent.begin = std::min(image.extent.begin, load.address + *bias);
    image.extent.end = std::max(image.extent.end, load.address + load.memory_bytes + *bias);
  }
  const auto add_parts = [&](const std::vector<ElfVariable>& parts, Kind kind) {
    for (const ElfVariable& part : parts) {
      const Span where{part.address + *bias, part.address + *bias + part.size_bytes};
      if (where.begin < image.extent.begin || where.end > image.extent.end) continue;
      image.parts.emplace_back(where, add({.kind = kind,
                                           .name = part.name,
                                           .mapping = place.mapping,
                                           .place = elf.offset_of(part.address),
                                           .address = where.begin,
                                           .size_bytes = part.size_bytes,
                                           .total_bytes = part.size_bytes,
                                           .blocks = 1}));
    }
  };
  add_parts(elf.sections, Kind::section);
  add_parts(elf.variables, Kind::variable);
  images_.push_back(std::move(image));
  paint_images(images_.back().extent);
  add_thread_block(place, elf.thread_block);
  find_ranges(place, elf, *bias);
  find_ranges_of_calls(place);
}

/// What no thread can have is left out.
void DataObjects::add_thread_block(const ImagePlace& place, const ElfThreadBlock& block) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 32;
  for (const ElfVariable& one : block.variables) {
    if (one.address > kMostBytes || one.size_bytes > kMostBytes) continue;
    const uint64_t begin = static_cast<uint64_t>(block.begin) + one.address;
    thread_variables_.emplace_back(Span{begin, begin + one.size_bytes},
                                   add({.kind = Kind::thread_variable,
                                        .name = one.name,
                                        .mapping = place.mapping,
                                        .place = kThreadLocalPlace + one.address,
                                        .size_bytes = one.size_bytes,
                                        .total_bytes = one.size_bytes,
                                        .blocks = 1}));
  }
  for (const uint64_t pointer : thread_pointers_) paint_thread_variables(pointer, {0, UINT64_MAX});
}

void DataObjects::add_thread(uint64_t thread_pointer) {
  constexpr size_t kMostThreads = 1 << 16;
  if (thread_pointers_.size() >= kMostThreads) return;
  thread_pointers_.insert(thread_pointer);
  paint_thread_variables(thread_pointer, {0, UINT64_MAX});
}

/// Those of one thread that lie in `where`.
void DataObjects::paint_thread_variables(uint64_t thread_pointer, Span where) {
  for (const auto& [part, number] : thread_variables_) {
    const Span here{thread_pointer + part.begin, thread_pointer + part.end};
    if (here.begin >= where.begin && here.end <= where.end && here.begin < here.end) {
      paint(here, number);
    }
  }
}

/// Where the code that --range FILE:LINE is about is in the process. The same name is one object.
void DataObjects::find_ranges_of_calls(const ImagePlace& place) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    if (range.line == 0 || range.program != place.path) continue;
    ObjectNumber& number = range_objects_[i];
    if (number == kNothing) {
      number = add({.kind = Kind::range, .name = range.name});
    }
    for (const auto& [begin, end] : range.code) {
      const Span code{begin + place.start - place.file_offset,
                      end + place.start - place.file_offset};
      ranges_of_calls_.emplace_back(code, number);
    }
  }
}

ObjectNumber DataObjects::find_range_of_call(uint64_t address) const {
  for (const auto& [code, number] : ranges_of_calls_) {
    if (address >= code.begin && address < code.end) return number;
  }
  return kNothing;
}

/// What of images is there, after something else was.
void DataObjects::paint_images(Span where) {
  for (const Image& image : images_) {
    if (!overlap(image.extent, where)) continue;
    for (const auto& [part, number] : image.parts) {
      if (!overlap(part, where)) continue;
      paint({std::max(part.begin, where.begin), std::min(part.end, where.end)}, number);
    }
  }
}

/// The variables of a range in one file. A name with a compiler's number counts if it is the only
/// one, and no file so far had the range.
void DataObjects::find_ranges(const ImagePlace& place, const ElfObjects& elf, uint64_t bias) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    const auto add = [&](const ElfVariable& variable) {
      const uint64_t begin = variable.address + bias;
      activate(range, {begin, begin + variable.size_bytes});
      named_ranges_.insert(i);
    };
    std::vector<const ElfVariable*> numbered;
    for (const ElfVariable& variable : elf.variables) {
      if (range.is_of(place.path, variable.name)) add(variable);
      if (range.is_stem_of(place.path, variable.name)) numbered.push_back(&variable);
    }
    if (numbered.size() == 1 && !named_ranges_.contains(i)) add(*numbered.front());
  }
}

std::optional<Allocator> DataObjects::find_allocator(uint64_t address) const {
  const auto found = allocators_.find(address);
  return found == allocators_.end() ? std::nullopt : std::optional(found->second);
}

/// What many call in many ways, as an interpreter's constructors, is told apart less finely.
size_t DataObjects::longest_path(std::span<const uint32_t> path) const {
  if (places_.size() >= kMostPlaces) return 1;
  const auto paths = path.empty() ? paths_of_site_.end() : paths_of_site_.find(path.front());
  const uint32_t known = paths == paths_of_site_.end() ? 0 : paths->second;
  return known < kManyPaths ? kLongestPath : known < 2 * kManyPaths ? 4 : 3;
}

/// The object of a place of allocation, or of mapping.
ObjectNumber DataObjects::place_of_allocation(Kind kind, std::string_view name,
                                              std::span<const uint32_t> path, uint64_t size_bytes) {
  path = path.first(std::min(path.size(), longest_path(path)));
  const uint64_t size = kind == Kind::block && grouping_ == Grouping::size ? size_bytes : 0;
  std::string key(1, static_cast<char>(kind));
  key.append(reinterpret_cast<const char*>(&size), sizeof size);
  key.append(reinterpret_cast<const char*>(path.data()), path.size_bytes());
  key.append(name);
  ObjectNumber& number = places_[key];
  if (number == kNothing) {
    if (!path.empty()) ++paths_of_site_[path.front()];
    number = add({.kind = kind, .name = std::string(name), .path = {path.begin(), path.end()}});
  }
  return number;
}

ObjectNumber DataObjects::allocator_for(std::span<const uint32_t> path) {
  constexpr size_t kLongest = 2;  // frees have more ways than allocations
  return place_of_allocation(Kind::allocator, "", path.first(std::min(path.size(), kLongest)), 0);
}

void DataObjects::map(Span where, std::string_view file, std::span<const uint32_t> path) {
  if (where.begin >= where.end) return;
  unmap(where);
  mapped_[where.begin] = where.end;
  const uint64_t size = where.end - where.begin;
  // Files that programs map in many pieces are one object each, wherever that is done.
  const ObjectNumber number = place_of_allocation(
      Kind::mapping, last_part(file), file.empty() ? path : std::span<const uint32_t>(), size);
  Object& object = objects_[number];
  object.size_bytes = std::max(object.size_bytes, size);
  object.total_bytes += size;
  ++object.blocks;
  paint(where, number);
  paint_images(where);
}

void DataObjects::map_for_allocator(Span where) {
  if (where.begin >= where.end) return;
  unmap(where);
  paint(where, kAllocator);
}

void DataObjects::unmap(Span where) {
  auto at = mapped_.upper_bound(where.begin);
  if (at != mapped_.begin() && std::prev(at)->second > where.begin) --at;
  while (at != mapped_.end() && at->first < where.end) {
    const Span old{at->first, at->second};
    at = mapped_.erase(at);
    if (old.begin < where.begin) mapped_[old.begin] = where.begin;
    if (old.end > where.end) at = mapped_.insert_or_assign(where.end, old.end).first;
  }
  paint(where, kNothing);
  thread_pointers_.erase(thread_pointers_.lower_bound(where.begin),
                         thread_pointers_.lower_bound(where.end));
}

Span DataObjects::note_stack(uint64_t address, Span otherwise) {
  Span where = otherwise;
  if (const auto after = mapped_.upper_bound(address); after != mapped_.begin()) {
    const auto& [begin, end] = *std::prev(after);
    if (address < end) where = {begin, end};
  }
  if (address < where.begin || address >= where.end) return {};
  uint64_t& size_bytes = objects_[kStack].size_bytes;
  size_bytes = std::max(size_bytes, where.end - where.begin);
  paint(where, kStack);
  const auto end = thread_pointers_.upper_bound(where.end);
  for (auto one = thread_pointers_.lower_bound(where.begin); one != end; ++one) {
    paint_thread_variables(*one, where);
  }
  return where;
}

ObjectNumber FrameLayout::find(int64_t offset) const {
  const auto after = std::upper_bound(variables.begin(), variables.end(), offset,
                                      [](int64_t a, const Variable& b) { return a < b.begin; });
  if (after == variables.begin()) return rest;
  const Variable& variable = *std::prev(after);
  return offset < variable.end ? variable.object : rest;
}

/// Of files that were mapped one after the other the latest is there.
const FrameLayout& DataObjects::find_frame(uint64_t address) {
  for (auto image = images_.rbegin(); image != images_.rend(); ++image) {
    if (address < image->extent.begin || address >= image->extent.end) continue;
    const std::vector<uint64_t>& functions = image->elf.functions;
    const auto after = std::upper_bound(functions.begin(), functions.end(), address - image->bias);
    if (after == functions.begin()) return no_frame_;
    const uint64_t begin = *std::prev(after);
    const auto [frame, is_new] = frames_.try_emplace(begin + image->bias);
    if (is_new) frame->second = make_frame(*image, begin);
    return frame->second;
  }
  return no_frame_;
}

FrameLayout DataObjects::make_frame(const Image& image, uint64_t function) {
  Object object{.kind = Kind::frame,
                .mapping = image.mapping,
                .place = image.elf.offset_of(function),
                .blocks = 1};
  FrameLayout frame{add(object)};
  if (frame.rest == kNothing) return no_frame_;
  if (!read_frame_) return frame;
  for (const FrameVariable& one : read_frame_(image.path, function)) {
    object.name = one.name + '\t' + one.place;
    object.address = static_cast<uint64_t>(one.begin);
    object.size_bytes = object.total_bytes = one.size_bytes;
    const ObjectNumber number = add(object);
    if (number == kNothing) break;
    frame.variables.push_back(
        {one.begin, one.begin + static_cast<int64_t>(one.size_bytes), number});
  }
  return frame;
}

ObjectNumber DataObjects::allocate(uint64_t address, uint64_t size_bytes,
                                   std::span<const uint32_t> path, ObjectNumber range) {
  free(address);  // freed by a way that we do not know
  ObjectNumber number = range;
  if (number == kNothing) {
    number = place_of_allocation(Kind::block, "", path, size_bytes);
    if (grouping_ == Grouping::instance) number = find_instance(number, size_bytes);
  }
  Object& object = objects_[number];
  object.size_bytes = std::max(object.size_bytes, size_bytes);
  object.total_bytes += size_bytes;
  ++object.blocks;
  if (range != kNothing && object.path.empty()) {  // the first one
    object.path.assign(path.begin(), path.end());
    found_ranges_.push_back(range);
  }
  blocks_[address] = {size_bytes, number};
  if (size_bytes >= kLargeBlock && size_bytes < UINT64_MAX - address) {
    large_blocks_[address] = address + size_bytes;
  }
  paint({address, end_with_header(address, size_bytes)}, number, kAllocator);
  return number;
}

/// The object of the block that the site has just allocated: its own, or the site's.
ObjectNumber DataObjects::find_instance(ObjectNumber site, uint64_t size_bytes) {
  const uint64_t ordinal = ++objects_[site].allocated;
  const bool is_full = instances_.size() == kMostInstances;
  const bool is_large = !is_full || size_bytes > instances_.begin()->first;
  if (!is_large || ever_instances_ == kMostEverInstances) {
    ++not_apart_;
    return site;
  }
  const ObjectNumber number =
      add({.kind = Kind::block, .place = ordinal, .path = objects_[site].path, .site = site});
  if (number == kNothing) return site;
  if (is_full) {
    const ObjectNumber smallest = ~instances_.begin()->second;
    instances_.erase(instances_.begin());
    objects_[smallest].is_folded = true;
    folded_.push_back(smallest);
    ++not_apart_;
  }
  ++ever_instances_;
  instances_.insert({size_bytes, ~number});
  return number;
}

/// The end of what allocators use for a block: many have the header of the next one behind it,
/// eight bytes in what they round up to. Where another block begins there, there is none.
uint64_t DataObjects::end_with_header(uint64_t address, uint64_t size_bytes) const {
  constexpr uint64_t kHeader = 8;
  constexpr uint64_t kRounding = 16;
  if (size_bytes > UINT64_MAX / 2 - address) return address + UINT64_MAX / 2;
  const uint64_t end = address + size_bytes;
  const uint64_t rounded = (end + kHeader + kRounding - 1) / kRounding * kRounding;
  const uint64_t last = rounded - kRounding;  // where a neighbour would begin at the latest
  for (uint64_t at = (end + kHeader - 1) / kHeader * kHeader; at <= last; at += kHeader) {
    if (blocks_.contains(at)) return end;
  }
  return rounded;
}

/// The memory stays the object's until it is another's: allocators keep lists in what was freed.
bool DataObjects::free(uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return false;
  if (!marked_.empty()) forget_marks({address, address + block->second.size_bytes});
  large_blocks_.erase(address);
  blocks_.erase(block);
  return true;
}

std::optional<uint64_t> DataObjects::find_begin(ObjectNumber number, uint64_t address) {
  const Object& object = objects_[number];
  const auto has = [&](Span where) { return address >= where.begin && address < where.end; };
  if (object.kind == Kind::range) {  // it may have several parts
    for (const ActiveRange& one : active_ranges_) {
      if (one.is_marked && one.object == number && has(one.where)) return one.where.begin;
    }
    for (const ThreadRange& one : thread_ranges_) {
      if (one.object == number && has(one.where)) return one.where.begin;
    }
  }
  const bool is_of_blocks =
      object.kind == Kind::block || (object.kind == Kind::range && !object.path.empty());
  if (!is_of_blocks && (object.kind == Kind::variable || object.kind == Kind::range)) {
    return address >= object.address ? std::optional(object.address) : std::nullopt;
  }
  if (object.kind == Kind::thread_variable) return find_begin_of_thread(number, address);
  if (!is_of_blocks) return std::nullopt;
  uint64_t& latest = found_blocks_[number % found_blocks_.size()];
  const auto is_in = [&](uint64_t begin) {
    const auto block = blocks_.find(begin);
    return block != blocks_.end() && block->second.object == number && address >= begin &&
           address - begin < block->second.size_bytes;
  };
  if (is_in(latest)) return latest;
  const std::optional<uint64_t> begin = find_block(number, address);
  if (!begin || !is_in(*begin)) return std::nullopt;
  latest = *begin;
  return begin;
}

std::optional<uint64_t> DataObjects::find_begin_of_thread(ObjectNumber number,
                                                          uint64_t address) const {
  const auto known =
      std::ranges::find(thread_variables_, number, [](const auto& one) { return one.second; });
  if (known == thread_variables_.end()) return std::nullopt;
  // Of the blocks that begin at the address or before it, the last one.
  const Span& part = known->first;
  const auto pointer = thread_pointers_.upper_bound(address - part.begin);
  if (pointer == thread_pointers_.begin()) return std::nullopt;
  const uint64_t begin = *std::prev(pointer) + part.begin;
  return address - begin < part.end - part.begin ? std::optional(begin) : std::nullopt;
}

std::optional<uint64_t> DataObjects::find_block(ObjectNumber number, uint64_t address) const {
  if (const auto after = large_blocks_.upper_bound(address); after != large_blocks_.begin()) {
    const auto& [begin, end] = *std::prev(after);
    const auto block = blocks_.find(begin);
    if (address < end && block != blocks_.end() && block->second.object == number) return begin;
  }
  constexpr uint64_t kAlignment = 8;  // of what allocators give
  const uint64_t first = address / kAlignment * kAlignment;
  for (uint64_t at = first; first - at < kLargeBlock && at != 0; at -= kAlignment) {
    if (shadow_.find(at) != number) return std::nullopt;
    if (blocks_.contains(at)) return at;
  }
  return std::nullopt;
}

}  // namespace culprit::objects
