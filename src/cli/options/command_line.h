#pragma once

// argv → one plain struct per command; nothing is done yet. Options, their defaults and
// their help are in *_options.cc; cli/commands.h runs the commands.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/options/scan_options.h"
#include "collect/count/counting.h"
#include "collect/record.h"
#include "epochs/thin_out.h"
#include "perfdata/import.h"
#include "regions/regions_print.h"
#include "session/comparisons.h"
#include "session/epoch_view.h"
#include "session/questions.h"
#include "simulate/simulate.h"
#include "snapshot/snapshot.h"

namespace culprit {

inline constexpr const char* kDefaultProfile = "profile.culprit";

/// `culprit record`, and `culprit PROGRAM` (which reports at once, too).
struct RecordCommand {
  RecordOptions record;             // its groups come from `events`
  SimulateOptions simulate;         // instead of `record`, if its engine is `simulate`
  std::string machine = "host";     // simulate: whose caches
  std::string region;               // simulate, --roi: a function; "": all
  bool windows_by_budget = false;   // simulate: as many as there is time for
  bool windows_by_time = false;     // timer+simulate: some, where all of it would take minutes
  std::vector<std::string> events;  // as typed; none: time, or what --engine says
  std::optional<uint64_t> period;   // -c: of events their number, of time ns
  std::optional<double> frequency_hz;
  std::string counts = {};               // --periods-from: of which periods are chosen
  std::optional<uint64_t> samples = {};  // --samples: of each event, by them
  SnapshotOptions snapshot;
  std::string output = kDefaultProfile;
  std::string output_name = {};  // what messages call it; "": `output`
  std::string rank = {};         // of an MPI program, which `output` names then; "": of none
  bool force = false;            // replaces whatever stands at `output`
  std::string cpu;               // --template: its events; "": none
  bool quiet = false;
  bool symbolize = true;
  bool regions = false;                         // --regions: OpenMP constructs, too
  std::vector<std::string> functions = {};      // --region: that are regions as well
  std::vector<std::string> region_events = {};  // --region-events, as typed
  bool report_after = false;
  bool experiments = true;   // timer+simulate: what a change saves is tried natively
  uint32_t repetitions = 1;  // -r
  /// --compare: names and shell commands, instead of a program; by turns.
  std::vector<std::pair<std::string, std::string>> compared;
};

/// `culprit top`.
struct TopCommand {
  RecordCommand recording;         // what is sampled, and how
  bool takes_what_it_may = false;  // no target was named: the system, or else one's own processes
  uint64_t redraw_ns = 1'000'000'000;
  uint64_t window_ns = 10'000'000'000;  // what is shown is of the last; 0: everything
  bool by_function = false;             // at first, else by process
  bool batch = false;
  uint32_t iterations = 0;  // batch; 0: no end
  size_t limit = 20;        // batch: rows of each table; 0: all
};

/// `culprit stat`.
struct StatCommand {
  CountOptions count;               // its groups come from `events`
  std::vector<std::string> events;  // as typed; none: the usual ones
  std::string cpu;                  // --template: its events, as a tree of cycles; "": none
  bool hardware_only = false;       // --engine pmu: what is usual must be counted
  Format format = Format::text;
  std::string separator = ",";  // of CSV
  std::string output;           // a profile; "": none
  bool force = false;           // replaces whatever stands at `output` and `log`
  std::string log;              // where to print; "": standard error
};

/// A stretch of time of an epoch database, which is asked instead of a file; filters are of either.
struct EpochChoice {
  std::string database;  // "": the usual one
  std::string since;     // moments, as typed; "": open
  std::string from;
  std::string to;
  std::string epoch;
  std::vector<ContextFilter> filters;
  bool is_chosen = false;
};

struct ReportCommand {
  std::string file = kDefaultProfile;
  EpochChoice epochs;
  ReportQuestion question;
  Format format = Format::text;
  size_t width = 0;    // 0: the terminal's, or 80
  bool never = false;  // --never: lines that never ran, and no table
};

struct AnnotateCommand {
  std::string file = kDefaultProfile;
  EpochChoice epochs;
  AnnotateOptions question;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit top-instructions`: a report by instruction of one binary, over all epochs.
struct TopInstructionsCommand {
  ReportCommand report;
};

/// `culprit locality`.
struct LocalityCommand {
  std::string file = kDefaultProfile;
  LocalityOptions question;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit data`.
struct DataCommand {
  std::string file = kDefaultProfile;
  DataOptions question;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit why`.
struct WhyCommand {
  std::vector<std::string> files;  // one, or two to compare; none typed: the default
  EpochChoice epochs;
  WhyQuestion question;
  bool stalls = false;  // the summary of stalls, not the tree
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit diff`: two groups of runs.
struct DiffCommand {
  EpochChoice epochs;              // instead: those since --since, and those since --to
  std::vector<std::string> files;  // two, instead of the groups; one of record --compare
  std::vector<std::string> base;
  std::vector<std::string> fresh;
  ComparisonQuestion question;
  std::optional<double> fail_above;  // percent
  size_t limit = 30;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit variance`: runs of one program.
struct VarianceCommand {
  EpochChoice epochs;  // instead: each of them
  std::vector<std::string> files;
  ComparisonQuestion question;
  size_t limit = 30;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit regions`.
struct RegionsCommand {
  std::vector<std::string> files;   // none typed: the default; several: ranks, put together
  std::vector<std::string> events;  // --counter
  std::string object;               // "": counts of everything
  RegionsPrint print;
  Format format = Format::text;
  size_t width = 0;
};

/// `culprit serve`.
inline constexpr const char* kLoopback = "127.0.0.1";
struct ServeCommand {
  std::vector<std::string> files;  // none typed: the default
  std::string listen = kLoopback;
  uint16_t port = 0;  // 0: any
  bool open_browser = true;
};

struct ExportCommand {
  std::string file = kDefaultProfile;
  EpochChoice epochs;
  ExportQuestion question;
  std::string output;                        // "" or "-": standard output
  uint64_t most_bytes = uint64_t{10} << 20;  // html
  bool force = false;                        // replaces whatever stands there
};

struct ImportCommand {
  ImportOptions import;
  SnapshotOptions snapshot;
  std::string output = kDefaultProfile;
  bool force = false;  // replaces whatever stands there
  bool quiet = false;
  bool symbolize = true;
};

struct SymbolizeCommand {
  std::string file = kDefaultProfile;
  SnapshotOptions snapshot;
};

/// `culprit daemon`: runs one, or asks the one that runs.
struct DaemonCommand {
  std::string request;   // of a running one; "": run
  std::string database;  // "": the usual one
  double rate_hz = 0;    // 0: by the budget
  double budget_percent = 1;
  std::vector<std::string> events;  // beside time
  bool by_process = false;          // processes are told apart, not commands alone
  double stacks_hz = 0;             // call stacks; 0: none
  int64_t epoch_s = 600;
  int64_t flush_s = 60;
  bool use_bpf = true;
  Keeping keeping;
  uint64_t most_megabytes = 1000;
  bool symbolize = true;
  SnapshotOptions snapshot;
  Format format = Format::text;
};

struct DoctorCommand {
  Format format = Format::text;
};

/// `culprit calibrate`: measures this machine.
struct CalibrateCommand {
  std::string output;  // a machine file; "": where --machine host finds it
  size_t rounds = 9;   // of all measurements; a figure is their median
  bool force = false;  // replaces whatever stands there
};

enum class ValidateEngine : uint8_t { automatic, simulate, pmu };

/// `culprit validate`: counts kernels whose events are known.
struct ValidateCommand {
  ValidateEngine engine = ValidateEngine::automatic;  // counters where there are any
  std::string cpu;                                    // --template; "": generic events
  std::string machine = "host";                       // of the software PMU
  std::vector<std::string> only;                      // kernels; none: all
  std::string report;                                 // a file for JSON; "": none
  bool force = false;                                 // replaces whatever stands there
  Format format = Format::text;
};

/// `culprit events`: lists, or with -e shows what the words stand for.
struct EventsCommand {
  std::string pattern;              // "": all
  std::string cpu;                  // "": this machine
  std::vector<std::string> events;  // -e
  Format format = Format::text;
};

enum class TemplatesAction : uint8_t { list, show, lint };

struct TemplatesCommand {
  TemplatesAction action = TemplatesAction::list;
  std::vector<std::string> names;  // or paths; lint, none: all that are shipped
  Format format = Format::text;
};

/// There is nothing to run: help was asked for (status 0), or the words are wrong (status 2).
struct Usage {
  int status = 0;
  std::string text;
};

#define COMMAND(type, add) type,
using Command = std::variant<
#include "cli/options/commands.def"
    Usage>;
#undef COMMAND

/// `arguments` without the program's own name. Reads nothing but PATH (to tell a program
/// from a mistyped command).
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace culprit
