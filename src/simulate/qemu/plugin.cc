// SPDX-License-Identifier: GPL-2.0-or-later

// libculprit_qemu.so: the entry that QEMU calls, and what it gives QEMU to call back.
//
//   qemu-x86_64 -plugin libculprit_qemu.so,folder=DIR,words=N[,...] PROGRAM
//
// The words are in plugin_options.h; what is longer is in files in the folder: the machine, the
// region. What QEMU tells goes to a Counting (simulate/counting), which knows no QEMU.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <new>
#include <pthread.h>
#include <stdio.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

#include "base/heap.h"
#include "simulate/counting/counting.h"
#include "simulate/qemu/callbacks.h"
#include "simulate/qemu/exec_takeover.h"
#include "simulate/qemu/plugin_options.h"
#include "simulate/qemu/qemu_events.h"

#define CULPRIT_EXPORT extern "C" __attribute__((visibility("default")))

CULPRIT_EXPORT int qemu_plugin_version;
int qemu_plugin_version = culprit::find_qemu_interface();

namespace culprit {
namespace {

/// QEMU's own command line, of which make_qemu_exec() writes the end.
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

/// The path of this library.
std::string own_path() {
  Dl_info self{};
  ::dladdr(&qemu_plugin_version, &self);
  return self.dli_fname != nullptr ? self.dli_fname : "";
}

/// What the plugin keeps beside the_counting(); made once, never destroyed.
struct Plugin {
  ExecTakeover exec;
  counting::SystemCalls system_calls;
  Callbacks callbacks{};
  uint64_t base = 0;  // where the program's memory begins in ours
  bool knows_base = false;

  Plugin(std::string_view architecture, CommandLine line, const std::string& folder)
      : exec(architecture, std::move(line.emulator), line.program, {own_path(), folder}),
        system_calls(architecture) {}
};

Plugin* plugin = nullptr;

/// The virtual CPU of this thread, in a system call: who forks is known by it.
thread_local unsigned calling = 0;

/// What QEMU says of the program's end does not belong into the program's stderr.
void keep_messages_apart() {
  cookie_io_functions_t functions{};
  functions.write = [](void*, const char* text, size_t size) {
    the_counting().add_message({text, size});
    return static_cast<ssize_t>(size);
  };
  if (FILE* const kept = ::fopencookie(nullptr, "w", functions)) {
    ::setvbuf(kept, nullptr, _IONBF, 0);
    stderr = kept;
  }
}

void core_starts(unsigned vcpu) {
  the_counting().start_thread(vcpu);
}

/// Where the program's memory begins in ours, which QEMU does not tell before it runs.
void learn_base(const qemu_plugin_insn* instruction) {
  plugin->knows_base = true;
  plugin->base = reinterpret_cast<uint64_t>(qemu_plugin_insn_haddr(instruction)) -
                 qemu_plugin_insn_vaddr(instruction);
  the_counting().set_base(plugin->base);
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

void block_is_translated(qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  if (count == 0 || the_counting().is_stopped()) return;
  if (!plugin->knows_base) learn_base(qemu_plugin_tb_get_insn(block, 0));
  std::vector<CodeRoom> rooms(count);
  std::vector<counting::BlockInstruction> code;
  code.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    code.push_back({qemu_plugin_insn_vaddr(instruction), read_code(instruction, rooms[i])});
  }
  const qemu_plugin_insn* const last = qemu_plugin_tb_get_insn(block, count - 1);
  if (shows_cut_instructions() && may_be_cut(code) && !is_whole(last)) code.pop_back();
  std::vector<counting::TranslatedInstruction> translated;
  const counting::BlockFacts* const facts = the_counting().translate(code, &translated);
  if (facts == nullptr) return;
  if (facts->is_round()) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, culprit_round_runs, QEMU_PLUGIN_CB_NO_REGS,
                                         const_cast<counting::BlockFacts*>(facts));
  }
  qemu_plugin_register_vcpu_tb_exec_cb(block, plugin->callbacks.block_runs, QEMU_PLUGIN_CB_NO_REGS,
                                       const_cast<counting::BlockFacts*>(facts));
  if (the_counting().needs_registers(*facts)) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, culprit_state_shows, QEMU_PLUGIN_CB_NO_REGS,
                                         nullptr);
  }
  if (const auto allocator = the_counting().find_allocator(*facts)) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, culprit_allocator_runs, QEMU_PLUGIN_CB_NO_REGS,
                                         to_word(*allocator));
  }
  if (const counting::ConstructEdge* const edge = the_counting().find_construct(*facts)) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, culprit_construct_runs, QEMU_PLUGIN_CB_NO_REGS,
                                         const_cast<counting::ConstructEdge*>(edge));
  }
  if (the_counting().is_call_watched(*facts)) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, code.size() - 1), call_pushes,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, nullptr);
  }
  for (size_t i = 0; i < translated.size(); ++i) {
    const auto& [site, accesses] = translated[i];
    const qemu_plugin_vcpu_mem_cb_t accessed =
        plugin->callbacks.find(the_counting().access_call(*facts, accesses));
    if (accessed == nullptr) continue;
    const auto bytes = std::max(accesses.load_bytes, accesses.store_bytes);
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed,
                                     QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                     to_word({site, static_cast<uint16_t>(i), bytes}));
  }
}

void system_call_begins(unsigned vcpu, int64_t number, const uint64_t (&arguments)[6]) {
  if (the_counting().is_stopped()) return;
  calling = vcpu;
  counting::SystemCall call{number, {}};
  std::copy(std::begin(arguments), std::end(arguments), call.arguments);
  the_counting().begin_system_call(vcpu, call);
  if (const auto exec = plugin->system_calls.find_exec(call)) {
    plugin->exec.take_over(*exec, vcpu, plugin->base, the_counting());
  }
}

void system_call_ends(unsigned vcpu, int64_t number, int64_t result) {
  the_counting().end_system_call(vcpu, number, result);
}

/// Other shared objects are beside this one.
std::string find_beside(const char* library) {
  const std::string own = own_path();
  return own.substr(0, own.rfind('/') + 1) + library;
}

bool install(qemu_plugin_id_t id, const qemu_info_t& info, const PluginOptions& options) {
  const counting::DecodeFunction decode = counting::find_decoder(info.target_name);
  if (decode == nullptr || info.system_emulation) {
    ::fprintf(stderr, "culprit: no support for code of '%s'\n", info.target_name);
    return false;
  }
  const CommandLine line = read_command_line(options.words);
  plugin = new Plugin(info.target_name, line, options.counting.folder);
  set_guest(info.target_name);
  new (&counting_storage.counting) counting::Counting(decode);
  const auto find_mapping = [](uint64_t address) {
    return counting::find_own_mapping(address, plugin->base);
  };
  const Result<void> started =
      the_counting().start(options.counting, {.architecture = info.target_name,
                                              .program = line.program,
                                              .costs_path = find_beside(simulate::kCostsLibrary),
                                              .frames_path = find_beside(objects::kFramesLibrary),
                                              .find_mapping = find_mapping});
  if (!started) {
    ::fprintf(stderr, "culprit: %s\n", started.error().message.c_str());
    return false;
  }
  // The kernel has named this thread after QEMU; threads that it starts inherit its name.
  ::prctl(PR_SET_NAME, line.program.substr(line.program.rfind('/') + 1).c_str());
  plugin->callbacks = make_callbacks();
  keep_messages_apart();
  ::pthread_atfork([] { the_counting().before_fork(); },
                   [] { the_counting().after_fork_in_parent(); },
                   [] { the_counting().after_fork_in_child(calling); });
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
  culprit::put_heap_in_large_pages();
  return culprit::install(id, *info, *options) ? 0 : 1;
}
