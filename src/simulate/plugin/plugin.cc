// SPDX-License-Identifier: GPL-2.0-or-later

// libculprit_qemu.so: the entry that QEMU calls, and what it gives QEMU to call back.
//
//   qemu-x86_64 -plugin libculprit_qemu.so,folder=DIR,words=N[,...] PROGRAM
//
// The words are in plugin_options.h; what is longer is in files in the folder: the machine, the
// region.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>
#include <stdio.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "simulate/plugin/execution.h"
#include "simulate/plugin/interleaving.h"
#include "simulate/plugin/machine_file.h"
#include "simulate/plugin/plugin_options.h"
#include "simulate/plugin/qemu_events.h"
#include "simulate/plugin/region.h"
#include "simulate/plugin/system_calls.h"
#include "simulate/plugin/watched_part.h"

#define CULPRIT_EXPORT extern "C" __attribute__((visibility("default")))

CULPRIT_EXPORT int qemu_plugin_version;
int qemu_plugin_version = culprit::find_qemu_interface();

namespace culprit {
namespace {

/// QEMU's own command line, of which exec_target.cc writes the end.
struct CommandLine {
  std::vector<std::string> emulator;  // its first words, with QEMU's whole path as the first
  std::string program;
};

/// `count`: of the emulator's words; behind them come options with values, then the program.
/// (Not every QEMU tells a plugin of the program: 10.0 is linked without that function.)
CommandLine read_command_line(size_t count) {
  CommandLine line;
  FILE* const file = ::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return line;
  std::string word;
  bool is_value = false;  // of the option before
  for (int c; line.program.empty() && (c = ::getc(file)) != EOF;) {
    if (c != 0) {
      word.push_back(static_cast<char>(c));
      continue;
    }
    if (line.emulator.size() < count) {
      line.emulator.push_back(word);
    } else if (is_value) {
      is_value = false;
    } else if (word.starts_with("-")) {
      is_value = true;
    } else {
      line.program = word;
    }
    word.clear();
  }
  ::fclose(file);
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length > 0 && !line.emulator.empty()) {
    line.emulator.front().assign(path, static_cast<size_t>(length));
  }
  return line;
}

/// All there is; made once, never destroyed: QEMU may call back until the process is gone.
struct Plugin {
  qemu_plugin_id_t id;
  DecodeFunction decode;
  CountsWriter writer;
  Translation translation;
  SystemCalls system_calls;
  Callbacks callbacks{};
  uint32_t sample_classes = 0;        // of --sets
  uint32_t line_transfer_cycles = 0;  // from core to core, if cycles are modelled
  bool records_locality = false;
  bool knows_base = false;
  std::atomic<bool> is_stopped{false};
  std::mutex starting;  // of cores: one at a time

  Plugin(qemu_plugin_id_t plugin_id, std::string_view target, DecodeFunction decoder,
         CommandLine line)
      : id(plugin_id),
        decode(decoder),
        translation(writer, decoder),
        system_calls(target, std::move(line.emulator), line.program, writer, translation) {}
};

Plugin* plugin = nullptr;

/// What QEMU says of the program's end does not belong into the program's stderr.
void keep_messages_apart() {
  cookie_io_functions_t functions{};
  functions.write = [](void*, const char* text, size_t size) {
    plugin->writer.add_message({text, size});
    return static_cast<ssize_t>(size);
  };
  if (FILE* const kept = ::fopencookie(nullptr, "w", functions)) {
    ::setvbuf(kept, nullptr, _IONBF, 0);
    stderr = kept;
  }
}

void core_starts(unsigned vcpu) {
  if (plugin->is_stopped.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(plugin->starting);
  if (!start_core(plugin->writer, vcpu)) ++plugin->writer.header().uncounted_cores;
  expect_thread(vcpu);
}

/// Where the program's memory begins in ours, which QEMU does not tell before it runs.
void learn_base(const qemu_plugin_insn* instruction) {
  plugin->knows_base = true;
  const uint64_t base = reinterpret_cast<uint64_t>(qemu_plugin_insn_haddr(instruction)) -
                        qemu_plugin_insn_vaddr(instruction);
  plugin->translation.set_base(base);
  plugin->system_calls.set_base(base);
}

bool is_whole(const qemu_plugin_insn* instruction) {
  constexpr uint64_t kPage = 4096;
  const uint64_t start = qemu_plugin_insn_vaddr(instruction);
  const uint64_t last_byte = start + qemu_plugin_insn_size(instruction) - 1;
  if (last_byte / kPage != start / kPage) return false;
  char* const text = qemu_plugin_insn_disas(instruction);
  // The disassembler shows bytes that are no instruction as data.
  const bool is_known = text != nullptr && *text != '\0' && *text != '.';
  std::free(text);
  return is_known;
}

/// nullptr: nothing has to be known when it accesses memory.
qemu_plugin_vcpu_mem_cb_t find_callback(const BlockFacts& block, const KnownAccesses& accesses) {
  const Callbacks& callbacks = plugin->callbacks;
  if (!accesses.is_known) return callbacks.memory_is_accessed;
  if (accesses.load_bytes == 0 && accesses.store_bytes == 0) return nullptr;
  const bool does_both = accesses.load_bytes != 0 && accesses.store_bytes != 0;
  if (accesses.in_parts || does_both || block.is_wide) return callbacks.known;
  return accesses.load_bytes != 0 ? callbacks.load : callbacks.store;
}

void block_is_translated(qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  if (count == 0 || plugin->is_stopped.load(std::memory_order_relaxed)) return;
  if (!plugin->knows_base) learn_base(qemu_plugin_tb_get_insn(block, 0));
  std::vector<CodeRoom> rooms(count);
  std::vector<GuestInstruction> code;
  code.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    code.push_back({qemu_plugin_insn_vaddr(instruction), read_code(instruction, rooms[i])});
  }
  const qemu_plugin_insn* const last = qemu_plugin_tb_get_insn(block, count - 1);
  if (shows_cut_instructions() && may_be_cut(code) && !is_whole(last)) code.pop_back();
  std::vector<TranslatedInstruction> translated;
  const BlockFacts* const facts = plugin->translation.translate(code, &translated);
  if (facts == nullptr) return;
  qemu_plugin_register_vcpu_tb_exec_cb(block, plugin->callbacks.block_runs, QEMU_PLUGIN_CB_NO_REGS,
                                       const_cast<BlockFacts*>(facts));
  for (size_t i = 0; i < translated.size(); ++i) {
    const auto& [site, accesses] = translated[i];
    const qemu_plugin_vcpu_mem_cb_t accessed = find_callback(*facts, accesses);
    if (accessed == nullptr) continue;
    const auto bytes = std::max(accesses.load_bytes, accesses.store_bytes);
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     AccessPlace{site, static_cast<uint16_t>(i), bytes}.packed());
  }
}

void system_call_begins(unsigned vcpu, int64_t number, const uint64_t (&arguments)[6]) {
  if (plugin->is_stopped.load(std::memory_order_relaxed)) return;
  begin_call_in_turn(vcpu, plugin->system_calls.announce(number, arguments[0]));
  plugin->system_calls.before(vcpu, number, arguments);
}

void system_call_ends(unsigned vcpu, int64_t number, int64_t result) {
  if (plugin->is_stopped.load(std::memory_order_relaxed)) return;
  plugin->system_calls.after(vcpu, number, result);
  end_call_in_turn(vcpu, result);
}

/// The limit is reached: from here on nothing is counted, and what is translated is left alone.
/// (A trap of QEMU 7.2: a plugin that uninstalls or resets itself while code runs makes it crash.)
void stop() {
  plugin->writer.header().is_stopped = 1;
  plugin->is_stopped.store(true, std::memory_order_relaxed);
  for (unsigned number = 0; number < counts_file::kMaxCores; ++number) forget_core(number);
  stop_interleaving();
}

void forked() {
  plugin->starting.unlock();
  if (plugin->writer.continue_in_child()) {
    renew_clocks();
    if (plugin->records_locality) renew_machine();
    renew_turns();
    return;
  }
  // Nowhere to count: better nothing than into the parent's file.
  for (unsigned number = 0; number < counts_file::kMaxCores; ++number) forget_core(number);
  renew_turns();
}

/// The shared object with the costs of instructions is beside this one.
bool load_costs(const simulate::Machine& machine, const char* target) {
  Dl_info self{};
  ::dladdr(&qemu_plugin_version, &self);
  const std::string own_path = self.dli_fname != nullptr ? self.dli_fname : "";
  const std::string path = own_path.substr(0, own_path.rfind('/') + 1) + simulate::kCostsLibrary;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto make =
      library == nullptr
          ? nullptr
          : reinterpret_cast<simulate::MakeCostSource>(::dlsym(library, simulate::kMakeCostSource));
  if (make == nullptr) {
    ::fprintf(stderr, "culprit: cannot load the costs of instructions: %s\n", ::dlerror());
    return false;
  }
  std::string problem;
  simulate::CostSource* const source = make(target, machine.llvm_cpu.c_str(), problem);
  if (source == nullptr) {
    ::fprintf(stderr, "culprit: %s (llvm_cpu of the machine)\n", problem.c_str());
    return false;
  }
  plugin->translation.set_costs(source, machine.core);
  return true;
}

/// As the host side has described it beside the counts; none is no mistake.
bool make_machine(const PluginOptions& options, const char* target) {
  const std::string path = machine_file_path(options.folder);
  if (!file_exists(path)) return true;
  const Result<simulate::Machine> description = read_machine_file(path);
  if (!description) {
    ::fprintf(stderr, "culprit: %s\n", description.error().message.c_str());
    return false;
  }
  Result<std::unique_ptr<simulate::Hierarchy>> made =
      simulate::Hierarchy::make(*description, {.locality = options.locality,
                                               .sample_sets = options.sample_sets,
                                               .sample_seed = options.sample_seed});
  if (!made) {
    ::fprintf(stderr, "culprit: %s\n", made.error().message.c_str());
    return false;
  }
  plugin->translation.set_lines(description->line_bytes, &(*made)->sample());
  if (!(*made)->sample().is_all()) {
    plugin->sample_classes = (*made)->sample().classes(counts_file::kMostSampleClasses);
  }
  if (options.cycles) {
    plugin->line_transfer_cycles = description->memory.other_core_modified_cycles;
  }
  set_machine(*std::move(made), options.locality, options.cycles);
  return !options.cycles || load_costs(*description, target);
}

/// As the host side has described it beside the counts; none is no mistake.
bool find_region(const PluginOptions& options) {
  const std::string path = region_file_path(options.folder);
  const bool has_region = file_exists(path);
  if (has_region) {
    Result<RegionPlaces> region = read_region_file(path);
    if (!region) {
      ::fprintf(stderr, "culprit: %s\n", region.error().message.c_str());
      return false;
    }
    plugin->translation.set_region(*std::move(region));
  }
  watch_region(has_region, options.skip);
  return true;
}

bool install(qemu_plugin_id_t id, const qemu_info_t& info, const PluginOptions& options) {
  const DecodeFunction decode = find_decoder(info.target_name);
  if (decode == nullptr || info.system_emulation) {
    ::fprintf(stderr, "culprit: no support for code of '%s'\n", info.target_name);
    return false;
  }
  const CommandLine line = read_command_line(options.words);
  plugin = new Plugin(id, info.target_name, decode, line);
  // Before there is a counts file: without one, the host side knows that nothing ran.
  if (!make_machine(options, info.target_name) || !find_region(options)) return false;
  if (!plugin->writer.create(options.folder)) {
    ::fprintf(stderr, "culprit: cannot write counts to '%s': %s\n", options.folder.c_str(),
              ::strerror(errno));
    return false;
  }
  plugin->writer.set_program(line.program);
  plugin->writer.header().has_cycles = options.cycles ? 1 : 0;
  plugin->writer.header().sample_classes = plugin->sample_classes;
  plugin->callbacks = execution_callbacks();
  if (options.deterministic) {
    if (!interleave_threads(plugin->writer, plugin->line_transfer_cycles)) {
      ::fputs("culprit: --deterministic needs Linux 5.9 with /proc/PID/syscall\n", stderr);
      return false;
    }
    plugin->callbacks = callbacks_in_turn(plugin->callbacks);
  }
  plugin->records_locality = options.locality != simulate::Locality::off;
  keep_messages_apart();
  if (options.limit != UINT64_MAX) set_instruction_limit(options.limit, stop);
  ::pthread_atfork([] { plugin->starting.lock(); }, [] { plugin->starting.unlock(); }, forked);
  tell_qemu_events(id, info,
                   {.core_starts = core_starts,
                    .block_is_translated = block_is_translated,
                    .system_call_begins = system_call_begins,
                    .system_call_ends = system_call_ends});
  return true;
}

}  // namespace
}  // namespace culprit

CULPRIT_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int count,
                                       char** words) {
  const auto options = culprit::parse_plugin_options(count, words);
  if (!options) {
    ::fputs("culprit: the plugin is started by `culprit record --engine simulate`\n", stderr);
    return 1;
  }
  if (options->trial) ::_exit(0);
  return culprit::install(id, *info, *options) ? 0 : 1;
}
