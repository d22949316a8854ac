#include "simulate/counting/translation.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace culprit::counting {

namespace file = counts_file;

namespace {

/// FNV-1a, of 64 bits, of how many and which: two blocks of a program have the same about never.
uint64_t hash_of(std::span<const uint32_t> sites) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325 ^ sites.size();
  for (const uint32_t site : sites) hash = (hash ^ site) * 0x0000'0100'0000'01b3;
  return hash;
}

/// Cuts the code where lines begin.
std::vector<CodePart> cut_into_lines(std::span<const BlockInstruction> code,
                                     std::span<const uint32_t> sites, uint64_t line_bytes) {
  std::vector<CodePart> parts;
  for (size_t i = 0; i < code.size(); ++i) {
    uint64_t at = code[i].address;
    const uint64_t end = at + code[i].code.size();
    while (at < end) {
      const uint64_t line_end = (at / line_bytes + 1) * line_bytes;
      const uint64_t part_end = std::min(end, line_end);
      const bool is_same_line = !parts.empty() &&
                                parts.back().address / line_bytes == at / line_bytes &&
                                parts.back().address + parts.back().bytes == at;
      if (!is_same_line) parts.push_back({at, sites[i]});
      parts.back().bytes = (parts.back().bytes + part_end - at) & 0xff;
      at = part_end;
    }
  }
  return parts;
}

bool has_unknown_target(file::ControlFlow branch) {
  return branch == file::ControlFlow::indirect_jump || branch == file::ControlFlow::indirect_call;
}

bool calls_or_returns(file::ControlFlow branch) {
  return branch == file::ControlFlow::call || branch == file::ControlFlow::returns;
}

}  // namespace

bool may_be_cut(std::span<const BlockInstruction> code) {
  constexpr uint64_t kPage = 4096;
  constexpr uint64_t kLongestInstruction = 15;
  if (code.size() < 2) return false;
  const BlockInstruction& last = code.back();
  return (last.address + kLongestInstruction) / kPage != last.address / kPage;
}

const Translation::KnownSite* Translation::find_or_add_site(const BlockInstruction& instruction,
                                                            uint32_t mapping,
                                                            bool has_known_costs) {
  file::Site site{};
  site.address = instruction.address;
  site.mapping = mapping;
  site.size = static_cast<uint8_t>(std::min<size_t>(instruction.code.size(), sizeof site.code));
  std::copy_n(instruction.code.begin(), site.size, site.code);
  uint32_t& newest = newest_sites_[site.address];
  for (uint32_t index = newest; index != 0; index = sites_[index].older) {
    const file::Site& known = sites_[index].site;
    if (known.mapping == mapping && known.size == site.size &&
        std::memcmp(known.code, site.code, sizeof site.code) == 0) {
      return &sites_[index];
    }
  }
  const CodeFacts facts = decode_(instruction.code);
  site.branch = facts.branch;
  site.flags = static_cast<uint8_t>(facts.flags | (has_known_costs ? 0 : file::kUnknownCosts) |
                                    (facts.accesses.is_known ? file::kKnownAccesses : 0));
  if (facts.accesses.is_known) {
    site.load_bytes = facts.accesses.load_bytes;
    site.store_bytes = facts.accesses.store_bytes;
  }
  const uint32_t number = writer_.add_site(site);
  if (number == 0) return nullptr;
  sites_.push_back({number, newest, site, facts.accesses});
  newest = static_cast<uint32_t>(sites_.size() - 1);
  return &sites_.back();
}

/// Costs of the code, and whether they are known for each of its instructions.
simulate::BlockCycles Translation::compute_cycles(std::span<const BlockInstruction> code,
                                                  bool* known) {
  std::vector<std::span<const uint8_t>> bytes;
  for (const BlockInstruction& instruction : code) bytes.push_back(instruction.code);
  std::vector<InstructionCosts> costs(code.size());
  const BlockCosts block = costs_->compute_costs(bytes, costs, {known, code.size()});
  return simulate::compute_block_cycles(costs, block, core_);
}

bool Translation::enters_region(uint64_t address) {
  if (region_.offsets.empty()) return false;
  const uint32_t number = maps_.find(address);
  const file::MappedRange mapping = writer_.mapping(number);
  return number != 0 &&
         region_.holds(writer_.mapping_path(number), address - mapping.start + mapping.file_offset);
}

const BlockFacts* Translation::translate(std::span<const BlockInstruction> code,
                                         std::vector<TranslatedInstruction>* translated) {
  const std::lock_guard lock(mutex_);
  translated->clear();
  std::vector<uint32_t> sites;
  bool is_wide = false;
  simulate::BlockCycles cycles;
  const auto has_costs = std::make_unique<bool[]>(code.size());
  if (costs_ != nullptr && !code.empty()) cycles = compute_cycles(code, has_costs.get());
  for (size_t i = 0; i < code.size(); ++i) {
    const KnownSite* const site =
        find_or_add_site(code[i], maps_.find(code[i].address), costs_ == nullptr || has_costs[i]);
    if (site == nullptr) break;
    sites.push_back(site->number);
    translated->push_back({site->number, site->accesses});
    is_wide = is_wide || (site->site.flags & file::kWide) != 0;
  }
  if (sites.size() != code.size() || code.empty()) {
    ++writer_.header().uncounted_blocks;
    return nullptr;
  }
  const uint64_t key = hash_of(sites);
  if (const auto at = blocks_.find(key); at != blocks_.end()) return at->second;
  const CodeFacts end = decode_(code.back().code);
  const uint32_t number = writer_.add_block(sites, end.displacement);
  if (number == 0) {
    ++writer_.header().uncounted_blocks;
    return nullptr;
  }
  BlockFacts facts;
  facts.number = number;
  facts.instructions = static_cast<uint32_t>(sites.size());
  facts.first_site = sites.front();
  facts.last_site = sites.back();
  facts.start = code.front().address;
  facts.last_address = code.back().address;
  facts.end = code.back().address + code.back().code.size();
  facts.branch = end.branch;
  facts.enters_region = enters_region(facts.start);
  facts.is_wide = is_wide;
  facts.last_accesses = end.accesses;
  if ((end.flags & file::kRepeats) != 0) facts.left = Left::repeats;
  if (follows_calls_ && calls_or_returns(end.branch)) facts.left = Left::call;
  if (has_unknown_target(end.branch)) facts.left = Left::target;
  std::vector<CodePart> parts = cut_into_lines(code, sites, line_bytes_);
  // A sample that begins later may take any of them.
  if (sample_ != nullptr && sample_->has_begun()) {
    std::erase_if(
        parts, [&](const CodePart& part) { return !sample_->holds(part.address / line_bytes_); });
  }
  for (CodePart& part : parts) {
    if (parts_ + 1 < CodePart::kMostNumbers) part.number = ++parts_ & (CodePart::kMostNumbers - 1);
  }
  facts.parts = static_cast<uint32_t>(parts.size());
  if (!parts.empty()) {
    facts.first_part = parts.front();
    facts.other_parts.assign(parts.begin() + 1, parts.end());
  }
  if (costs_ != nullptr) {
    writer_.add_block_ticks(cycles.instructions);
    cycles.instructions = {};  // they are in the file
    for (size_t i = 0; i < sites.size(); ++i) cycles.steps[i].site = sites[i];
    facts.cycles = std::move(cycles);
  }
  facts_.push_back(std::move(facts));
  blocks_.emplace(key, &facts_.back());
  return &facts_.back();
}

uint32_t Translation::find_mapping(uint64_t address) {
  const std::lock_guard lock(mutex_);
  return maps_.find(address);
}

void Translation::forget_mapping(uint64_t start, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  maps_.forget(start, bytes);
}

}  // namespace culprit::counting
