#pragma once

// The kernel's event records as values, one struct per kind, and Record, which
// is any of them. parse_record() (parse_record.h) makes them from bytes.
//
// Names follow perf_event_open(2). Fields that the event's sample_type does not
// ask for keep their defaults.

#include <array>
#include <cstddef>
#include <cstdint>
#include <linux/perf_event.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/address.h"
#include "model/profile.h"

namespace culprit {

/// What identifies a record's origin: the sample_id trailer, or the sample itself.
struct RecordOrigin {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t time_ns = 0;
  uint64_t id = 0;
  uint64_t stream_id = 0;
  uint32_t cpu = 0;
};

/// MMAP and MMAP2: `length` bytes at `start` show the file's bytes from `file_offset` on.
struct MmapRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  RunAddress start;
  uint64_t length = 0;
  uint64_t file_offset = 0;
  bool executable = false;
  Mode mode = Mode::all;      // kernel: the kernel's or a module's text
  uint32_t device_major = 0;  // inode identity; 0 if the record has a build-id or neither
  uint32_t device_minor = 0;
  uint64_t inode = 0;
  std::string build_id;  // lower-case hexadecimal
  std::string path;
};

struct CommRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool exec = false;  // a new program, not just a new name
  std::string name;
};

/// FORK and EXIT have the same fields. A fork with pid == parent_pid is a new thread.
struct TaskFields {
  uint32_t pid = 0;
  uint32_t parent_pid = 0;
  uint32_t tid = 0;
  uint32_t parent_tid = 0;
  uint64_t time_ns = 0;
};
struct ForkRecord : TaskFields {};
struct ExitRecord : TaskFields {};

/// LOST: `lost` records of any kind did not fit into the ring.
struct LostRecord {
  uint64_t id = 0;
  uint64_t lost = 0;
};
struct LostSamplesRecord {
  uint64_t lost = 0;
};

struct ThrottleRecord {
  bool throttled = false;  // false: unthrottled again
  uint64_t time_ns = 0;
  uint64_t id = 0;
};

struct SwitchRecord {
  bool out = false;
  bool preempted = false;
  uint32_t other_pid = 0;  // SWITCH_CPU_WIDE: next or previous task
  uint32_t other_tid = 0;
};

struct NamespacesRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  std::vector<std::pair<uint64_t, uint64_t>> namespaces;  // device, inode; in the kernel's order
};

struct CgroupRecord {
  uint64_t id = 0;
  std::string path;
};

/// Kernel code that came or went at run time: a BPF program, a trampoline.
struct KsymbolRecord {
  RunAddress start;
  uint64_t length = 0;
  uint16_t type = 0;  // PERF_RECORD_KSYMBOL_TYPE_*
  bool unregistered = false;
  std::string name;
};

/// One event's value in a READ record or sample.
struct ReadValue {
  uint64_t value = 0;
  uint64_t id = 0;
  uint64_t lost = 0;
};
struct ReadFields {
  uint64_t time_enabled_ns = 0;
  uint64_t time_running_ns = 0;
  std::vector<ReadValue> values;
};
struct ReadRecord {
  uint32_t pid = 0;
  uint32_t tid = 0;
  ReadFields read;
};

struct BranchEntry {
  RunAddress from;
  RunAddress to;
  bool mispredicted = false;
  bool predicted = false;  // neither: the CPU does not say
  uint32_t cycles = 0;     // since the branch before; 0: not given
};

/// Registers of a task: `values[i]` belongs to the i-th set bit of `mask`.
struct RegisterDump {
  uint64_t abi = 0;  // 0: none were taken
  uint64_t mask = 0;
  std::vector<uint64_t> values;
};

/// Bytes of a record are views: they live as long as the bytes it was parsed from.
struct SampleRecord {
  RunAddress ip;
  uint64_t data_address = 0;
  uint64_t period = 0;
  Mode mode = Mode::all;
  bool exact_ip = false;
  ReadFields read;
  std::vector<uint64_t> callchain;  // with context markers (callchain.h)
  std::span<const std::byte> raw;
  std::vector<BranchEntry> branches;
  RegisterDump user_registers;
  std::span<const std::byte> user_stack;
  uint64_t weight = 0;              // latency or cost, as the event defines it
  uint64_t instruction_weight = 0;  // WEIGHT_STRUCT: of the whole instruction
  uint64_t data_source = 0;
  uint64_t transaction = 0;
  RegisterDump interrupted_registers;
  uint64_t physical_address = 0;
  uint64_t cgroup = 0;
  uint64_t data_page_size = 0;
  uint64_t code_page_size = 0;
  std::span<const std::byte> aux;
};

/// A kind that nothing reads yet: known to the kernel, not to us.
struct UnknownRecord {
  uint32_t type = 0;
};

using RecordBody =
    std::variant<UnknownRecord, MmapRecord, CommRecord, ForkRecord, ExitRecord, LostRecord,
                 LostSamplesRecord, ThrottleRecord, SwitchRecord, NamespacesRecord, CgroupRecord,
                 KsymbolRecord, ReadRecord, SampleRecord>;

struct Record {
  RecordOrigin origin;
  RecordBody body;
};

}  // namespace culprit
