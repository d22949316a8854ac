// `culprit stat`: count events of whole runs, print them as a table, and end as the
// program ended.

#include <fmt/format.h>
#include <map>
#include <span>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/counted_tree.h"
#include "cli/output_file.h"
#include "cli/run_program.h"
#include "cli/template_events.h"
#include "cli/terminal.h"
#include "counts/count_table.h"
#include "counts/print_counts.h"
#include "recording/signals.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

/// What is counted unless somebody asks for something else.
constexpr const char* kUsualEvents[] = {"task-clock",   "context-switches",      "cpu-migrations",
                                        "page-faults",  "{cycles,instructions}", "branches",
                                        "branch-misses"};

OutputRequest request_output(const StatCommand& command, const std::string& path, OutputKind kind) {
  OutputRequest request{path, kind, command.force, command.count.command};
  request.inputs.push_back(command.cpu);
  return request;
}

/// Where the counts are printed: standard error, or a file.
class Printer {
 public:
  static Result<Printer> open(const StatCommand& command) {
    const OutputKind kind =
        command.format == Format::json ? OutputKind::stat_json : OutputKind::plain;
    ASSIGN_OR_RETURN(OutputStream file,
                     OutputStream::open(request_output(
                         command, command.log.empty() ? "/dev/stderr" : command.log, kind)));
    return Printer(command, std::move(file));
  }

  void print_interval(const Profile& profile, uint32_t repetition, uint32_t interval) {
    const std::vector<CountRow> rows = make_interval_rows(profile, repetition, interval);
    const double end_s = static_cast<double>(*command_->count.interval_ns) * 1e-9 * (interval + 1);
    write(command_->format == Format::json  ? print_interval_json(rows, end_s)
          : command_->format == Format::csv ? print_interval_csv(rows, end_s, command_->separator)
                                            : print_interval_text(rows, end_s));
  }

  /// CSV with intervals has no total: its lines would look like those of an interval.
  void print_total(const CountTable& table) {
    if (command_->format == Format::json) {
      write(print_counts_json(table, command_->count.interval_ns.has_value()));
    } else if (command_->format == Format::text) {
      write(print_counts_text(table));
    } else if (!command_->count.interval_ns) {
      write(print_counts_csv(table, command_->separator));
    }
  }

  void write(const std::string& text) {
    if (const Result<void> written = file_.write(text); written_ && !written) written_ = written;
  }

  /// Errors: the first that there was
  [[nodiscard]] const Result<void>& written() const { return written_; }

 private:
  Printer(const StatCommand& command, OutputStream file)
      : command_(&command), file_(std::move(file)) {}

  const StatCommand* command_;
  OutputStream file_;
  Result<void> written_;
};

/// What whole CPUs could have run: the time stamp counter, where the machine counts it.
void add_time_stamps(std::vector<EventGroup>& groups) {
  const Result<PmuCatalog> catalog = read_pmu_catalog();
  if (!catalog) return;
  const std::string name = "msr/tsc/";
  Result<std::vector<EventGroup>> stamps = parse_events(std::span(&name, 1), *catalog);
  if (!stamps) return;
  for (EventGroup& group : *stamps) groups.push_back(std::move(group));
}

Result<CountOptions> make_options(const StatCommand& command) {
  CountOptions options = command.count;
  if (!command.cpu.empty()) {
    options.may_leave_out = true;
    ASSIGN_OR_RETURN(options.groups, find_template_events(command.cpu, false));
    if (options.system_wide) add_time_stamps(options.groups);
    return options;
  }
  std::vector<std::string> events = command.events;
  if (events.empty()) {
    events.assign(std::begin(kUsualEvents), std::end(kUsualEvents));
    options.may_leave_out = !command.hardware_only;
  }
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  ASSIGN_OR_RETURN(options.groups, parse_events(events, catalog));
  return options;
}

Result<void> save(const CountResult& counting, const StatCommand& command) {
  ASSIGN_OR_RETURN(const OutputFile output,
                   OutputFile::claim(request_output(command, command.output, OutputKind::profile)));
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(command.output));
  return writer.close(counting.profile);
}

}  // namespace

int run(const StatCommand& command) {
  if (!command.count.command.empty()) {
    if (const auto problem = check_program(command.count.command.front())) {
      return fail(problem->error, problem->status);
    }
  }
  Result<CountOptions> options = make_options(command);
  if (!options) return fail(options.error(), kOurFailure);
  Result<Printer> printer = Printer::open(command);
  if (!printer) return fail(printer.error(), kOurFailure);
  if (!command.output.empty()) {
    const Result<void> possible =
        check_output(request_output(command, command.output, OutputKind::profile));
    if (!possible) return fail(possible.error(), kOurFailure);
  }
  survive_file_size_limit();

  IntervalSink on_interval;
  if (command.count.interval_ns) {
    on_interval = [&](const Profile& profile, uint32_t repetition, uint32_t interval) {
      printer->print_interval(profile, repetition, interval);
    };
  }
  Result<CountResult> counting = [&] {
    SignalGuard signals;
    options->control = &signals;
    return count(*options, on_interval);
  }();
  if (!counting) return fail(counting.error(), status_of(counting.error()));
  std::map<EventId, std::string> reasons;
  for (const RefusedEvent& refused : counting->refused) {
    reasons.emplace(EventId(refused.event), refused.reason);
  }
  if (command.cpu.empty() || !can_print_trees()) {
    printer->print_total(make_count_table(counting->profile, reasons));
  } else {
    const Result<std::string> tree = print_counted_tree(counting->profile, command);
    if (!tree) return fail(tree.error(), kOurFailure);
    printer->write(*tree);
  }
  if (!printer->written()) return fail(printer->written().error(), kOurFailure);
  if (!command.output.empty()) {
    const Result<void> saved = save(*counting, command);
    if (!saved) return fail(saved.error(), kOurFailure);
    print_message(fmt::format("counts -> {}", printable(command.output)));
  }
  if (!command.cpu.empty() && !can_print_trees()) {
    print_message(
        fmt::format("this small build prints no trees; where the whole of culprit is: "
                    "culprit why {}",
                    command.output.empty() ? "FILE, of -o FILE" : command.output));
  }
  return counting->command_started ? end_like(counting->command_wait_status) : 0;
}

}  // namespace culprit
