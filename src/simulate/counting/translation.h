#pragma once

// Translation: gives each instruction of a translated block its site and each block its
// number. The same code translated again (engines throw their translations away when they become
// too many) gets the same numbers, so the tables grow with the program's code alone.

#include <cstddef>
#include <deque>
#include <mutex>
#include <span>
#include <tsl/robin_map.h>
#include <vector>

#include "simulate/counting/code_facts.h"
#include "simulate/counting/known_mappings.h"
#include "simulate/counting/region.h"
#include "simulate/machine/code_uses.h"
#include "simulate/machine/cost_source.h"
#include "simulate/machine/set_sample.h"

namespace culprit::objects {
struct FrameLayout;
}

namespace culprit::counting {

using simulate::CodePart;

/// What is left to do of a block when the next one runs.
enum class Left : uint8_t {
  nothing,
  beginning,  // it is none, before a thread's first one: who the thread is
  repeats,    // the last instruction is a repeated string instruction: whether it goes on
  call,       // it calls or returns, and calls are followed
  target,     // the last instruction may go anywhere: where it went
};

/// A block as the callbacks of its execution need it. Lives to the end.
struct alignas(64) BlockFacts {
  uint32_t number = 0;  // in the counts file
  uint32_t instructions = 0;
  uint32_t first_site = 0;
  uint32_t last_site = 0;
  uint64_t start = 0;
  uint64_t last_address = 0;  // of the last instruction
  uint64_t end = 0;           // where a branch that is not taken goes on
  counts_file::ControlFlow branch = counts_file::ControlFlow::none;  // of the last instruction
  bool enters_region = false;  // a function of the region begins with it
  bool is_wide = false;        // an instruction may use vectors beyond 16 bytes
  Left left = Left::nothing;
  uint32_t parts = 0;  // whose lines are simulated: the first one, and the others
  CodePart first_part{};
  std::vector<CodePart> other_parts{};
  simulate::BlockCycles cycles{};  // if they are modelled
  KnownAccesses last_accesses{};   // of the last instruction
  /// Of its function, once it was asked for; written by any thread that runs the block.
  mutable const objects::FrameLayout* frame = nullptr;

  /// Whether the block is nothing but a round of rep movs or rep stos.
  [[nodiscard]] bool is_round() const { return last_accesses.repeats && instructions == 1; }
};
static_assert(offsetof(BlockFacts, other_parts) == 64,
              "what most need is in one of the host's lines");

/// One instruction as the engine shows it.
struct BlockInstruction {
  uint64_t address = 0;
  std::span<const uint8_t> code;
};

/// One instruction of a translated block.
struct TranslatedInstruction {
  uint32_t site = 0;
  KnownAccesses accesses;
};

/// Whether the last instruction could be one that reaches into the next page, or a part of it.
bool may_be_cut(std::span<const BlockInstruction> code);

class Translation {
 public:
  Translation(CountsWriter& writer, DecodeFunction decode)
      : writer_(writer), maps_(writer), decode_(decode) {}

  /// Tells of the simulated machine how long its lines are, and which of them it simulates. The
  /// sample must live to the end.
  void set_lines(uint32_t line_bytes, const simulate::SetSample* sample) {
    line_bytes_ = line_bytes;
    sample_ = sample;
  }

  /// Gives blocks cycles from now on. The source must live to the end.
  void set_costs(simulate::CostSource* source, const simulate::CoreSettings& core) {
    costs_ = source;
    core_ = core;
  }

  /// Blocks at these places enter it.
  void set_region(RegionPlaces region) { region_ = std::move(region); }

  /// nullptr: a table is full, the block is not counted (and that is). `translated` gets one
  /// element per instruction.
  const BlockFacts* translate(std::span<const BlockInstruction> code,
                              std::vector<TranslatedInstruction>* translated);

  void set_mapping_finder(FindMapping finder) { maps_.set_finder(std::move(finder)); }
  void forget_mapping(uint64_t start, uint64_t bytes);
  /// The number of the mapping at the address; 0: memory without a file.
  uint32_t find_mapping(uint64_t address);

  /// Calls and returns are Left::call from now on.
  void follow_calls() { follows_calls_ = true; }
  /// Is told of each piece of a file whose code is translated, before it is.
  void set_mapping_listener(KnownMappings::Listener listener) {
    maps_.set_listener(std::move(listener));
  }

 private:
  struct KnownSite {
    uint32_t number = 0;  // in the counts file; a forked child's may have some in between
    uint32_t older = 0;   // index of the same address: code that was there before; 0: none
    counts_file::Site site{};
    KnownAccesses accesses;
  };
  /// nullptr: the table is full. Stays until the next is added.
  const KnownSite* find_or_add_site(const BlockInstruction& instruction, uint32_t mapping,
                                    bool has_known_costs);
  simulate::BlockCycles compute_cycles(std::span<const BlockInstruction> code, bool* known);

  std::mutex mutex_;
  CountsWriter& writer_;
  KnownMappings maps_;
  DecodeFunction decode_;
  bool enters_region(uint64_t address);

  RegionPlaces region_;
  bool follows_calls_ = false;
  uint32_t line_bytes_ = 64;
  const simulate::SetSample* sample_ = nullptr;  // all, if there is none
  simulate::CostSource* costs_ = nullptr;
  simulate::CoreSettings core_;
  std::vector<KnownSite> sites_{KnownSite()};
  tsl::robin_map<uint64_t, uint32_t> newest_sites_;     // by address: indices, near ones together
  tsl::robin_map<uint64_t, const BlockFacts*> blocks_;  // by the hash of all sites
  std::deque<BlockFacts> facts_;
  uint32_t parts_ = 0;  // of code, that have a number
};

}  // namespace culprit::counting
