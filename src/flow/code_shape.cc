#include "flow/code_shape.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace culprit {
namespace {

constexpr size_t kLeastInstructions = 12;
constexpr size_t kClassLetters = 3;  // "movl", "movslq", "movaps": mov
constexpr int kColourRounds = 4;     // so far a difference is seen

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  hash *= 0xff51afd7ed558ccd;
  return hash ^ hash >> 33;
}

std::string_view mnemonic(const Instruction& instruction) {
  const std::string_view text = instruction.text;
  return text.substr(0, text.find_first_of(" \t"));
}

/// Alignment, and marks of places that may be jumped to, are not what a function does.
bool does_nothing(std::string_view mnemonic) {
  return mnemonic.starts_with("nop") || mnemonic.starts_with("endbr") || mnemonic == "bti" ||
         mnemonic == "data16";
}

uint64_t class_of(const Instruction& instruction) {
  uint64_t hash = static_cast<uint64_t>(instruction.flow) + 1;
  if (instruction.flow != Flow::next) return hash;
  for (const char letter : mnemonic(instruction).substr(0, kClassLetters)) {
    hash = mix(hash, static_cast<unsigned char>(letter));
  }
  return hash;
}

/// In whatever order.
uint64_t hash_all(std::vector<uint64_t> values, uint64_t seed) {
  std::sort(values.begin(), values.end());
  for (const uint64_t value : values) seed = mix(seed, value);
  return seed;
}

/// Jumps at the end of a block depend on where the next one lies.
bool belongs_to_layout(const Instruction& instruction) {
  return instruction.flow == Flow::jump;
}

std::vector<uint64_t> neighbours(const FlowGraph& graph, const EdgeIndex& index, uint32_t node,
                                 bool forward, const std::vector<uint64_t>& colours) {
  std::vector<uint64_t> seen;
  for (const uint32_t edge : index.of(node)) {
    seen.push_back(colours[forward ? graph.edges[edge].to : graph.edges[edge].from]);
  }
  return seen;
}

}  // namespace

std::optional<uint64_t> hash_code_shape(const Disassembly& code, const FlowGraph& graph) {
  if (graph.blocks != code.blocks.size()) return std::nullopt;
  std::vector<uint64_t> colours(graph.nodes(), 1);
  colours[graph.entry()] = 2;
  colours[graph.exit()] = 3;
  size_t instructions = 0;
  for (size_t block = 0; block < code.blocks.size(); ++block) {
    std::vector<uint64_t> classes;
    for (size_t i = code.blocks[block].first; i < code.blocks[block].last; ++i) {
      const Instruction& one = code.instructions[i];
      if (one.bad) return std::nullopt;
      if (does_nothing(mnemonic(one)) || belongs_to_layout(one)) continue;
      classes.push_back(class_of(one));
    }
    instructions += classes.size();
    colours[block] = hash_all(std::move(classes), 4);
  }
  if (instructions < kLeastInstructions) return std::nullopt;
  const EdgeIndex out = index_sources(graph);
  const EdgeIndex in = index_targets(graph);
  for (int round = 0; round < kColourRounds; ++round) {
    std::vector<uint64_t> next(colours.size());
    for (uint32_t node = 0; node < graph.nodes(); ++node) {
      const uint64_t after = hash_all(neighbours(graph, out, node, true, colours), 5);
      const uint64_t before = hash_all(neighbours(graph, in, node, false, colours), 6);
      next[node] = mix(mix(colours[node], after), before);
    }
    colours = std::move(next);
  }
  return hash_all(std::move(colours), 7);
}

}  // namespace culprit
