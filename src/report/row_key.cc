#include "report/row_key.h"

#include <algorithm>

#include "report/row_filter.h"

namespace culprit {

namespace {

/// The innermost frame at `offset`: what CodeIndex::frames() has first, without making
/// the others. Empty if nothing is known.
Frame find_innermost(Attributor* attributor, FileOffset offset) {
  Frame frame;
  if (attributor == nullptr) return frame;
  const CodePlace place = attributor->find(offset);
  const ImageFacts& facts = attributor->facts();
  if (place.inlined != CodePlace::kNone) {
    frame.function = facts.inlines[place.inlined].name;
    frame.inlined = true;
  } else if (place.function != CodePlace::kNone) {
    frame.function = facts.functions[place.function].name;
  }
  if (place.line != CodePlace::kNone) {
    frame.file = facts.lines[place.line].file;
    frame.line = facts.lines[place.line].line;
  }
  return frame;
}

/// The innermost frame of the program's own sources; of what is a system's throughout, the function
/// that all of it is inlined into.
Frame find_own(Attributor* attributor, FileOffset offset) {
  const Frame innermost = find_innermost(attributor, offset);
  if (!innermost.inlined) return innermost;
  const std::vector<Frame> frames = attributor->frames(attributor->find(offset));
  const Frame* const own = find_own_frame(attributor->facts(), frames);
  return own == nullptr ? frames.back() : *own;
}

/// The symbol at `offset`, whatever is inlined there.
Frame find_outermost(Attributor* attributor, FileOffset offset) {
  Frame frame;
  if (attributor == nullptr) return frame;
  const CodePlace place = attributor->find(offset);
  if (place.function != CodePlace::kNone) {
    frame.function = attributor->facts().functions[place.function].name;
  }
  return frame;
}

Frame find_frame(Attributor* attributor, FileOffset offset, FrameChoice choice) {
  switch (choice) {
    case FrameChoice::innermost:
      return find_innermost(attributor, offset);
    case FrameChoice::own:
      return find_own(attributor, offset);
    case FrameChoice::outermost:
      return find_outermost(attributor, offset);
  }
  return {};
}

bool has_name(const Frame& frame) {
  return frame.function.value != 0 && !frame.function.is_all();
}

}  // namespace

Levels Levels::of(const std::vector<RowLevel>& levels) {
  Levels result;
  for (const RowLevel level : levels) result.add(level);
  return result;
}

void Levels::add(RowLevel level) {
  switch (level) {
    case RowLevel::process:
      process = true;
      break;
    case RowLevel::comm:
      comm = true;
      break;
    case RowLevel::thread:
      thread = true;
      break;
    case RowLevel::module:
      module = true;
      break;
    case RowLevel::function:
      function = true;
      break;
    case RowLevel::line:
      line = true;
      break;
    case RowLevel::loop:
      loop = true;
      break;
    case RowLevel::block:
      block = true;
      break;
    case RowLevel::instruction:
      instruction = true;
      break;
    case RowLevel::object:
      object = true;
      break;
    case RowLevel::region:
      region = true;
      break;
  }
}

size_t RowKeyHash::operator()(const RowKey& key) const noexcept {
  // Multiply and shift over 64-bit words: the fields are small numbers.
  uint64_t hash = key.offset;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  mix(uint64_t{key.process} << 32 | key.thread);
  mix(uint64_t{key.image} << 32 | key.name);
  mix(uint64_t{key.file} << 32 | key.line);
  mix(uint64_t{key.object.value} << 32 | key.region.value);
  mix(key.asked);
  mix(uint64_t{key.code} | uint64_t{key.inlined} << 1 | uint64_t{key.has_block} << 2);
  return static_cast<size_t>(hash);
}

RowKey RowKeys::of_context(ContextId context) const {
  RowKey key;
  const Profile& profile = code_.profile();
  const Context* row = find_row(profile.contexts, context);
  if (row == nullptr) return key;
  const Thread* thread = find_row(profile.threads, row->thread);
  if (levels_.region) key.region = row->region;
  if (levels_.thread && thread != nullptr) key.thread = row->thread.value;
  if (levels_.names_process()) {
    const ProcessId process =
        row->process.is_all() && thread != nullptr ? thread->process : row->process;
    if (find_row(profile.processes, process) != nullptr) key.process = process.value;
  }
  return key;
}

RowKey RowKeys::of_object(RowKey key, ObjectId object) const {
  if (levels_.object) key.object = object;
  return key;
}

RowKey RowKeys::of_location(RowKey key, const Location& location) {
  if (!levels_.module && !levels_.code()) return key;
  key.code = true;
  key.image = location.image.value;
  if (!levels_.code()) return key;
  if (levels_.instruction) {
    key.offset = location.offset.value;
    return key;
  }
  if (levels_.loop && !levels_.block) return of_loop(key, location);
  if (levels_.block) {
    const auto block = code_.find_block(location);
    key.has_block = block.has_value();
    key.offset = block ? block->begin.value : location.offset.value;
    if (!levels_.function && !levels_.line) return key;
  }

  Frame frame = find_frame(code_.attributor(location.image), location.offset, frames_);
  if (!asked_.empty()) {
    const std::vector<Frame> frames = code_.frames(location);
    const Frame* const asked = find_asked(location.image, frames);
    if (asked != nullptr) key.asked = asked->function.value;
    // A system's own function that is asked for is not called after who calls it.
    const bool is_inside = asked != nullptr && frames_ == FrameChoice::own &&
                           std::none_of(frames.data(), asked, [&](const Frame& inner) {
                             return inner.function == frame.function && inner.line == frame.line;
                           });
    if (is_inside) frame = *asked;
  }
  return of_frame(key, location, frame);
}

std::vector<std::string> RowKeys::find_asked_functions(FrameChoice frames,
                                                       const std::vector<Filter>& filters) {
  std::vector<std::string> patterns;
  if (frames == FrameChoice::innermost) return patterns;
  for (const Filter& filter : filters) {
    if (filter.level == RowLevel::function) patterns.push_back(filter.pattern);
  }
  return patterns;
}

const Frame* RowKeys::find_asked(ImageId image, const std::vector<Frame>& frames) {
  const auto found = std::ranges::find_if(frames, [&](const Frame& frame) {
    if (!has_name(frame)) return false;
    const uint64_t which = uint64_t{image.value} << 32 | frame.function.value;
    const auto [verdict, is_new] = is_asked_.try_emplace(which);
    if (is_new) {
      const std::string& name = code_.facts(image)->strings.text(frame.function);
      verdict->second = std::ranges::any_of(
          asked_, [&](const std::string& pattern) { return matches_function(name, pattern); });
    }
    return verdict->second;
  });
  return found == frames.end() ? nullptr : &*found;
}

std::optional<CodeIndex::Range> RowKeys::find_part(const Location& location) {
  return levels_.block ? code_.find_block(location) : flow_.find_loop(location);
}

/// What is in no loop belongs to its function.
RowKey RowKeys::of_loop(RowKey key, const Location& location) {
  const auto loop = find_part(location);
  if (loop) {
    key.has_block = true;
    key.offset = loop->begin.value;
    return key;
  }
  const CodePlace place = code_.find(location);
  key.offset = place.function == CodePlace::kNone
                   ? location.offset.value
                   : code_.facts(location.image)->functions[place.function].begin.value;
  return key;
}

RowKey RowKeys::of_frame(RowKey key, const Location& location, const Frame& frame) const {
  key.code = true;
  key.image = location.image.value;
  if (!levels_.code()) return key;
  key.inlined = frame.inlined;
  const bool has_line = levels_.line && frame.line != 0;
  if (has_line) {
    key.file = frame.file.value;
    key.line = frame.line;
  }
  if (!levels_.function && has_line) return key;
  if (has_name(frame)) {
    key.name = frame.function.value;
  } else if (key.offset == RowKey::kNoOffset) {
    // Each address is a row of its own, except where addresses mean nothing to anybody.
    const Image* image = code_.image(location.image);
    const bool by_address = image != nullptr && image->kind != ImageKind::unknown &&
                            image->kind != ImageKind::kernel && image->kind != ImageKind::jit;
    if (by_address) key.offset = location.offset.value;
  }
  return key;
}

RowNames RowKeys::name(const RowKey& key) {
  const Profile& profile = code_.profile();
  RowNames row;
  if (levels_.names_process()) {
    const Process* process = find_row(profile.processes, ProcessId(key.process));
    row.process =
        pool_.name(process == nullptr ? "[unknown]" : profile.strings.text(process->name));
    if (process != nullptr && process->pid != 0) row.process_id = process->pid;
  }
  if (levels_.thread) {
    const Thread* thread = find_row(profile.threads, ThreadId(key.thread));
    row.thread = pool_.name(thread == nullptr ? "[unknown]" : profile.strings.text(thread->name));
    if (thread != nullptr && thread->tid != 0) row.thread_id = thread->tid;
  }
  if (levels_.object) row.object = pool_.name(objects_.name(key.object));
  if (levels_.region) {
    row.region = pool_.name(regions_.name(key.region));
    row.region_path = pool_.name(regions_.path(key.region));
  }
  if (!key.code) return row;
  if (levels_.module || levels_.address()) row.module = module(ImageId(key.image));
  if (levels_.address()) {
    name_address(key, row);
  } else if (levels_.code()) {
    name_code(key, row);
  }
  return row;
}

void RowKeys::name_code(const RowKey& key, RowNames& row) {
  const ImageId image(key.image);
  row.inlined = key.inlined;
  row.skid = key.inlined;
  const bool has_facts = code_.facts(image) != nullptr;
  if (key.asked != RowKey::kNone && has_facts) row.asked = word(image, StringId(key.asked));
  if (key.line != 0 && has_facts) {
    row.file = word(image, StringId(key.file));
    row.line = key.line;
    if (!levels_.function) return;
  }
  row.function = key.name != RowKey::kNone && has_facts
                     ? word(image, StringId(key.name))
                     : pool_.name(code_.unnamed({image, FileOffset(key.offset)}));
}

void RowKeys::name_address(const RowKey& key, RowNames& row) {
  const Location location{ImageId(key.image), FileOffset(key.offset)};
  if (levels_.instruction) {
    row.address = code_.link_address(location).value;
    row.skid = true;
  } else if (key.has_block) {
    const auto block = find_part(location);
    row.address = code_.link_address(location).value;
    if (block) row.end_address = *row.address + (block->end - block->begin);
  }
  RowKey inner = key;
  if (levels_.instruction || levels_.loop || (!levels_.function && !levels_.line)) {
    // The address decides the rest; a block or loop is named by its function, not by what was
    // inlined into its first instruction.
    Attributor* attributor = code_.attributor(location.image);
    const Frame frame = levels_.instruction ? find_innermost(attributor, location.offset)
                                            : find_outermost(attributor, location.offset);
    inner.name = has_name(frame) ? frame.function.value : RowKey::kNone;
    inner.inlined = frame.inlined;
    if (levels_.instruction) {
      inner.file = frame.file.value;
      inner.line = frame.line;
    }
  }
  const bool has_facts = code_.facts(location.image) != nullptr;
  if (inner.line != 0 && has_facts) {
    row.file = word(location.image, StringId(inner.file));
    row.line = inner.line;
  }
  row.function = inner.name != RowKey::kNone && has_facts
                     ? word(location.image, StringId(inner.name))
                     : pool_.name(code_.unnamed(location));
  row.inlined = inner.inlined;
  row.skid = row.skid || inner.inlined;
}

RowKeys::ImageNames& RowKeys::image_names(ImageId image) {
  return images_[std::min<size_t>(image.value, images_.size() - 1)];
}

Name RowKeys::module(ImageId image) {
  ImageNames& names = image_names(image);
  if (!names.module) names.module = pool_.name(code_.module(image));
  return names.module;
}

Name RowKeys::word(ImageId image, StringId id) {
  const ImageFacts& facts = *code_.facts(image);
  std::vector<Name>& words = image_names(image).words;
  if (words.empty()) words.resize(facts.strings.size());
  if (id.value >= words.size()) return pool_.name("");
  if (!words[id.value]) words[id.value] = pool_.lasting(facts.strings.text(id));
  return words[id.value];
}

}  // namespace culprit
