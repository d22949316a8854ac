// Walks the user stacks in a perf.data file that `perf record --call-graph dwarf` wrote, for
// bench/unwind.sh and tests/unwind_test.py, which compare them with `perf script`'s.
//
//   unwind_perf_data FILE           one line per sample: time in ns, thread, and the frames as
//                                   offsets in their files, which is how perf script prints them
//   unwind_perf_data FILE --bench   only how many samples a second

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/vdso.h"
#include "perfdata/perf_data_file.h"
#include "perfdata/user_records.h"
#include "records/parse_record.h"
#include "unwind/unwinder.h"

namespace culprit {
namespace {

struct KeptRecord {
  Record record;
  HeldBlock block;  // the bytes that it views
};

/// The kernel's records in a perf.data file, in the order of time.
Result<std::vector<KeptRecord>> read_perf_data(const std::string& path) {
  ASSIGN_OR_RETURN(RecordingInput input, open_recording(path));
  ASSIGN_OR_RETURN(PerfDataFile file, PerfDataFile::open(std::move(input)));
  std::vector<KeptRecord> records;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<RawRecord> raw, file.next());
    if (!raw) break;
    if (raw->header.type >= kFirstUserRecord) continue;
    const auto event = file.attributes().find_event(raw->bytes, raw->header.type);
    if (!event) return Error{"a record of an unknown event"};
    const RecordLayout& layout = file.attributes().events()[*event].attr.layout;
    ASSIGN_OR_RETURN(Record record, parse_record(raw->bytes, layout));
    records.push_back({std::move(record), file.hold()});
  }
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return a.record.origin.time_ns < b.record.origin.time_ns;
  });
  return records;
}

class Files {
 public:
  FileKey intern(const std::string& path) {
    const auto [at, is_new] = keys_.try_emplace(path, static_cast<FileKey>(paths_.size()));
    if (is_new) paths_.push_back(path);
    return at->second;
  }
  [[nodiscard]] std::optional<Fd> open(FileKey key) const {
    if (paths_[key] == "[vdso]") {
      const std::string bytes = read_own_vdso().value_or("");
      Fd memory(::memfd_create("vdso", MFD_CLOEXEC));
      if (::write(memory.get(), bytes.data(), bytes.size()) < 0) return std::nullopt;
      return memory;
    }
    Result<Fd> file = open_readable(paths_[key]);
    return file ? std::optional(*std::move(file)) : std::nullopt;
  }

 private:
  std::map<std::string, FileKey> keys_;
  std::vector<std::string> paths_;
};

class Replay {
 public:
  explicit Replay(bool prints)
      : prints_(prints), unwinder_("x86_64", [this](uint32_t, const Mapping& mapping) {
          return files_.open(mapping.file);
        }) {}

  void process(const Record& record) {
    if (const auto* map = std::get_if<MmapRecord>(&record.body)) {
      if (!map->executable || map->mode == Mode::kernel) return;
      const uint64_t offset = map->path == "[vdso]" ? 0 : map->file_offset;
      spaces_.map(map->pid,
                  {map->start, map->start + map->length, offset, files_.intern(map->path)});
    } else if (const auto* comm = std::get_if<CommRecord>(&record.body)) {
      if (comm->exec) spaces_.clear(comm->pid);
    } else if (const auto* fork = std::get_if<ForkRecord>(&record.body)) {
      if (fork->pid != fork->parent_pid) spaces_.fork(fork->parent_pid, fork->pid);
    } else if (const auto* sample = std::get_if<SampleRecord>(&record.body)) {
      process(*sample, record.origin);
    }
  }

  uint64_t samples = 0;
  uint64_t frames = 0;
  std::map<UnwindStop, uint64_t> stops;

 private:
  void process(const SampleRecord& sample, const RecordOrigin& origin) {
    const UnwoundStack stack =
        unwinder_.unwind(origin.pid, spaces_, sample.user_registers, sample.user_stack);
    ++samples;
    frames += stack.frames.size();
    ++stops[stack.stop];
    if (!prints_) return;
    fmt::print("{} {}", origin.time_ns, origin.tid);
    for (const CallFrame& frame : stack.frames) {
      const Mapping* const mapping = spaces_.find(origin.pid, frame.address);
      const uint64_t start = mapping != nullptr ? mapping->start.value : 0;
      const uint64_t offset = mapping != nullptr ? mapping->file_offset : 0;
      fmt::print(" {:x}", frame.address.value - start + offset);
    }
    fmt::print("\n");
  }

  bool prints_;
  Files files_;
  AddressSpaces spaces_;
  Unwinder unwinder_;
};

int run(const char* path, bool is_bench) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<std::vector<KeptRecord>> records = read_perf_data(path);
  if (!records) return fmt::print(stderr, "{}\n", records.error().message), 1;
  Replay replay(!is_bench);
  for (const KeptRecord& kept : *records) replay.process(kept.record);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (!is_bench) return 0;
  fmt::print("{} samples, {} frames in {:.4f} s: {:.0f} samples/s\n", replay.samples, replay.frames,
             time.count(), static_cast<double>(replay.samples) / time.count());
  for (const auto& [stop, count] : replay.stops) {
    const LedgerKind* const kind = find_stop_kind(stop);
    fmt::print("  {} {}\n", count, kind != nullptr ? kind->text : "whole");
  }
  return 0;
}

}  // namespace
}  // namespace culprit

int main(int count, char** words) {
  if (count < 2) return fmt::print(stderr, "usage: unwind_perf_data FILE [--bench]\n"), 2;
  return culprit::run(words[1], count > 2 && std::strcmp(words[2], "--bench") == 0);
}
