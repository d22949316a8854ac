// Machine files: what each key means, and what is allowed for it.

#include <fmt/format.h>

#include "base/text.h"
#include "simulate/machine/machine.h"
#include "toml/toml_section.h"

namespace culprit::simulate {
namespace {

constexpr uint64_t kMostCycles = 10000;

void read_cache(TomlSection section, CacheGeometry& cache) {
  section.integer("size_kib", cache.size_bytes, 0, 4 << 20, 1024);
  section.integer("ways", cache.ways, 1, 64);
  section.choice<Replacement>(
      "replacement", cache.replacement,
      {{"lru", Replacement::lru}, {"plru", Replacement::plru}, {"random", Replacement::random}});
  section.choice<Inclusion>("inclusion", cache.inclusion,
                            {{"non-inclusive", Inclusion::non_inclusive},
                             {"inclusive", Inclusion::inclusive},
                             {"victim", Inclusion::victim}});
  section.integer("latency_cycles", cache.latency_cycles, 0, kMostCycles);
  section.end();
}

void read_tlb_level(TomlSection section, TlbGeometry& tlb) {
  section.integer("entries", tlb.entries, 0, 1 << 20);
  section.integer("ways", tlb.ways, 1, 1 << 20);
  section.end();
}

void read_tlb(TomlSection section, TlbSettings& tlb) {
  read_tlb_level(section.section("instruction"), tlb.instruction);
  read_tlb_level(section.section("data"), tlb.data);
  read_tlb_level(section.section("second"), tlb.second);
  section.integer("second_latency_cycles", tlb.second_latency_cycles, 0, kMostCycles);
  section.integer("walk_level_cycles", tlb.walk_level_cycles, 0, kMostCycles);
  section.integer("walk_last_cycles", tlb.walk_last_cycles, 0, kMostCycles);
  section.end();
}

void read_prefetch(TomlSection section, PrefetchSettings& prefetch) {
  section.boolean("stream", prefetch.stream);
  section.integer("stream_lines", prefetch.stream_lines, 1, 64);
  section.boolean("stream_crosses_pages", prefetch.stream_crosses_pages);
  section.boolean("stride", prefetch.stride);
  section.integer("stride_steps", prefetch.stride_steps, 1, 16);
  section.integer("code_lines", prefetch.code_lines, 0, 16);
  section.end();
}

void read_branch(TomlSection section, BranchSettings& branch) {
  section.integer("bimodal_entries", branch.bimodal_entries, 1, 1 << 24);
  section.integer("history_tables", branch.history_tables, 0, 8);
  section.integer("history_entries", branch.history_entries, 2, 1 << 13);
  section.integer("shortest_history", branch.shortest_history, 1, 1000);
  section.integer("longest_history", branch.longest_history, 1, 1000);
  section.integer("target_entries", branch.target_entries, 1, 1 << 24);
  section.integer("target_ways", branch.target_ways, 1, 64);
  section.integer("indirect_entries", branch.indirect_entries, 2, 1 << 20);
  section.integer("return_stack", branch.return_stack, 1, 1 << 16);
  section.end();
}

void read_core(TomlSection section, CoreSettings& core) {
  section.integer("dispatch_width", core.dispatch_width, 1, 16);
  section.integer("reorder_buffer", core.reorder_buffer, 1, 4096);
  section.integer("scheduler", core.scheduler, 1, 4096);
  section.integer("load_queue", core.load_queue, 1, 4096);
  section.integer("store_queue", core.store_queue, 1, 4096);
  section.integer("stores_per_cycle", core.stores_per_cycle, 1, 4);
  section.integer("miss_buffers", core.miss_buffers, 1, 1024);
  section.integer("fetch_queue", core.fetch_queue, 0, 4096);
  section.integer("ports", core.ports, 1, 64);
  section.integer("mispredict_cycles", core.mispredict_cycles, 0, kMostCycles);
  section.integer("redirect_cycles", core.redirect_cycles, 0, kMostCycles);
  section.integer("store_forward_cycles", core.store_forward_cycles, 0, kMostCycles);
  section.boolean("renamed_memory", core.renamed_memory);
  section.integer("forward_refused_cycles", core.forward_refused_cycles, 0, kMostCycles);
  section.integer("alias_cycles", core.alias_cycles, 0, kMostCycles);
  section.integer("call_cycles", core.call_cycles, 0, kMostCycles);
  section.integer("threads", core.threads, 1, 8);
  section.end();
}

void read_instructions(TomlSection section, InstructionTimings& timings) {
  for (const InstructionLoop& loop : instruction_loops()) {
    TomlSection timing = section.section(loop.name);
    timing.number("latency_cycles", timings[loop.kind].latency_cycles, 0, kMostCycles);
    timing.number("cycles", timings[loop.kind].cycles, 0, kMostCycles);
    timing.end();
  }
  section.end();
}

void read_strings(TomlSection section, StringSettings& strings) {
  section.integer("copy_start_cycles", strings.copy_start_cycles, 0, kMostCycles);
  section.integer("fill_start_cycles", strings.fill_start_cycles, 0, kMostCycles);
  section.number("copy_bytes_per_cycle", strings.copy_bytes_per_cycle, 0.01, kMostCycles);
  section.number("fill_bytes_per_cycle", strings.fill_bytes_per_cycle, 0.01, kMostCycles);
  section.number("round_cycles", strings.round_cycles, 0, kMostCycles);
  section.integer("round_distance_bytes", strings.round_distance_bytes, 1, 4096);
  section.boolean("round_distance_in_page", strings.round_distance_in_page);
  section.end();
}

void read_memory(TomlSection section, MemorySettings& memory) {
  section.integer("latency_cycles", memory.latency_cycles, 0, kMostCycles);
  section.number("bytes_per_cycle", memory.bytes_per_cycle, 0.01, 10000);
  section.number("l2_bytes_per_cycle", memory.l2_bytes_per_cycle, 0.01, 10000);
  section.number("shared_bytes_per_cycle", memory.shared_bytes_per_cycle, 0.01, 10000);
  section.integer("l1d_set_cycles", memory.l1d_set_cycles, 0, kMostCycles);
  section.integer("other_core_clean_cycles", memory.other_core_clean_cycles, 0, kMostCycles);
  section.integer("other_core_modified_cycles", memory.other_core_modified_cycles, 0, kMostCycles);
  section.end();
}

}  // namespace

Result<MachineModel> parse_machine(std::string_view text, const std::string& name,
                                   const MachineModel& rest) {
  TomlFile parsed = parse_toml(text, name);
  MachineModel machine = rest;
  std::string source;  // of the figures, for people
  TomlSection file(parsed);
  file.text("name", machine.name);
  file.text("llvm_cpu", machine.llvm_cpu);
  file.text("source", source);
  file.texts("cpu", machine.cpu);
  file.texts("nearest_for", machine.nearest_for);
  file.text("calibrated_cpu", machine.calibrated_cpu);
  file.text("calibrated_date", machine.calibrated_date);
  file.integer("line_bytes", machine.line_bytes, 16, 128);
  read_cache(file.section("l1i"), machine.l1i);
  read_cache(file.section("l1d"), machine.l1d);
  read_cache(file.section("l2"), machine.l2);
  read_cache(file.section("l3"), machine.l3);
  read_tlb(file.section("tlb"), machine.tlb);
  read_prefetch(file.section("prefetch"), machine.prefetch);
  read_branch(file.section("branch"), machine.branch);
  read_core(file.section("core"), machine.core);
  read_instructions(file.section("instructions"), machine.core.instructions);
  read_strings(file.section("strings"), machine.core.strings);
  read_memory(file.section("memory"), machine.memory);
  file.end();
  if (parsed.mistake) return parsed.mistake->error();
  if (Result<void> checked = check_machine(machine); !checked) {
    return Error{printable(name) + ": " + checked.error().message, ErrorKind::bad_input};
  }
  return machine;
}

}  // namespace culprit::simulate
