#include "perfdata/import.h"

#include <algorithm>
#include <fmt/format.h>
#include <linux/perf_event.h>

#include "model/imported.h"
#include "perfdata/perf_data_file.h"
#include "perfdata/record_importer.h"
#include "perfdata/script_importer.h"
#include "perfdata/script_words.h"
#include "perfdata/stat_records.h"
#include "perfdata/stat_text.h"
#include "perfdata/time_order.h"
#include "perfdata/user_records.h"

namespace culprit {

namespace {

bool has_data_addresses(const Attributes& attributes) {
  return std::ranges::any_of(attributes.events(), [](const RecordedEvent& event) {
    return (event.attr.layout.sample_type & PERF_SAMPLE_ADDR) != 0;
  });
}

/// Brings a file's records into order and hands them on.
class Importer {
 public:
  Importer(PerfDataFile& file, const ImportTools& tools, const ImportSink& sink,
           const ImportProgress& progress);

  Result<Imported> run();

 private:
  Result<void> read_all();
  Result<void> take(RawRecord record);
  Result<void> deliver(const RawRecord& record);
  const PlainSampleParser* find_plain_parser(size_t event);
  void describe_losses();

  PerfDataFile& file_;
  const ImportTools& tools_;
  const ImportProgress& progress_;
  RecordImporter importer_;
  StatRecords stat_;
  TimeOrder ordered_;
  Record parsed_;                                                // the one at hand
  std::vector<std::optional<PlainSampleParser>> plain_parsers_;  // by event
  uint64_t records_ = 0;
  bool is_unwinding_ = false;
  bool places_data_ = false;
  bool is_stopped_ = false;
};

Importer::Importer(PerfDataFile& file, const ImportTools& tools, const ImportSink& sink,
                   const ImportProgress& progress)
    : file_(file),
      tools_(tools),
      progress_(progress),
      importer_(file.attributes(), sink),
      stat_(file.attributes(), file.order()),
      ordered_([this](const RawRecord& record) { return deliver(record); }) {}

/// Null if samples of this event take parse_record().
const PlainSampleParser* Importer::find_plain_parser(size_t event) {
  const std::vector<RecordedEvent>& events = file_.attributes().events();
  while (plain_parsers_.size() < events.size()) {
    const RecordLayout& layout = events[plain_parsers_.size()].attr.layout;
    plain_parsers_.push_back(layout.sample_id_all ? PlainSampleParser::make(layout) : std::nullopt);
  }
  const std::optional<PlainSampleParser>& parser = plain_parsers_[event];
  return parser ? &*parser : nullptr;
}

Result<void> Importer::deliver(const RawRecord& record) {
  std::optional<size_t> event = record.event;
  if (record.event == RawRecord::kNoEvent) {
    event = file_.attributes().find_event(record.bytes, record.header.type);
  }
  if (event && record.header.type == PERF_RECORD_SAMPLE) {
    const PlainSampleParser* const plain = find_plain_parser(*event);
    if (plain != nullptr && plain->fits(record.bytes)) {
      return importer_.add(plain->parse(record.bytes, to_mode(record.header.misc)), *event);
    }
  }
  if (!event) {
    importer_.ledger().add(ledger::kUnknownEvents);
    return {};
  }
  if (!places_data_ && has_data_addresses(file_.attributes())) {
    importer_.place_data_with(file_.facts().architecture, tools_);
    places_data_ = true;
  }
  const RecordLayout& layout = file_.attributes().events()[*event].attr.layout;
  if ((layout.sample_type & PERF_SAMPLE_STACK_USER) != 0 && !is_unwinding_ &&
      tools_.make_unwinder) {
    // A pipe, too, has said by now what machine it is from.
    importer_.unwind_with(file_.facts().architecture, tools_);
    is_unwinding_ = true;
  }
  if (!parse_record(record.bytes, layout, parsed_)) {
    importer_.ledger().add(ledger::kDamagedRecords);
    return {};
  }
  return importer_.add(parsed_, *event);
}

Result<void> Importer::take(RawRecord record) {
  constexpr uint64_t kRecordsPerProgress = 1 << 14;
  if (++records_ % kRecordsPerProgress == 0 && progress_) {
    is_stopped_ = !progress_(file_.consumed_bytes(), file_.total_bytes());
  }
  if (record.header.type >= kFirstUserRecord) {
    if (static_cast<UserRecord>(record.header.type) == UserRecord::finished_round) {
      return ordered_.end_round();
    }
    if (!stat_.add(record)) importer_.ledger().add(ledger::kDamagedRecords);
    return {};
  }
  const std::vector<RecordedEvent>& events = file_.attributes().events();
  if (events.empty()) return Error{"it has records before the events that they belong to"};
  const auto event = file_.attributes().find_event(record.bytes, record.header.type);
  if (event) record.event = static_cast<uint32_t>(*event);
  const PlainSampleParser* const plain =
      record.header.type == PERF_RECORD_SAMPLE ? find_plain_parser(event.value_or(0)) : nullptr;
  const RecordLayout& layout = events[event.value_or(0)].attr.layout;
  std::optional<uint64_t> time_ns;
  if (plain != nullptr && plain->fits(record.bytes)) {
    time_ns = plain->time_ns(record.bytes);
  } else if (layout.sample_id_all) {
    // Records before Linux 2.6.38 have no times; then the file's order is the only one.
    time_ns = find_record_time(record.bytes, layout);
  }
  if (!time_ns || *time_ns == 0 || *time_ns == UINT64_MAX) return deliver(record);
  return ordered_.push(*time_ns, record, file_);
}

Result<void> Importer::read_all() {
  while (!is_stopped_) {
    if (RawRecord whole; file_.next_whole(whole)) {
      RETURN_IF_ERROR(take(whole));
      continue;
    }
    Result<std::optional<RawRecord>> record = file_.next();
    if (!record) {
      if (records_ == 0 && importer_.samples() == 0) return record.error();
      // What came before the damage is good.
      importer_.remark(
          fmt::format("the file is damaged, read as far as it goes: {}", record.error().message));
      break;
    }
    if (!*record) break;
    RETURN_IF_ERROR(take(**record));
  }
  return ordered_.end();
}

void Importer::describe_losses() {
  const auto add = [&](const LedgerKind& kind, uint64_t amount) {
    if (amount != 0) importer_.ledger().add(kind, amount);
  };
  add(ledger::kAuxBytes, file_.aux_bytes());
  if (file_.aux_bytes() > 0) {
    importer_.remark(
        "traces (Intel PT, CoreSight, SPE) are not decoded; perf can: perf script "
        "--itrace=i100us --no-inline --show-mmap-events --show-task-events | "
        "culprit import -");
  }
  add(ledger::kLateRecords, ordered_.late());
  add(ledger::kDamagedRecords, file_.damaged_records());
  if (file_.is_unfinished()) {
    importer_.remark(
        "perf did not finish this file (was it killed?): read to its end, "
        "without names of events, host and build-ids");
  }
}

Result<Imported> Importer::run() {
  RETURN_IF_ERROR(read_all());
  importer_.add_counts(stat_);
  describe_losses();
  Imported imported = importer_.finish(file_.facts());
  imported.is_stopped = is_stopped_;
  return imported;
}

constexpr std::string_view kFallback =
    "if perf reads it, its text can be imported: perf script -i FILE "
    "--no-inline --show-mmap-events --show-task-events | culprit import -";
constexpr std::string_view kNoText =
    "nor perf script's text with task, time and event, which perf script -F "
    "comm,pid,tid,time,period,event,ip,sym,symoff,dso prints";

Result<Imported> import_binary(RecordingInput input, const ImportTools& tools,
                               const ImportSink& sink, const ImportProgress& progress) {
  const std::string name = input.name;
  const bool is_old = is_of_old_perf(input.head);
  Result<PerfDataFile> file = PerfDataFile::open(std::move(input));
  if (!file && is_old) return file.error();
  if (!file) return Error{fmt::format("{}; {}", file.error().message, kFallback)};
  Result<Imported> imported = Importer(*file, tools, sink, progress).run();
  if (!imported) {
    return Error{
        fmt::format("cannot import {}: {}; {}", name, imported.error().message, kFallback)};
  }
  return imported;
}

/// Counts are few: they are all in memory.
Result<Imported> import_counts(ScriptLines& lines) {
  StatCounts counts;
  uint64_t damaged = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines.next());
    if (!line) break;
    if (trim(*line).empty() || line->starts_with('#')) continue;
    if (const std::optional<StatLine> parsed = parse_stat_line(*line)) {
      counts.add(*parsed);
    } else {
      ++damaged;
    }
  }
  Imported imported;
  imported.profile = counts.take(damaged);
  return imported;
}

Result<Imported> import_text(RecordingInput input, const ImportTools& tools, const ImportSink& sink,
                             const ImportProgress& progress) {
  ScriptLines lines(std::move(input.fd), input.head);
  const auto failed = [&](const Error& error) {
    return Error{fmt::format("cannot import {}: {}", input.name, error.message)};
  };
  const Result<std::string_view> beginning = lines.peek();
  if (!beginning) return failed(beginning.error());
  if (is_stat_text(*beginning)) {
    Result<Imported> imported = import_counts(lines);
    if (!imported) return failed(imported.error());
    return imported;
  }
  if (!is_script_text(*beginning)) {
    // It is neither; the message says first what it is not as a perf.data file.
    const Result<PerfDataFile> file = PerfDataFile::open(std::move(input));
    CHECK(!file);
    return Error{fmt::format("{}, {}", file.error().message, kNoText)};
  }
  Result<Imported> imported = ScriptImporter(lines, input.size_bytes, tools, sink, progress).run();
  if (!imported) return failed(imported.error());
  return imported;
}

}  // namespace

Result<Imported> import_perf_data(const ImportOptions& options, const ImportSink& sink,
                                  const ImportProgress& progress) {
  ASSIGN_OR_RETURN(RecordingInput input, open_recording(options.path));
  const bool is_binary = is_perf_data(input.head);
  ASSIGN_OR_RETURN(Imported imported,
                   is_binary ? import_binary(std::move(input), options.tools, sink, progress)
                             : import_text(std::move(input), options.tools, sink, progress));
  imported.profile.environment[std::string(kImportedFrom)] =
      is_binary ? "perf.data" : "text of perf";
  return imported;
}

}  // namespace culprit
