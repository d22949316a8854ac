#pragma once

// JitCode: what the JIT compilers of running processes tell of the code they make,
// in jit-PID.dump (with times, code and lines) or /tmp/perf-PID.map (names only).
//
//   process ─→ code objects, as mappings over time  ─→ one image each, made when
//                                                       a sample falls into it
//
// Both files are written by the profiled process, or by whoever has the name first: they are
// opened in its own mount namespace, must be regular files of its user's or root's that not
// everybody may write, are read up to a limit, and are not trusted. The ledger has what was not
// read.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "recording/code_ranges.h"
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

  /// Files that were not believed, and those that were too large.
  void add_to(Ledger& ledger) const;

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
  /// How far a file was read, and why no further.
  struct Reading {
    uint64_t consumed_bytes = 0;
    uint64_t read_bytes = 0;  // some twice: a last record that was not complete
    bool is_refused = false;
    bool is_over = false;
  };
  struct Process {
    uint32_t pid_inside = 0;  // in its own pid namespace
    std::optional<uid_t> user;
    uint32_t parent_pid = 0;  // 0: code of its own only
    Fd root;
    Reading map;
    Reading dump;
    std::optional<JitdumpHeader> dump_header;
    Fd dump_file;
    std::vector<JitLine> lines_of_next;
    std::vector<std::pair<uint64_t, Mapping>> changes;  // from the dump, not yet applied
    size_t changes_applied = 0;
    std::unordered_map<uint64_t, FileKey> made_at;  // where the dump last put an object
    std::vector<CodeObject> objects;
    CodeRanges code;  // `file` is an index of `objects`
  };

  void read_map(Process& process, uint32_t pid);
  void read_dump(Process& process);
  /// Opens a file of the process's, if it is to be believed.
  Fd open(Process& process, uint32_t pid, const Fd& root, const std::string& path,
          Reading& reading);
  /// What has been added to the file, as far as the limits go.
  std::string read(const Fd& fd, uint64_t limit_bytes, Reading& reading);
  /// Room for one more code object; else the reading is over.
  bool has_room(Process& process, Reading& reading);
  void end(Reading& reading);
  static void add_change(Process& process, uint64_t time_ns, const Mapping& mapping);
  void apply(Process& process, JitLoad& load);
  void apply(Process& process, const JitMove& move);
  static void advance(Process& process, uint64_t time_ns);
  ImageId make_image(CodeObject& object, ProfileBuilder& builder);

  std::map<uint32_t, std::unique_ptr<Process>> processes_;
  std::map<std::string, ImageId> images_;    // by content hash
  uint64_t bytes_left_ = uint64_t{1} << 30;  // of all files of all processes
  uint64_t objects_left_ = uint64_t{4} << 20;
  uint64_t refused_files_ = 0;
  uint64_t cut_files_ = 0;
  std::vector<std::pair<ImageId, ImageFacts>> facts_;
};

}  // namespace culprit
