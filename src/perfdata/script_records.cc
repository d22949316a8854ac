#include "perfdata/script_records.h"

#include <linux/perf_event.h>

#include "perfdata/script_words.h"

namespace culprit {

namespace {

/// Walks through the text of one record; after a mismatch nothing more is read.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  void expect(std::string_view words) { is_good_ = is_good_ && skip(text_, words); }
  bool accept(std::string_view words) { return is_good_ && skip(text_, words); }
  /// All up to `end`, which is passed over.
  std::string_view take_until(std::string_view end) {
    const size_t at = is_good_ ? text_.find(end) : text_.npos;
    is_good_ = at != text_.npos;
    if (!is_good_) return {};
    const std::string_view field = text_.substr(0, at);
    text_.remove_prefix(at + end.size());
    return field;
  }
  uint64_t take_hex(std::string_view end) { return check(find_hex(take_until(end))); }
  uint64_t take_number(std::string_view end) { return check(find_number(take_until(end), 10)); }
  /// A pid or tid; -1 is the kernel's.
  uint32_t take_id(std::string_view end) {
    const std::string_view field = take_until(end);
    if (field == "-1") return UINT32_MAX;
    return static_cast<uint32_t>(check(find_id(field)));
  }
  [[nodiscard]] std::string_view rest() const { return text_; }
  void fail() { is_good_ = false; }
  [[nodiscard]] bool is_good() const { return is_good_; }

 private:
  template <class Number>
  uint64_t check(std::optional<Number> number) {
    is_good_ = is_good_ && number.has_value();
    return number.value_or(0);
  }

  std::string_view text_;
  bool is_good_ = true;
};

template <class Body>
std::optional<RecordBody> finish(const Fields& fields, Body body) {
  if (!fields.is_good()) return std::nullopt;
  return body;
}

/// "fe:00 10977867 4214124353]" or "<build-id>]", after the file offset.
void take_identity(Fields& fields, MmapRecord& map) {
  if (fields.accept("<")) {
    map.build_id = fields.take_until(">]: ");
    const bool is_hex = map.build_id.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_hex || map.build_id.size() > 40) fields.fail();
    return;
  }
  map.device_major = static_cast<uint32_t>(fields.take_hex(":"));
  map.device_minor = static_cast<uint32_t>(fields.take_hex(" "));
  map.inode = fields.take_number(" ");
  (void)fields.take_number("]: ");
}

/// " 6245/6245: [0x559d58d97000(0x1000) @ 0x1000 fe:00 10977867 4214124353]: r-xp /tmp/t"
/// " -1/0: [0xffffffff81000000(0x120bb08) @ 0xffffffff81000000]: x [kernel.kallsyms]_text"
std::optional<RecordBody> parse_map(Fields fields, bool has_identity) {
  MmapRecord map;
  fields.expect(" ");
  map.pid = fields.take_id("/");
  map.tid = fields.take_id(": [");
  map.start = RunAddress(fields.take_hex("("));
  map.length = fields.take_hex(") @ ");
  map.file_offset = fields.take_hex(has_identity ? " " : "]: ");
  if (has_identity) take_identity(fields, map);
  const std::string_view protection = fields.take_until(" ");
  map.executable = protection.find('x') != protection.npos;
  map.path = trim(fields.rest());
  map.mode = map.path.starts_with("[guest.kernel") ? Mode::guest_kernel
             : map.pid == UINT32_MAX               ? Mode::kernel
                                                   : Mode::user;
  return finish(fields, std::move(map));
}

/// ": t:6245/6245", " exec: t:6245/6245"; the name may hold colons.
std::optional<RecordBody> parse_comm(Fields fields) {
  CommRecord comm;
  comm.exec = fields.accept(" exec");
  fields.expect(": ");
  const std::string_view rest = fields.rest();
  const size_t colon = rest.rfind(':');
  if (!fields.is_good() || colon == rest.npos) return std::nullopt;
  comm.name = rest.substr(0, colon);
  const std::string_view ids = trim(rest.substr(colon + 1));
  const size_t slash = ids.find('/');
  const auto pid = find_id(ids.substr(0, slash));
  const auto tid = slash == ids.npos ? std::nullopt : find_id(ids.substr(slash + 1));
  if (!pid || !tid) return std::nullopt;
  comm.pid = *pid;
  comm.tid = *tid;
  return comm;
}

/// "(6247:6247):(6245:6245)": pid and tid of the task and of its parent.
template <class Task>
std::optional<RecordBody> parse_task(Fields fields) {
  Task task;
  fields.expect("(");
  task.pid = fields.take_id(":");
  task.tid = fields.take_id("):(");
  task.parent_pid = fields.take_id(":");
  task.parent_tid = fields.take_id(")");
  return finish(fields, task);
}

/// " addr ffffffffc0201000 len 128 type 1 flags 0x0 name bpf_prog_6deef7357e7b4530"
std::optional<RecordBody> parse_ksymbol(Fields fields) {
  KsymbolRecord symbol;
  fields.expect(" addr ");
  symbol.start = RunAddress(fields.take_hex(" len "));
  symbol.length = fields.take_number(" type ");
  symbol.type = static_cast<uint16_t>(fields.take_number(" flags "));
  const uint64_t flags = fields.take_hex(" name ");
  symbol.unregistered = (flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) != 0;
  symbol.name = trim(fields.rest());
  return finish(fields, std::move(symbol));
}

template <class Lost>
std::optional<RecordBody> parse_lost(Fields fields) {
  fields.expect(" lost ");
  const auto amount = find_number(trim(fields.rest()), 10);
  if (!fields.is_good() || !amount) return std::nullopt;
  Lost lost;
  lost.lost = *amount;
  return lost;
}

}  // namespace

std::optional<RecordBody> parse_script_record(std::string_view text) {
  skip(text, "PERF_RECORD_");
  if (skip(text, "MMAP2")) return parse_map(Fields(text), true);
  if (skip(text, "MMAP")) return parse_map(Fields(text), false);
  if (skip(text, "COMM")) return parse_comm(Fields(text));
  if (skip(text, "FORK")) return parse_task<ForkRecord>(Fields(text));
  if (skip(text, "EXIT")) return parse_task<ExitRecord>(Fields(text));
  if (skip(text, "KSYMBOL")) return parse_ksymbol(Fields(text));
  if (skip(text, "LOST_SAMPLES")) return parse_lost<LostSamplesRecord>(Fields(text));
  if (skip(text, "LOST")) return parse_lost<LostRecord>(Fields(text));
  return UnknownRecord{};
}

}  // namespace culprit
