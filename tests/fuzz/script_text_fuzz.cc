// libFuzzer target: the text of perf script, as a file from anywhere.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "perfdata/script_importer.h"

namespace {

using namespace culprit;

constexpr const char* kSeed =
    "# hostname : vm\n"
    "# event : name = cycles:u, , id = { 5 }, type = 0, config = 0x0, branch_sample_type = ANY\n"
    "t 12 1.000000: PERF_RECORD_COMM exec: t:12/12\n"
    "t 12 1.000001: PERF_RECORD_MMAP2 12/12: [0x559d58d97000(0x4000) @ 0x1000 fe:00 9 1]: r-xp "
    "/bin/t\n"
    "t 12 1.000002: PERF_RECORD_FORK(13:13):(12:12)\n"
    "t 12/12 [000] 1.000003: 250 cycles:u: \n"
    "\t            2011 f+0x11 (/bin/t)\n"
    "\t            2011 g (inlined)\n"
    "\tffffffff81000010 read+0x10 ([kernel.kallsyms])\n\n"
    "t 13 1.000004: 250 cycles:u:      559d58d98011 f+0x11 (/bin/t) "
    "0x559d58d98011(/bin/t)/0x559d58d98001(/bin/t)/P/-/-/3\n"
    "t 13 1.000005: 1 mem:  55ffba5cda08  11868100242 |OP LOAD|LVL L1|BLK  N/A  225  0 "
    "ffffffffa4470d46 [unknown] ([kernel.kallsyms])\n"
    "t 13 1.000006: 1 branches:  jmp  401136 main+0x6 (/bin/x) =>  401020 puts+0x0 (/lib/x+0x12)\n"
    "t 13 1.000007: PERF_RECORD_EXIT(13:13):(12:12)\n"
    "t 12 1.000008: sched:sched_switch: prev_comm=a ==> next_comm=b\n";

}  // namespace

/// Starts from one text that has a line of every kind.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (*count < 2) return 0;
  const std::filesystem::path corpus((*arguments)[*count - 1]);
  std::error_code error;
  if (std::filesystem::is_directory(corpus, error)) {
    std::ofstream(corpus / "seed", std::ios::binary) << kSeed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)is_script_text(text);
  ScriptLines lines(Fd(::memfd_create("empty", MFD_CLOEXEC)), text);
  const ImportTools tools;
  const ImportSink sink;
  const ImportProgress progress;
  const auto imported = ScriptImporter(lines, size, tools, sink, progress).run();
  if (!imported) return 0;
  // Every sample that was counted is in the histograms.
  uint64_t samples = 0;
  for (const Histogram& histogram : imported->profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      for (const uint64_t count : column.samples) samples += count;
    }
  }
  if (samples != imported->samples) __builtin_trap();
  for (const auto& [image, facts] : imported->facts) {
    for (size_t i = 0; i < facts.functions.size(); ++i) {
      const FunctionFact& function = facts.functions[i];
      if (function.end <= function.begin) __builtin_trap();
      if (i > 0 && function.begin < facts.functions[i - 1].end) __builtin_trap();
    }
  }
  return 0;
}
