#include "perfdata/script_importer.h"

#include <fmt/format.h>
#include <linux/perf_event.h>

#include "perfdata/script_chain.h"
#include "perfdata/script_records.h"
#include "perfdata/script_words.h"

namespace culprit {

namespace {

constexpr std::string_view kRecord = "PERF_RECORD_";

}  // namespace

bool is_script_text(std::string_view beginning) {
  while (!beginning.empty()) {
    const size_t end = std::min(beginning.find('\n'), beginning.size());
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(std::min(end + 1, beginning.size()));
    if (line.find('\0') != line.npos) return false;
    const auto head = find_script_head(line);
    if (!head) continue;
    const std::string_view rest = trim(head->rest);
    if (rest.starts_with(kRecord) || parse_script_sample(rest)) return true;
  }
  return false;
}

ScriptImporter::ScriptImporter(ScriptLines& lines, uint64_t total_bytes, const ImportTools& tools,
                               const ImportSink& sink, const ImportProgress& progress)
    : lines_(lines),
      total_bytes_(total_bytes),
      progress_(progress),
      importer_(attributes_, sink),
      places_(importer_.builder()) {
  importer_.place_data_with("", tools);
  importer_.refine_places(
      [this](RunAddress address, const Location& place) { return places_.refine(address, place); });
}

Result<size_t> ScriptImporter::find_event(const ScriptSample& sample) {
  constexpr size_t kMostEvents = 4096;
  const auto known = events_.find(sample.event);
  if (known != events_.end()) return known->second;
  if (events_.size() == kMostEvents) {
    return Error{fmt::format("it names more than {} events: it is damaged", kMostEvents)};
  }
  const auto described = described_.find(sample.event);
  RecordedEvent event = described != described_.end()
                            ? described->second
                            : describe_script_event(sample.event, sample.has_trace_text);
  // A tracepoint's samples are its occurrences, as long as nobody asks for every n-th.
  const bool is_tracepoint = event.attr.type == PERF_TYPE_TRACEPOINT;
  event.has_periods = sample.period.has_value() || is_tracepoint;
  const size_t place = attributes_.add(std::move(event));
  events_.emplace(sample.event, place);
  return place;
}

/// A line's comm may be news: records of it are printed on request only.
Result<void> ScriptImporter::learn_name(const ScriptHead& head) {
  const std::optional<CommRecord> comm = tasks_.learn_name(head);
  if (!comm) return {};
  RecordOrigin origin;
  origin.pid = comm->pid;
  origin.tid = comm->tid;
  origin.time_ns = head.time_ns;
  return importer_.add({origin, *comm}, 0);
}

Result<void> ScriptImporter::take_record(const ScriptHead& head) {
  const std::optional<RecordBody> body = parse_script_record(trim(head.rest));
  if (!body) {
    ++damaged_;
    return {};
  }
  tasks_.add(*body);
  RecordOrigin origin;
  origin.tid = head.tid;
  origin.pid = tasks_.find_process(head);
  origin.time_ns = head.time_ns;
  return importer_.add({origin, *body}, 0);
}

Result<void> ScriptImporter::take_sample(const ScriptHead& head) {
  const std::optional<ScriptSample> sample = parse_script_sample(head.rest);
  if (!sample) {
    ++damaged_;
    return {};
  }
  RETURN_IF_ERROR(learn_name(head));
  ASSIGN_OR_RETURN(pending_.event, find_event(*sample));
  pending_.origin = {};
  pending_.origin.tid = head.tid;
  pending_.origin.pid = tasks_.find_process(head);
  pending_.origin.time_ns = head.time_ns;
  pending_.origin.cpu = head.cpu;
  pending_.sample = *sample;
  pending_.branches = sample->branches;
  pending_.text.clear();
  pending_.frames.clear();
  has_pending_ = true;
  // The sample's place is on this line, or on the lines that follow.
  return sample->frame ? finish_sample() : Result<void>();
}

/// A frame, or a branch list of its own line. False: the line does not belong to the sample.
bool ScriptImporter::take_of_chain(std::string_view line) {
  constexpr size_t kMostFrames = 4096;
  if (!line.starts_with('\t') && (!line.starts_with(' ') || find_script_head(line))) return false;
  const std::string_view text = trim(line);
  if (text.starts_with("0x") && text.find('/') < text.find(' ')) {
    pending_.branches = text;
    return true;
  }
  // What perf prints of a frame's source line has no address.
  if (!parse_script_frame(text)) return true;
  if (pending_.frames.size() == kMostFrames) {
    importer_.ledger().add(ledger::kTruncatedStacks);
  }
  if (pending_.frames.size() >= kMostFrames) return true;
  pending_.frames.emplace_back(pending_.text.size(), text.size());
  pending_.text += text;
  return true;
}

/// perf prints the frames of callchains as offsets in their files (since Linux 4.19; before,
/// and everywhere else, as the addresses that they are).
uint64_t ScriptImporter::find_run_address(const ScriptFrame& frame, Mode mode) const {
  if (mode != Mode::user || frame.dso.empty()) return frame.address;
  constexpr std::string_view kDeleted = " (deleted)";
  std::string_view dso = frame.dso;
  if (dso.ends_with(kDeleted)) dso.remove_suffix(kDeleted.size());
  const uint32_t pid = pending_.origin.pid;
  const uint64_t printed = frame.dso_offset.value_or(frame.address);
  const auto mapped = importer_.find_mapped(pid, dso, FileOffset(printed));
  if (!mapped || importer_.is_mapped(pid, dso, RunAddress(frame.address))) return frame.address;
  return mapped->value;
}

void ScriptImporter::add_chain(SampleRecord& record) {
  std::vector<ScriptFrame> frames;
  for (const auto& [begin, length] : pending_.frames) {
    const auto frame = parse_script_frame(std::string_view(pending_.text).substr(begin, length));
    if (frame) frames.push_back(*frame);
  }
  Mode mode = Mode::all;
  bool is_caller = false;
  for (const ScriptFrame& frame : leave_out_inlined(frames, inlined_alone_)) {
    const Mode mode_of_frame = find_script_mode(frame);
    const uint64_t address = find_run_address(frame, mode_of_frame);
    if (address >= PERF_CONTEXT_MAX || address == 0) continue;
    if (mode_of_frame != mode) {
      record.callchain.push_back(find_marker(mode_of_frame));
      mode = mode_of_frame;
      is_caller = false;
    }
    if (record.callchain.size() == 1) {
      record.ip = RunAddress(address);
      record.mode = mode;
    }
    record.callchain.push_back(address);
    places_.expect(RunAddress(address - (is_caller ? 1 : 0)), frame, is_caller);
    is_caller = true;
  }
}

void ScriptImporter::add_branches(SampleRecord& record) {
  if (const auto& target = pending_.sample.target; target && pending_.sample.frame) {
    places_.expect(RunAddress(target->address), *target, false);
    BranchEntry branch;
    branch.from = RunAddress(pending_.sample.frame->address);
    branch.to = RunAddress(target->address);
    record.branches.push_back(branch);
  }
  if (pending_.branches.empty()) return;
  auto branches = parse_script_branches(pending_.branches);
  if (branches) {
    record.branches = std::move(*branches);
  } else {
    ++unread_branches_;
  }
}

Result<void> ScriptImporter::finish_sample() {
  if (!has_pending_) return {};
  has_pending_ = false;
  places_.begin_sample();
  const ScriptSample& sample = pending_.sample;
  SampleRecord record;
  record.period = sample.period.value_or(1);
  record.data_address = sample.data_address;
  record.data_source = sample.data_source;
  record.weight = sample.weight;
  record.instruction_weight = sample.instruction_weight;
  record.mode = Mode::user;
  if (sample.frame) {
    record.ip = RunAddress(sample.frame->address);
    record.mode = find_script_mode(*sample.frame);
    places_.expect(record.ip, *sample.frame, false);
  } else {
    add_chain(record);
  }
  add_branches(record);
  if (sample.has_trace_text) importer_.ledger().add(ledger::kRawFields);
  if (!sample.period) ++without_period_;
  if (!sample.frame && record.callchain.empty()) ++without_address_;
  return importer_.add({pending_.origin, std::move(record)}, pending_.event);
}

Result<void> ScriptImporter::take(std::string_view line) {
  if (has_pending_ && !line.empty() && take_of_chain(line)) return {};
  RETURN_IF_ERROR(finish_sample());
  if (line.starts_with('#')) {
    parse_script_header(line, facts_, described_);
    return {};
  }
  if (trim(line).empty() || line.starts_with(kRecord)) return {};
  const auto head = find_script_head(line);
  if (!head) {
    ++damaged_;
    return {};
  }
  return trim(head->rest).starts_with(kRecord) ? take_record(*head) : take_sample(*head);
}

Result<void> ScriptImporter::read_all() {
  constexpr uint64_t kLinesPerProgress = 1 << 14;
  while (!is_stopped_) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines_.next());
    if (!line) break;
    RETURN_IF_ERROR(take(*line));
    if (progress_ && ++lines_read_ % kLinesPerProgress == 0) {
      is_stopped_ = !progress_(lines_.consumed_bytes(), total_bytes_);
    }
  }
  return finish_sample();
}

void ScriptImporter::describe_losses() {
  if (const uint64_t damaged = damaged_ + lines_.too_long(); damaged > 0) {
    importer_.ledger().add(ledger::kDamagedRecords, damaged);
  }
  if (without_period_ > 0) {
    importer_.remark(
        fmt::format("{} samples have no period and count as one: perf script -F "
                    "+period prints it",
                    without_period_));
  }
  if (without_address_ > 0) {
    importer_.remark(
        fmt::format("{} samples have no address: perf script -F +ip,+sym,+dso prints it, or -G "
                    "(without call stacks) where perf could not unwind",
                    without_address_));
  }
  if (inlined_alone_ > 0) {
    importer_.remark(
        fmt::format("{} frames are inlined calls without the function that they are "
                    "in, and their places unknown: perf script --no-inline prints it",
                    inlined_alone_));
  }
  if (unread_branches_ > 0) {
    importer_.remark(
        fmt::format("{} branch lists have no addresses and are left out: perf script "
                    "-F -brstacksym,+brstack prints them",
                    unread_branches_));
  }
  if (tasks_.guessed() > 0) {
    importer_.remark(fmt::format(
        "{} threads are shown as processes, as the text does not say whose they are: perf script "
        "-F +pid, or --show-task-events, does",
        tasks_.guessed()));
  }
}

Result<Imported> ScriptImporter::run() {
  RETURN_IF_ERROR(read_all());
  describe_losses();
  // Names need the architecture, which the header tells.
  importer_.builder().profile().machine.architecture = facts_.architecture;
  auto names = places_.release_facts();
  Imported imported = importer_.finish(facts_);
  for (auto& of_image : names) imported.facts.push_back(std::move(of_image));
  imported.is_stopped = is_stopped_;
  return imported;
}

}  // namespace culprit
