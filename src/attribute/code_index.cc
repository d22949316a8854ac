#include "attribute/code_index.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "model/profiler_path.h"

namespace culprit {

CodeIndex::CodeIndex(const Profile& profile, const FactsLookup& lookup)
    : profile_(profile), lookup_(lookup), states_(profile.images.size()) {}

CodeIndex::State* CodeIndex::load(ImageId image) {
  if (image.value >= states_.size()) return nullptr;
  State& state = states_[image.value];
  if (!state.loaded) {
    state.loaded = true;
    state.facts = lookup_ ? lookup_(image) : nullptr;
    if (state.facts != nullptr) state.attributor.emplace(*state.facts);
  }
  return &state;
}

const ImageFacts* CodeIndex::facts(ImageId image) {
  const State* state = load(image);
  return state == nullptr ? nullptr : state->facts;
}

Attributor* CodeIndex::attributor(ImageId image) {
  State* state = load(image);
  return state == nullptr || !state->attributor ? nullptr : &*state->attributor;
}

CodePlace CodeIndex::find(const Location& location) {
  Attributor* known = attributor(location.image);
  return known == nullptr ? CodePlace{} : known->find(location.offset);
}

std::vector<Frame> CodeIndex::frames(const Location& location) {
  Attributor* known = attributor(location.image);
  return known == nullptr ? std::vector<Frame>{} : known->frames(known->find(location.offset));
}

Result<Disassembly> CodeIndex::disassemble(ImageId image, FileOffset begin, FileOffset end,
                                           Detail detail) {
  State* state = load(image);
  if (state == nullptr || state->facts == nullptr) {
    return Error{"the profile knows nothing of this image"};
  }
  if (!state->disassembler) state->disassembler.emplace(*state->facts);
  return state->disassembler->disassemble(begin, end, detail,
                                          recorded_branches().within(image, begin, end));
}

std::string_view CodeIndex::find_bytes(ImageId image, FileOffset begin, uint64_t size_bytes) {
  State* state = load(image);
  if (state == nullptr || state->facts == nullptr) return {};
  if (!state->disassembler) state->disassembler.emplace(*state->facts);
  return state->disassembler->find_bytes(begin, size_bytes);
}

std::optional<CodeIndex::Range> CodeIndex::find_block(const Location& location) {
  const CodePlace place = find(location);
  if (place.function == CodePlace::kNone) return std::nullopt;
  State& state = *load(location.image);
  const auto [at, is_new] = state.blocks.try_emplace(place.function);
  std::vector<Range>& blocks = at->second;
  if (is_new) {
    const FunctionFact& function = state.facts->functions[place.function];
    if (must_decode(state, location.image, function)) {
      blocks = decode_blocks(location.image, function);
    }
  }
  if (blocks.empty()) {
    const BlockFact* block = state.attributor->find_block(location.offset);
    if (block == nullptr) return std::nullopt;
    return Range{block->begin, block->begin + block->size_bytes};
  }
  const auto after =
      std::upper_bound(blocks.begin(), blocks.end(), location.offset,
                       [](FileOffset offset, const Range& block) { return offset < block.begin; });
  if (after == blocks.begin() || location.offset >= std::prev(after)->end) return std::nullopt;
  return *std::prev(after);
}

bool CodeIndex::must_decode(State& state, ImageId image, const FunctionFact& function) {
  if (state.facts->blocks.empty()) return true;
  const std::span<const RecordedBranch> branches =
      recorded_branches().within(image, function.begin, function.end);
  return std::any_of(branches.begin(), branches.end(), [&](const RecordedBranch& one) {
    if (one.to < function.begin || one.to >= function.end) return false;
    const BlockFact* const block = state.attributor->find_block(one.to);
    return block != nullptr && block->begin != one.to;
  });
}

std::vector<CodeIndex::Range> CodeIndex::decode_blocks(ImageId image,
                                                       const FunctionFact& function) {
  std::vector<Range> blocks;
  if (const auto code = disassemble(image, function.begin, function.end, Detail::flow)) {
    for (const Block& block : code->blocks) {
      blocks.push_back({code->to_offset(block.begin), code->to_offset(block.end)});
    }
  }
  return blocks;
}

const RecordedBranches& CodeIndex::recorded_branches() {
  if (!branches_) branches_.emplace(profile_);
  return *branches_;
}

LinkAddress CodeIndex::link_address(const Location& location) {
  const ImageFacts* known = facts(location.image);
  return known == nullptr ? LinkAddress(location.offset.value)
                          : to_link_address(*known, location.offset);
}

std::string CodeIndex::module(ImageId id) const {
  const Image* found = image(id);
  if (found == nullptr) return "[unknown]";
  const std::string& path = profile_.strings.text(found->path);
  if (found->kind == ImageKind::unknown) {
    const bool tells =
        tells_what_it_is(path) || path == kProfilerPath || path.starts_with(kReasonPrefix);
    return tells ? path : "[unknown]";
  }
  if (found->kind == ImageKind::kernel) return path == kGuestKernelPath ? path : "[kernel]";
  if (found->kind == ImageKind::vdso) return "[vdso]";
  if (found->kind == ImageKind::jit) return "[jit]";
  return path.empty() ? "[unknown]" : path;
}

std::string CodeIndex::unnamed(const Location& location) {
  const Image* found = image(location.image);
  const bool has_one_name =
      found == nullptr || found->kind == ImageKind::unknown || found->kind == ImageKind::kernel;
  if (has_one_name) return module(location.image);
  if (found->kind == ImageKind::jit) {
    const std::string_view path = profile_.strings.text(found->path);
    return std::string(path.starts_with("[jit] ") ? path.substr(6) : "[jit]");
  }
  return fmt::format("{}+{:#x}", base_name(module(location.image)), link_address(location).value);
}

}  // namespace culprit
