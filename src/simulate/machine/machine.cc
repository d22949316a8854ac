#include "simulate/machine/machine.h"

#include <bit>
#include <fmt/format.h>

#include "base/file.h"

namespace culprit::simulate {
namespace {

constexpr uint64_t kMostCacheBytes = uint64_t{4} << 30;

Error bad_cache(const char* level, const std::string& why) {
  return Error{fmt::format("cache {} cannot be simulated: {}", level, why)};
}

Result<void> check_cache(const char* level, const CacheGeometry& cache, uint32_t line_bytes) {
  if (!cache.present()) return {};
  if (cache.ways < 1 || cache.ways > 64) {
    return bad_cache(level, fmt::format("{} ways; 1 to 64 are possible", cache.ways));
  }
  if (cache.size_bytes > kMostCacheBytes) return bad_cache(level, "more than 4 GiB");
  const uint64_t way_bytes = uint64_t{cache.ways} * line_bytes;
  if (cache.size_bytes % way_bytes != 0) {
    return bad_cache(level, fmt::format("{} bytes are no multiple of {} ways x {} bytes a line",
                                        cache.size_bytes, cache.ways, line_bytes));
  }
  if (cache.replacement == Replacement::plru && !std::has_single_bit(cache.ways)) {
    return bad_cache(level, fmt::format("plru needs a power of two of ways, not {}", cache.ways));
  }
  return {};
}

Result<void> check_caches(const MachineModel& machine) {
  if (!std::has_single_bit(machine.line_bytes) || machine.line_bytes < 16 ||
      machine.line_bytes > 128) {
    return Error{
        fmt::format("line_bytes = {}: lines have 16, 32, 64 or 128 bytes", machine.line_bytes)};
  }
  RETURN_IF_ERROR(check_cache("l1i", machine.l1i, machine.line_bytes));
  RETURN_IF_ERROR(check_cache("l1d", machine.l1d, machine.line_bytes));
  RETURN_IF_ERROR(check_cache("l2", machine.l2, machine.line_bytes));
  RETURN_IF_ERROR(check_cache("l3", machine.l3, machine.line_bytes));
  if (!machine.l1i.present()) return bad_cache("l1i", "a machine needs one");
  if (!machine.l1d.present()) return bad_cache("l1d", "a machine needs one");
  for (const CacheGeometry* first : {&machine.l1i, &machine.l1d}) {
    if (first->inclusion != Inclusion::non_inclusive) {
      return bad_cache("l1", "inclusion is a matter of l2 and l3: nothing is nearer than l1");
    }
  }
  if (machine.l2.inclusion == Inclusion::victim) {
    return bad_cache("l2", "only l3 can be a victim cache");
  }
  if (machine.l3.inclusion == Inclusion::victim && !machine.l2.present()) {
    return bad_cache("l3", "a victim cache takes what l2 evicts, and there is no l2");
  }
  return {};
}

Result<void> check_tlb(const char* name, const TlbGeometry& tlb) {
  if (tlb.entries == 0) return {};
  if (tlb.ways == 0 || tlb.entries > (1U << 20) || tlb.entries % tlb.ways != 0) {
    return Error{fmt::format("tlb.{} cannot be simulated: {} entries must be a multiple of {} ways",
                             name, tlb.entries, tlb.ways)};
  }
  return {};
}

/// One figure that must lie between two others.
Result<void> check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return Error{fmt::format("{} = {}: {} to {} is possible", name, value, least, most)};
}

Result<void> check_core(const CoreSettings& core) {
  RETURN_IF_ERROR(check_range("core.dispatch_width", core.dispatch_width, 1, 16));
  RETURN_IF_ERROR(check_range("core.reorder_buffer", core.reorder_buffer, 1, 4096));
  RETURN_IF_ERROR(check_range("core.load_queue", core.load_queue, 1, 4096));
  RETURN_IF_ERROR(check_range("core.store_queue", core.store_queue, 1, 4096));
  RETURN_IF_ERROR(check_range("core.stores_per_cycle", core.stores_per_cycle, 1, 4));
  RETURN_IF_ERROR(check_range("core.miss_buffers", core.miss_buffers, 1, 1024));
  const StringSettings& strings = core.strings;
  for (const double bytes : {strings.copy_bytes_per_cycle, strings.fill_bytes_per_cycle}) {
    RETURN_IF_ERROR(check_range("strings: bytes per cycle", bytes, 0.01, 1e4));
  }
  for (const double cycles : {double(strings.copy_start_cycles), double(strings.fill_start_cycles),
                              strings.round_cycles}) {
    RETURN_IF_ERROR(check_range("strings: a time in cycles", cycles, 0, 1e4));
  }
  return {};
}

Result<void> check_branch(const BranchSettings& branch) {
  RETURN_IF_ERROR(check_range("branch.bimodal_entries", branch.bimodal_entries, 1, 1 << 24));
  RETURN_IF_ERROR(check_range("branch.history_tables", branch.history_tables, 0, 8));
  RETURN_IF_ERROR(check_range("branch.history_entries", branch.history_entries, 2, 1 << 13));
  RETURN_IF_ERROR(check_range("branch.longest_history", branch.longest_history, 1, 1000));
  RETURN_IF_ERROR(
      check_range("branch.shortest_history", branch.shortest_history, 1, branch.longest_history));
  RETURN_IF_ERROR(check_range("branch.target_entries", branch.target_entries, 1, 1 << 24));
  RETURN_IF_ERROR(check_range("branch.target_ways", branch.target_ways, 1, branch.target_entries));
  RETURN_IF_ERROR(check_range("branch.indirect_entries", branch.indirect_entries, 2, 1 << 20));
  RETURN_IF_ERROR(check_range("branch.return_stack", branch.return_stack, 1, 1 << 16));
  for (const uint32_t entries :
       {branch.bimodal_entries, branch.history_entries, branch.indirect_entries}) {
    if (!std::has_single_bit(entries)) {
      return Error{fmt::format("branch: tables have a power of two of entries, not {}", entries)};
    }
  }
  if (branch.target_entries % branch.target_ways != 0 ||
      !std::has_single_bit(branch.target_entries / branch.target_ways)) {
    return Error{fmt::format("branch.target_entries = {}: must be {} ways times a power of two",
                             branch.target_entries, branch.target_ways)};
  }
  return {};
}

}  // namespace

Result<void> check_machine(const MachineModel& machine) {
  RETURN_IF_ERROR(check_caches(machine));
  RETURN_IF_ERROR(check_tlb("instruction", machine.tlb.instruction));
  RETURN_IF_ERROR(check_tlb("data", machine.tlb.data));
  RETURN_IF_ERROR(check_tlb("second", machine.tlb.second));
  for (const uint32_t cycles :
       {machine.l1i.latency_cycles, machine.l1d.latency_cycles, machine.l2.latency_cycles,
        machine.l3.latency_cycles, machine.memory.latency_cycles, machine.memory.l1d_set_cycles,
        machine.memory.other_core_clean_cycles, machine.memory.other_core_modified_cycles,
        machine.tlb.second_latency_cycles, machine.tlb.walk_level_cycles,
        machine.tlb.walk_last_cycles, machine.core.mispredict_cycles, machine.core.redirect_cycles,
        machine.core.call_cycles}) {
    RETURN_IF_ERROR(check_range("a time in cycles", cycles, 0, 10000));
  }
  RETURN_IF_ERROR(check_range("memory.bytes_per_cycle", machine.memory.bytes_per_cycle, 0.01, 1e4));
  RETURN_IF_ERROR(
      check_range("memory.l2_bytes_per_cycle", machine.memory.l2_bytes_per_cycle, 0.01, 1e4));
  RETURN_IF_ERROR(check_range("memory.shared_bytes_per_cycle",
                              machine.memory.shared_bytes_per_cycle, 0.01, 1e4));
  RETURN_IF_ERROR(check_core(machine.core));
  return check_branch(machine.branch);
}

Result<MachineModel> read_machine(const std::string& path, const MachineModel& rest) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, uint64_t{1} << 20));
  return parse_machine(text, path, rest);
}

}  // namespace culprit::simulate
