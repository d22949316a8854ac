#pragma once

// JitCode: what the JIT compilers of running processes tell of the code they make,
// in jit-PID.dump (with times, code and lines) or /tmp/perf-PID.map (names only).
//
//   process ─→ code objects, as mappings over time  ─→ one image each, made when
//                                                       a sample falls into it
//
// Both files are written by the profiled process: they are opened in its own mount
// namespace, must be regular files that not everybody may write, and are not trusted.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "records/address_spaces.h"
#include "records/jitdump.h"

namespace culprit {

class JitCode {
 public:
  /// Call it while the process lives, when code without a file is first seen in it.
  void watch(uint32_t pid);
  /// `path` was mapped: if it is a jitdump, it is read from now on.
  void note_mapping(uint32_t pid, const std::string& path);
  /// A forked child runs what its parent made.
  void fork(uint32_t parent_pid, uint32_t pid);
  [[nodiscard]] bool is_watched(uint32_t pid) const { return processes_.contains(pid); }

  /// Reads what has been added to the files of `pid` since the last time.
  void refresh(uint32_t pid);
  /// The code object at `address` then. Times should ascend; a time after the last one known
  /// means "now".
  std::optional<Location> locate(uint32_t pid, RunAddress address, uint64_t time_ns,
                                 ProfileBuilder& builder);
  void forget(uint32_t pid) { processes_.erase(pid); }

  [[nodiscard]] std::vector<std::pair<ImageId, ImageFacts>> release_facts() {
    return std::move(facts_);
  }

 private:
  struct CodeObject {
    RunAddress start;  // where it was made; lines count from here
    uint64_t size_bytes = 0;
    std::string name;
    std::string code;
    std::vector<JitLine> lines;
    uint64_t born_ns = 0;
    bool is_from_dump = false;
    ImageId image;
  };
  struct Process {
    uint32_t pid_inside = 0;  // in its own pid namespace
    uint32_t parent_pid = 0;  // 0: code of its own only
    Fd root;
    uint64_t map_read_bytes = 0;
    bool dump_is_damaged = false;
    std::optional<JitdumpHeader> dump_header;
    Fd dump;
    uint64_t dump_read_bytes = 0;
    std::vector<JitLine> lines_of_next;
    std::vector<std::pair<uint64_t, Mapping>> changes;  // from the dump, not yet applied
    size_t changes_applied = 0;
    std::vector<CodeObject> objects;
    AddressSpaces code;  // one space, 0: `file` is an index of `objects`
  };

  void read_map(Process& process, uint32_t pid);
  void read_dump(Process& process);
  static void add_change(Process& process, uint64_t time_ns, const Mapping& mapping);
  void apply(Process& process, JitLoad& load);
  void apply(Process& process, const JitMove& move);
  static void advance(Process& process, uint64_t time_ns);
  ImageId make_image(CodeObject& object, ProfileBuilder& builder);

  std::map<uint32_t, std::unique_ptr<Process>> processes_;
  std::map<std::string, ImageId> images_;  // by content hash
  std::vector<std::pair<ImageId, ImageFacts>> facts_;
};

}  // namespace culprit
