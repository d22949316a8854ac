#include "snapshot/jump_facts.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "binary/demangle.h"
#include "code/jump_tables.h"
#include "code/never_returns.h"

namespace culprit {
namespace {

/// Callees longer than that are taken to return: those that stop a program are short.
constexpr uint64_t kLongestJudgedBytes = 4096;

bool is_padding(const Instruction& one, std::string_view bytes, LinkAddress start) {
  const std::string_view code = bytes.substr(std::min(bytes.size(), one.address - start), one.size);
  const size_t nop = code.find("\x0f\x1f");  // nopw, nopl, with any prefixes
  return code == "\x90" || code == "\x66\x90" || (nop != code.npos && nop < 9) ||
         code == std::string_view("\x1f\x20\x03\xd5", 4);
}

}  // namespace

std::vector<JumpFinder::Jump> JumpFinder::find(std::string_view bytes,
                                               const std::vector<Instruction>& instructions) {
  std::vector<Jump> jumps;
  if (instructions.empty()) return jumps;
  const bool jumps_indirectly =
      std::any_of(instructions.begin(), instructions.end(),
                  [](const Instruction& one) { return one.flow == Flow::indirect_jump; });
  if (jumps_indirectly) find_tables(bytes, instructions, jumps);

  // What stands behind a call that never comes back is reached in other ways, or not at all.
  std::vector<LinkAddress> leaders;
  for (const Instruction& one : instructions) {
    const bool is_jump = one.flow == Flow::jump || one.flow == Flow::branch;
    if (is_jump && one.target) leaders.push_back(*one.target);
  }
  for (const Jump& jump : jumps) leaders.push_back(jump.to);
  std::sort(leaders.begin(), leaders.end());
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& call = instructions[i];
    if (call.flow != Flow::call || !call.target) continue;
    const bool may_be_last = i + 1 == instructions.size() ||
                             is_padding(instructions[i + 1], bytes, instructions.front().address) ||
                             std::binary_search(leaders.begin(), leaders.end(), call.end());
    if (never_returns_by_name(*call.target) || (may_be_last && never_returns(*call.target))) {
      jumps.push_back({call.address, call.end(), JumpKind::never_returns});
    }
  }
  std::sort(jumps.begin(), jumps.end(), [](const Jump& a, const Jump& b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  return jumps;
}

std::optional<uint64_t> JumpFinder::read(LinkAddress at, uint8_t bytes) {
  const auto found = elf_.loaded_bytes(at, at + bytes);
  if (found.size() != bytes) return std::nullopt;
  uint64_t value = 0;
  std::memcpy(&value, found.data(), bytes);
  if (bytes < 8) return value;
  if (!relocations_) relocations_ = RelativeRelocations::read(elf_);
  const std::optional<uint64_t> relocated = relocations_->find(at);
  return relocated ? relocated : std::optional(value);
}

void JumpFinder::find_tables(std::string_view bytes, const std::vector<Instruction>& instructions,
                             std::vector<Jump>& jumps) {
  const std::vector<Effect> effects = decoder_.read_effects(bytes, instructions);
  const auto reading = [this](LinkAddress at, uint8_t size) { return read(at, size); };
  for (const JumpTable& table :
       find_jump_tables(instructions, effects, elf_.architecture() == "x86_64", reading)) {
    for (const LinkAddress to : table.targets) {
      jumps.push_back({table.from, to, table.is_complete ? JumpKind::complete : JumpKind::partial});
    }
  }
}

bool JumpFinder::never_returns_by_name(LinkAddress callee) {
  const auto [at, is_new] = judged_by_name_.try_emplace(callee, false);
  if (is_new) {
    const Symbol* const symbol = symbols_.find(callee);
    at->second = symbol != nullptr && symbol->begin == callee &&
                 culprit::never_returns(demangle(symbol->name));
  }
  return at->second;
}

bool JumpFinder::never_returns(LinkAddress callee) {
  const auto [at, is_new] = judged_.try_emplace(callee, false);
  if (is_new) {
    const Symbol* const symbol = symbols_.find(callee);
    at->second = symbol != nullptr && symbol->begin == callee && has_no_way_back(*symbol);
  }
  return at->second;
}

/// Whether nothing in the code leads out of it but calls.
bool JumpFinder::has_no_way_back(const Symbol& function) {
  if (function.end - function.begin > kLongestJudgedBytes) return false;
  const auto found = elf_.loaded_bytes(function.begin, function.end);
  const std::string_view bytes(reinterpret_cast<const char*>(found.data()), found.size());
  const std::vector<Instruction> code = decoder_.decode(bytes, function.begin, Detail::flow);
  bool calls = false;
  for (const Instruction& one : code) {
    if (one.bad || one.flow == Flow::returns || one.flow == Flow::indirect_jump) return false;
    const bool is_jump = one.flow == Flow::jump || one.flow == Flow::branch;
    if (is_jump && (!one.target || *one.target < function.begin || *one.target >= function.end) &&
        !(one.target && never_returns_by_name(*one.target))) {
      return false;
    }
    calls = calls || one.flow == Flow::call || one.flow == Flow::trap;
  }
  return calls && code.back().flow != Flow::next && code.back().flow != Flow::branch;
}

}  // namespace culprit
