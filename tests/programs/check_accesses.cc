// A plugin for QEMU that compares what each instruction of a program accessed with what
// find_accesses() says that it does each time.
//
//   qemu-x86_64 -plugin ./check_accesses.so,report=FILE PROGRAM
//   qemu-x86_64 -plugin ./check_accesses.so,each=FILE PROGRAM
//
// FILE gets a line per instruction that did something else, and a summary; or (`each`) a line per
// instruction: its address, executions, bytes loaded and stored as Culprit counts them. Of one
// thread.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulate/counting/code_facts.h"
#include "simulate/qemu/qemu_events.h"

extern "C" {
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, qemu_plugin_vcpu_udata_cb_t,
                                            qemu_plugin_cb_flags, void* data);
}

namespace {

struct Instruction {
  culprit::counting::KnownAccesses known;
  std::string text;
  uint64_t executions = 0;
  uint64_t loads = 0;  // as QEMU shows them, in parts
  uint64_t stores = 0;
  uint64_t load_bytes = 0;
  uint64_t store_bytes = 0;

  bool is_as_known() const {
    if (known.is_shown_wider) return load_bytes >= executions * known.load_bytes;
    const bool are_whole = known.in_parts || (loads == (known.load_bytes != 0 ? executions : 0) &&
                                              stores == (known.store_bytes != 0 ? executions : 0));
    return are_whole && load_bytes == executions * known.load_bytes &&
           store_bytes == executions * known.store_bytes;
  }
};

std::map<std::pair<uint64_t, std::vector<uint8_t>>, Instruction> instructions;
culprit::counting::DecodeFunction decode = nullptr;
std::string report;
bool reports_each = false;

void runs(unsigned, void* data) {
  ++static_cast<Instruction*>(data)->executions;
}

void accesses(unsigned, qemu_plugin_meminfo_t info, uint64_t, void* data) {
  auto& instruction = *static_cast<Instruction*>(data);
  const uint64_t bytes = uint64_t{1} << qemu_plugin_mem_size_shift(info);
  const bool is_store = qemu_plugin_mem_is_store(info);
  ++(is_store ? instruction.stores : instruction.loads);
  (is_store ? instruction.store_bytes : instruction.load_bytes) += bytes;
}

void is_translated(qemu_plugin_tb* block) {
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    qemu_plugin_insn* const one = qemu_plugin_tb_get_insn(block, i);
    culprit::CodeRoom room;
    const std::span<const uint8_t> bytes = culprit::read_code(one, room);
    std::vector<uint8_t> code(bytes.begin(), bytes.end());
    const culprit::counting::KnownAccesses known = decode(code).accesses;
    Instruction& instruction = instructions[{qemu_plugin_insn_vaddr(one), std::move(code)}];
    if (instruction.text.empty()) {
      char* const text = qemu_plugin_insn_disas(one);
      instruction.known = known;
      instruction.text = text;
      std::free(text);
    }
    qemu_plugin_register_vcpu_insn_exec_cb(one, runs, QEMU_PLUGIN_CB_NO_REGS, &instruction);
    qemu_plugin_register_vcpu_mem_cb(one, accesses, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     &instruction);
  }
}

void print_each(FILE* file) {
  for (const auto& [place, one] : instructions) {
    const auto counted = [&](uint64_t shown, uint8_t bytes) {
      return one.known.is_known ? one.executions * bytes : shown;
    };
    std::fprintf(file, "%#lx %lu %lu %lu\n", place.first, one.executions,
                 counted(one.load_bytes, one.known.load_bytes),
                 counted(one.store_bytes, one.known.store_bytes));
  }
}

void print_differing(FILE* file) {
  uint64_t all_bytes = 0;
  uint64_t known_bytes = 0;
  uint64_t known = 0;
  for (const auto& [place, one] : instructions) {
    all_bytes += one.load_bytes + one.store_bytes;
    if (!one.known.is_known) continue;
    ++known;
    known_bytes += one.load_bytes + one.store_bytes;
    if (one.is_as_known()) continue;
    std::fprintf(file,
                 "differs: %s at %#lx, %lu times: loads %lu bytes, not %u; stores %lu, not %u;",
                 one.text.c_str(), place.first, one.executions, one.load_bytes,
                 one.known.load_bytes, one.store_bytes, one.known.store_bytes);
    for (const uint8_t byte : place.second) std::fprintf(file, " %02x", byte);
    std::fprintf(file, "\n");
  }
  std::fprintf(file, "%zu instructions, %lu known, %lu of %lu bytes by these\n",
               instructions.size(), known, known_bytes, all_bytes);
}

void write_report() {
  FILE* const file = std::fopen(report.c_str(), "w");
  if (file == nullptr) return;
  reports_each ? print_each(file) : print_differing(file);
  std::fclose(file);
}

}  // namespace

extern "C" {
int qemu_plugin_version = culprit::find_qemu_interface();
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int count, char** words) {
  decode = culprit::counting::find_decoder(info->target_name);
  if (count != 1 || decode == nullptr) return 1;
  reports_each = std::strncmp(words[0], "each=", 5) == 0;
  if (!reports_each && std::strncmp(words[0], "report=", 7) != 0) return 1;
  report = std::strchr(words[0], '=') + 1;
  culprit::tell_qemu_events(id, *info,
                            {.block_is_translated = is_translated, .program_exits = write_report});
  return 0;
}
}
