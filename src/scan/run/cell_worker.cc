#include "scan/run/cell_worker.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "base/time.h"
#include "base/wait_status.h"
#include "binary/elf_file.h"
#include "host/describe_machine.h"
#include "recording/started_command.h"
#include "scan/cells.h"
#include "scan/command_words.h"
#include "scan/loop_counts.h"
#include "scan/remarks.h"
#include "scan/run/inputs.h"
#include "scan/run/measure.h"
#include "store/profile_file.h"

namespace culprit::scan {
namespace {

/// So much is kept of what a compiler or program prints.
constexpr size_t kMostText = 16'384;

/// Part of every key: raised when cells measured before mean something else.
constexpr const char* kKeyVersion = "scan 2";

std::string cut_text(std::string text) {
  if (text.size() <= kMostText) return text;
  text.resize(kMostText);
  return text + "\n(cut)";
}

std::string read_text(const std::string& path) {
  const Result<std::string> text = read_file(path, uint64_t{64} << 20);
  return text ? cut_text(*text) : "";
}

void write_phase(const std::string& scratch, const std::string& words) {
  const Fd file(
      ::open((scratch + "/phase").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file && ::write(file.get(), words.data(), words.size()) < 0)
    return;  // only a word for people
}

/// The line that says most: the first with an error in it, else the first. GNU Fortran has the
/// place in a line of its own, before the source and "Error: ".
std::string tell_failure(const std::string& status, const std::string& log) {
  std::string first;
  for (const std::string_view line : split(log, '\n')) {
    if (trim(line).empty()) continue;
    if (first.empty()) first = trim(line);
    const bool is_behind_place = first.ends_with(':') && trim(line).find("Error: ") < 7;
    if (is_behind_place || line.find("error") != std::string_view::npos) {
      first = (is_behind_place ? first + " " : "") + std::string(trim(line));
      break;
    }
  }
  return first.empty() ? status : fmt::format("{} ({})\n{}", first, status, log);
}

struct Build {
  std::string command;
  std::string failure;  // "" if it went well
  std::string log;
  std::string inputs;
  uint64_t duration_ns = 0;
};

std::vector<std::string> environment_with(const std::string& variable) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  all.push_back(variable);
  return all;
}

/// GCC and clang write all files that they read where this variable says.
Result<Build> build(const ScanSetting& setting, const CellJob& job, const std::string& out) {
  Build build;
  ASSIGN_OR_RETURN(build.command, build_command(setting, job.cell, out));
  FileHashes hashes;
  std::vector<std::string> inputs = {job.cell.program};
  if (!build.command.empty()) {
    const std::string log = job.scratch + "/build.log";
    const std::string dependencies = job.scratch + "/dependencies";
    const Fd file(::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!file) return errno_error("cannot write '" + log + "'", errno);
    ::dup2(file.get(), 1);
    ::dup2(file.get(), 2);
    const uint64_t start_ns = monotonic_ns();
    const std::vector<std::string> environment =
        environment_with("SUNPRO_DEPENDENCIES=" + dependencies);
    ASSIGN_OR_RETURN(StartedCommand command,
                     StartedCommand::start({"/bin/sh", "-c", build.command}, &environment));
    while (!command.wait(10'000)) continue;
    build.duration_ns = monotonic_ns() - start_ns;
    // A good build keeps the words about the user's own code only.
    const Result<std::string> said = read_file(log, uint64_t{64} << 20);
    const bool is_good = command.wait_status() == 0;
    build.log = cut_text(!said ? "" : is_good ? keep_own_remarks(*said) : *said);
    if (command.wait_status() != 0) {
      build.failure = tell_failure(describe_wait_status(command.wait_status()), build.log);
    } else if (!file_exists(out)) {
      build.failure = "the build made no {out}: its command must write there";
    }
    if (const Result<std::string> text = read_file(dependencies)) {
      for (const std::string& path : parse_dependencies(*text)) {
        if (std::find(inputs.begin(), inputs.end(), path) == inputs.end()) inputs.push_back(path);
      }
    }
  }
  build.inputs = describe_inputs(inputs, hashes);
  return build;
}

uint64_t read_text_bytes(const std::string& program) {
  const Result<Fd> fd = open_readable(program);
  if (!fd) return 0;
  const Result<MappedFile> mapped = MappedFile::map(fd->get(), program);
  if (!mapped) return 0;
  const Result<ElfFile> elf = ElfFile::open(mapped->bytes());
  if (!elf) return 0;
  const auto text = elf->section(".text");
  return text ? text->size() : 0;
}

Result<void> write_cell(const std::string& scratch, const Profile& profile,
                        const std::map<ImageId, ImageFacts>& facts) {
  ASSIGN_OR_RETURN(ProfileWriter writer,
                   ProfileWriter::create(cell_profile_path(scratch), Survives::process));
  for (const auto& [image, known] : facts) RETURN_IF_ERROR(writer.write_facts(image, known));
  return writer.close(profile);
}

/// Labels all runs with the name, and the first with what is known of the cell.
void label_cell(const ScanSetting& setting, const CellJob& job, const Build& build,
                const std::string& status, const std::string& message, const std::string& key,
                Profile& profile) {
  for (Run& run : profile.runs) {
    label_run(profile.strings, run, job.cell.name);
    if (!setting.label.empty()) label_run(profile.strings, run, kHistoryLabel, setting.label);
  }
  Run& first = profile.runs.front();
  const auto label = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) label_run(profile.strings, first, name, value);
  };
  label(kStatusLabel, status);
  label(kMessageLabel, message);
  label(kKeyLabel, key);
  label(kBuildLabel, build.command);
  label(kCompilerLabel, job.compiler);
  label(kRemarksLabel, build.log);
  label(kInputsLabel, build.inputs);
  label(kMachineLabel, setting.plan.machine);
  if (setting.plan.iterations_per_run != 1) {
    label(kPerRunLabel, std::to_string(setting.plan.iterations_per_run));
  }
  if (build.duration_ns > 0) {
    label(kCompileMsLabel, fmt::format("{:.1f}", static_cast<double>(build.duration_ns) * 1e-6));
  }
}

Profile make_empty_profile() {
  Profile profile;
  profile.machine = describe_machine();
  Run run;
  run.host = profile.strings.intern("");
  run.command = profile.strings.intern("");
  profile.runs.push_back(run);
  return profile;
}

}  // namespace

std::string cell_profile_path(const std::string& scratch) {
  return scratch + "/cell.culprit";
}

std::string cell_program_path(const ScanSetting& setting, const PlannedCell& cell,
                              const std::string& scratch) {
  return setting.plan.build.empty() ? cell.program : scratch + "/kernel";
}

Result<std::string> build_command(const ScanSetting& setting, const PlannedCell& cell,
                                  const std::string& out) {
  if (setting.plan.build.empty()) return std::string();
  Variables variables = cell.variables;
  variables.push_back({"program", shell_word(cell.program)});
  variables.push_back({"out", shell_word(out)});
  const std::string* const compiler = find_compiler(cell.variables);
  variables.push_back({"remarks", compiler == nullptr ? "" : remark_options(*compiler)});
  return fill_in(setting.plan.build, variables, "scan.build");
}

Result<std::vector<std::string>> run_command(const ScanSetting& setting, const PlannedCell& cell,
                                             const std::string& out) {
  Variables variables = cell.variables;
  variables.push_back({"program", cell.program});
  const bool has_folder = out.find('/') != std::string::npos;
  variables.push_back({"out", has_folder ? out : "./" + out});
  variables.push_back({"runs", "{runs}"});
  ASSIGN_OR_RETURN(std::vector<std::string> words, split_words(setting.plan.run));
  for (std::string& word : words) {
    ASSIGN_OR_RETURN(word, fill_in(word, variables, "scan.run"));
  }
  return words;
}

Result<std::string> compute_key(const ScanSetting& setting, const PlannedCell& cell,
                                const std::string& compiler, const std::string& inputs) {
  ASSIGN_OR_RETURN(const std::string command, build_command(setting, cell, "{out}"));
  std::string all = kKeyVersion;
  const auto add = [&](std::string_view part) { all += fmt::format("\n{}:{}", part.size(), part); };
  add(command);
  add(setting.plan.run);
  for (const Variable& one : cell.variables) add(one.name + "=" + one.value);
  const auto add_all = [&](const auto& all_runs) {
    for (const uint64_t runs : all_runs) add(std::to_string(runs));
  };
  setting.plan.runs.empty() ? add_all(kUsualRuns) : add_all(setting.plan.runs);
  add(std::to_string(setting.plan.iterations_per_run));
  add(compiler);
  add(setting.machine_text);
  if (const double percent = setting.plan.native_percent(); percent > 0) {
    add(fmt::format("time {} {}", percent, describe_machine().cpu_model));
    for (const std::string& event : setting.plan.events) add("event " + event);
  }
  add(inputs);
  return hash_text(all);
}

Profile make_failed_cell(const ScanSetting& setting, const CellJob& job, const std::string& status,
                         const std::string& message, const std::string& inputs) {
  Profile profile = make_empty_profile();
  Build build;
  build.inputs = inputs;
  const Result<std::string> command = build_command(setting, job.cell, "{out}");
  if (command) build.command = *command;
  const Result<std::string> key = compute_key(setting, job.cell, job.compiler, inputs);
  label_cell(setting, job, build, status, message, key ? *key : "", profile);
  return profile;
}

Result<void> run_cell(const ScanSetting& setting, const CellJob& job) {
  if (::chdir(setting.folder.empty() ? "." : setting.folder.c_str()) != 0) {
    return errno_error("cannot go to '" + setting.folder + "'", errno);
  }
  const std::string out = cell_program_path(setting, job.cell, job.scratch);
  write_phase(job.scratch, "building");
  ASSIGN_OR_RETURN(const Build made, build(setting, job, out));
  ASSIGN_OR_RETURN(const std::string key,
                   compute_key(setting, job.cell, job.compiler, made.inputs));
  if (!made.failure.empty()) {
    Profile profile = make_empty_profile();
    label_cell(setting, job, made, "build failed", made.failure, key, profile);
    return write_cell(job.scratch, profile, {});
  }
  write_phase(job.scratch, "running");
  MeasureOptions options;
  options.runs = setting.plan.runs;
  options.machine = setting.machine;
  options.plugin_path = setting.plugin_path;
  options.output_file = job.scratch + "/output";
  options.with_source = true;
  options.known_facts = job.known_facts;
  options.watcher = job.watcher;
  ASSIGN_OR_RETURN(options.command, run_command(setting, job.cell, out));
  Result<Measured> measured = measure(options);
  const std::string output = read_text(options.output_file);
  if (!measured || !measured->failure.empty()) {
    Profile profile = make_empty_profile();
    const bool crashed = measured && measured->crashed;
    std::string message = measured ? measured->failure : measured.error().message;
    if (measured && !crashed) message += ": a kernel that works ends with status 0";
    if (measured && !measured->remarks.empty()) message += "; " + measured->remarks.front();
    if (!output.empty()) message += "\n" + output;
    label_cell(setting, job, made, crashed ? "crashed" : "run failed", message, key, profile);
    return write_cell(job.scratch, profile, {});
  }
  Profile& profile = measured->profile;
  label_cell(setting, job, made, std::string(kMeasured), "", key, profile);
  Run& first = profile.runs.front();
  if (!output.empty()) label_run(profile.strings, first, kOutputLabel, output);
  label_run(profile.strings, first, kFloatLabel, measured->float_events);
  if (setting.peak_flops) {
    label_run(profile.strings, first, kPeakFlopsLabel, fmt::format("{}", *setting.peak_flops));
  }
  if (setting.machine) {
    label_run(profile.strings, first, kDispatchWidthLabel,
              std::to_string(setting.machine->core.dispatch_width));
  }
  label_run(profile.strings, first, kTextBytesLabel, std::to_string(read_text_bytes(out)));
  return write_cell(job.scratch, profile, measured->facts);
}

}  // namespace culprit::scan
