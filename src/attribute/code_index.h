#pragma once

// CodeIndex: what is known of the code of a whole profile. Loads the facts of an
// image when they are first asked for, and decodes a function when its instructions are.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attribute/attribution.h"
#include "attribute/disassembly.h"
#include "attribute/recorded_branches.h"
#include "model/profile.h"

namespace culprit {

/// The row of `table` that `id` names; nullptr for "all" and for ids past its end,
/// which a damaged or hostile profile may hold.
template <class Row, class Tag>
const Row* find_row(const std::vector<Row>& table, Id<Tag> id) {
  return id.value < table.size() ? &table[id.value] : nullptr;
}

class CodeIndex {
 public:
  struct Range {
    FileOffset begin;
    FileOffset end;
  };

  /// Both must outlive the CodeIndex.
  CodeIndex(const Profile& profile, const FactsLookup& lookup);

  const ImageFacts* facts(ImageId image);  // nullptr if there are none
  Attributor* attributor(ImageId image);   // nullptr if there are no facts
  CodePlace find(const Location& location);
  std::vector<Frame> frames(const Location& location);

  /// The basic block that holds `location`; none without its code.
  std::optional<Range> find_block(const Location& location);
  /// Blocks begin, too, where recorded indirect jumps from [begin, end) went.
  Result<Disassembly> disassemble(ImageId image, FileOffset begin, FileOffset end,
                                  Detail detail = Detail::text);
  /// The machine code of one stretch; empty unless all of it is known.
  std::string_view find_bytes(ImageId image, FileOffset begin, uint64_t size_bytes);

  /// The taken branches that were recorded; sorted at the first call.
  const RecordedBranches& recorded_branches();

  /// The address that objdump prints; the offset's own number where nothing is known.
  LinkAddress link_address(const Location& location);

  /// Path of the image, "[kernel]", "[vdso]", "[jit]", "[anonymous]" or "[unknown]".
  [[nodiscard]] std::string module(ImageId image) const;
  [[nodiscard]] const Image* image(ImageId image) const { return find_row(profile_.images, image); }
  [[nodiscard]] const Profile& profile() const { return profile_; }

  /// The name of a place without a symbol: "libc.so.6+0x1234", "[kernel]", "[unknown]".
  std::string unnamed(const Location& location);

 private:
  struct State {
    bool loaded = false;
    const ImageFacts* facts = nullptr;
    std::optional<Attributor> attributor;
    std::optional<Disassembler> disassembler;
    /// By row of functions; empty where those of the facts are all there are.
    std::unordered_map<uint32_t, std::vector<Range>> blocks;
  };
  State* load(ImageId image);
  /// Whether the blocks of the facts, which know the code alone, are not those of disassemble():
  /// there are none (JIT code, files of earlier versions), or a recorded jump went inside of one.
  bool must_decode(State& state, ImageId image, const FunctionFact& function);
  std::vector<Range> decode_blocks(ImageId image, const FunctionFact& function);

  const Profile& profile_;
  const FactsLookup& lookup_;
  std::vector<State> states_;  // parallel to profile_.images
  std::optional<RecordedBranches> branches_;
};

}  // namespace culprit
