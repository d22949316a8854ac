#pragma once

// One line of `perf script`'s text, in its parts. Views are into the line.
//
//   t  6245/6245 [001]  8777.765435:    2000000 cpu-clock:  ffffffff816f mangle_path+0x9c
//   ([kernel]) └──────── ScriptHead ─────────┘     └──── event ────┘   └──────── ScriptFrame
//   ──────────────┘
//
// perf has no grammar for it: names of tasks and functions may hold spaces and brackets, and
// which fields there are is the user's choice (-F). What is sure is the time, which
// nothing else looks like, and the dso, which is last in brackets.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "records/record.h"

namespace culprit {

/// What a line of any kind begins with.
struct ScriptHead {
  std::string_view comm;
  std::optional<uint32_t> pid;  // often the tid alone is printed
  uint32_t tid = 0;
  uint32_t cpu = 0;
  uint64_t time_ns = 0;
  std::string_view rest;  // after the time
};

/// nullopt: it does not begin like one (no tid, or no time).
std::optional<ScriptHead> find_script_head(std::string_view line);

/// An address and what perf made of it. Texts are "" where they are not there or [unknown].
struct ScriptFrame {
  uint64_t address = 0;
  std::string_view symbol;
  std::optional<uint64_t> symbol_offset;
  std::string_view dso;
  std::optional<uint64_t> dso_offset;  // -F +dsoff: the offset in the file
  bool is_inlined = false;             // in the frame that follows, at the same address
};

/// "ffffffff816f857c mangle_path+0x9c ([kernel.kallsyms])"; all after the address may be missing.
std::optional<ScriptFrame> parse_script_frame(std::string_view text);

/// What follows the head of a sample.
struct ScriptSample {
  std::string_view event;  // with its modifiers, without the last colon
  std::optional<uint64_t> period;
  std::optional<ScriptFrame> frame;   // none: a callchain follows, or ip was not asked for
  std::optional<ScriptFrame> target;  // "=> 401000 main": where a branch went
  uint64_t data_address = 0;
  uint64_t data_source = 0;
  uint64_t weight = 0;
  uint64_t instruction_weight = 0;
  std::string_view branches;    // the branch list, see parse_script_branches()
  bool has_trace_text = false;  // of a tracepoint, or flags of a branch: not read
};

std::optional<ScriptSample> parse_script_sample(std::string_view rest);

/// "0x401481/0x401470/P/-/-/0  0x401c4c(/bin/x)/0x401c77(/bin/x)/M/-/-/12 ...", latest first.
/// nullopt: entries without addresses (brstacksym, brstackoff), or damaged.
std::optional<std::vector<BranchEntry>> parse_script_branches(std::string_view text);

}  // namespace culprit
