#include "print/header_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <tuple>
#include <utility>

#include "base/names.h"
#include "base/text.h"
#include "base/wait_status.h"
#include "branches/event_names.h"
#include "model/chosen_periods.h"
#include "model/counts.h"
#include "model/engine.h"
#include "model/exiting_thread.h"
#include "print/event_display.h"

namespace culprit {

namespace {

constexpr size_t kLabelWidth = 8;

std::string plural(size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", format_thousands(count), count == 1 ? one : many);
}

/// "exit status 3", "killed by signal 11"; "" for success or where it is not known.
std::string describe_status(const std::optional<int>& status) {
  if (!status || *status == 0) return "";
  return describe_wait_status(*status);
}

std::string describe_machine(const Machine& machine) {
  std::string text = printable(machine.cpu_model);
  if (!machine.virtualization.empty()) {
    text += fmt::format("{}{} guest", text.empty() ? "" : ", ", printable(machine.virtualization));
  }
  if (!machine.has_pmu) text += text.empty() ? "no PMU" : ", no PMU";
  return text;
}

/// A run under the simulator behind the first run is that run once more: its tasks are the same.
bool is_repetition(const Profile& profile, RunId run) {
  return run.value > 0 && run.value < profile.runs.size() &&
         is_simulated(profile, profile.runs[run.value]);
}

std::pair<size_t, size_t> count_tasks(const Profile& profile) {
  // A process that runs its own program anew is the one that it was. Numbers of 0 are of many.
  std::set<std::tuple<RunId, uint32_t, StringId>> processes;
  std::set<std::tuple<RunId, uint32_t, uint32_t, StringId>> threads;
  size_t process_count = 0;
  size_t thread_count = 0;
  for (const Process& process : profile.processes) {
    if (is_repetition(profile, process.run)) continue;
    const bool is_new = processes.emplace(process.run, process.pid, process.name).second;
    if (is_new || process.pid == 0) ++process_count;
  }
  for (const Thread& thread : profile.threads) {
    const size_t row = thread.process.value;
    const Process process = row < profile.processes.size() ? profile.processes[row] : Process{};
    if (is_repetition(profile, process.run)) continue;
    if (profile.strings.text(thread.name) == kExitingThread) continue;
    const bool is_new = threads.emplace(process.run, process.pid, thread.tid, thread.name).second;
    if (is_new || thread.tid == 0) ++thread_count;
  }
  return {process_count, thread_count};
}

/// "counts: simulated as zen4 (22.0 s)"; "" if that is no second run.
std::string describe_simulated_run(const Profile& profile) {
  for (size_t run = 0; run < profile.runs.size(); ++run) {
    if (!is_repetition(profile, RunId(run))) continue;
    const auto machine = profile.environment.find("simulate.machine");
    return fmt::format(
        "counts: simulated{} ({})",
        machine == profile.environment.end() ? "" : " as " + printable(machine->second),
        format_duration_ns(static_cast<double>(profile.runs[run].duration_ns)));
  }
  return "";
}

/// The command; of processes that ran already their names, too: "python3, pid 1234".
std::string describe_command(const Profile& profile) {
  const std::string& command = profile.strings.text(profile.runs.front().command);
  if (command.empty()) return "(no command)";
  if (!command.starts_with("pid ")) return command;
  std::vector<std::string> names;
  for (const Process& process : profile.processes) {
    const std::string& name = profile.strings.text(process.name);
    const std::string number = fmt::format("pid {}", process.pid);
    const bool is_meant = command == number || command.starts_with(number + ",") ||
                          command.find(", " + number) != std::string::npos;
    if (is_meant && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names.empty() ? command : fmt::format("{}, {}", fmt::join(names, ", "), command);
}

/// "1.15 s CPU (1.10 s user, 50.0 ms kernel)", by the kernel; where it does not say, and time was
/// sampled, by the samples:
/// "~1.2 s CPU". "" where neither tells.
std::string describe_cpu_time(const Profile& profile) {
  const std::optional<int64_t>& by_kernel = profile.runs.front().cpu_time_ns;
  const Run& run = profile.runs.front();
  const std::optional<int64_t>& in_kernel = run.use.system_time_ns;
  const auto format = [](int64_t ns) {
    return ns == 0 ? "0 s" : format_duration_ns(static_cast<double>(ns));
  };
  if (by_kernel && in_kernel && *in_kernel <= *by_kernel && !is_simulated(profile, run)) {
    return fmt::format("{} CPU ({} user, {} kernel)", format(*by_kernel),
                       format(*by_kernel - *in_kernel), format(*in_kernel));
  }
  if (by_kernel) return format(*by_kernel) + " CPU";
  const Sums totals = total_sums(profile);
  for (size_t event = 0; event < totals.size(); ++event) {
    const Event& what = profile.events[event];
    if (what.unit != Unit::ns || what.provenance != Provenance::sampled) continue;
    const Value time = to_value(what, totals[event]);
    return time.samples == 0 ? "" : "~" + format_duration_ns(time.value) + " CPU";
  }
  return "";
}

/// Facts with three blanks between them, on as many lines as they need.
std::string join_facts(const std::vector<std::string>& facts, size_t width) {
  std::string text;
  size_t column = 0;
  for (const std::string& fact : facts) {
    if (fact.empty()) continue;
    const std::string fitting = shorten_name(fact, width);
    if (column > 0 && column + 3 + count_columns(fitting) > width) {
      text += "\n";
      column = 0;
    }
    if (column > 0) {
      text += "   ";
      column += 3;
    }
    text += fitting;
    column += count_columns(fitting);
  }
  return text + "\n";
}

}  // namespace

std::string print_run(const Profile& profile, const TextStyle& style) {
  std::vector<std::string> facts;
  std::vector<std::string> times;
  const auto [processes, threads] = count_tasks(profile);
  if (processes > 1) times.push_back(plural(processes, "process", "processes"));
  if (threads > 0) times.push_back(plural(threads, "thread", "threads"));
  if (profile.runs.empty()) {
    facts.push_back(fmt::format("{}", fmt::join(times, ", ")));
  } else {
    const Run& run = profile.runs.front();
    int64_t duration_ns = 0;
    size_t recorded = 0;  // simulated time is none of the wall's
    for (const Run& one : profile.runs) {
      if (is_simulated(profile, one)) continue;
      if (__builtin_add_overflow(duration_ns, one.duration_ns, &duration_ns)) {
        duration_ns = INT64_MAX;  // a damaged profile's
      }
      ++recorded;
    }
    if (recorded < 2) duration_ns = run.duration_ns;
    if (recorded > 1) times.push_back(plural(recorded, "run", "runs"));
    facts.push_back(
        elide_middle(printable(describe_command(profile)), std::min<size_t>(style.width, 60)));
    if (duration_ns > 0) {
      times.push_back(format_duration_ns(static_cast<double>(duration_ns)) + " wall");
    }
    if (const std::string cpu_time = describe_cpu_time(profile); !cpu_time.empty()) {
      times.push_back(cpu_time);
    }
    const bool has_time = duration_ns > 0 || run.cpu_time_ns;
    const char* const whose = has_time && is_simulated(profile, run) ? " (of the simulator)" : "";
    facts.push_back(fmt::format("{}{}", fmt::join(times, ", "), whose));
    facts.push_back(describe_status(run.wait_status));
  }
  facts.push_back(describe_machine(profile.machine));
  facts.push_back(describe_simulated_run(profile));
  std::string text = join_facts(facts, style.width);
  if (const std::string* const periods = find_chosen_periods(profile)) {
    text += wrap("periods: " + printable(*periods), style.width, 2) + "\n";
  }
  return text;
}

namespace {

std::string describe_event(const Profile& profile, const Event& event, const Value& total) {
  const std::string name = printable(profile.strings.text(event.name));
  if (event.provenance != Provenance::sampled) {
    const bool is_time = event.unit == Unit::ns;
    return fmt::format("{}: {} {}", name,
                       is_time ? format_duration_ns(total.value) : format_si(total.value),
                       provenance_name(event.provenance));
  }
  if (total.samples == 0 && total.value > 0) {  // a simulator's, in windows
    return fmt::format("{}: {} +- {} estimated", name, format_si(total.value),
                       format_si(kNormal95 * total.error));
  }
  const std::string subject = event.unit == Unit::ns ? "time" : name;
  std::string rate;
  if (event.unit == Unit::ns && event.period > 0) {
    const double hertz = 1e9 / static_cast<double>(event.period);
    rate = hertz < 10
               ? fmt::format(" at {:.2f} Hz", hertz)
               : fmt::format(" at {} Hz", format_thousands(static_cast<uint64_t>(hertz + 0.5)));
  } else if (event.period > 0) {
    rate = fmt::format(", one in {}", format_thousands(event.period));
  }
  return fmt::format("{}: {} samples{} ({}, sampled)", subject, format_thousands(total.samples),
                     rate, name);
}

std::string describe_clock(const ClockCalibration& clock) {
  const double wider = std::max(clock.high_hertz - clock.hertz, clock.hertz - clock.low_hertz);
  return fmt::format("cycles = time x {}Hz (calibrated, +-{:.1f} %)", format_si(clock.hertz),
                     100 * std::max(0.0, wider) / clock.hertz);
}

bool is_of_branch_records(const Profile& profile, size_t event) {
  return engine_of(profile, profile.events[event]) == Engine::branch_records;
}

/// All their events in one line; "" if there are none.
std::string describe_branch_records(const Profile& profile, const std::vector<Value>& totals,
                                    const TextStyle& style) {
  std::string text;
  bool is_counted = false;  // by a simulator
  for (size_t event = 0; event < totals.size(); ++event) {
    if (!is_of_branch_records(profile, event)) continue;
    const std::string& name = profile.strings.text(profile.events[event].name);
    is_counted = profile.events[event].provenance == Provenance::counted;
    const std::string records = format_thousands(
        is_counted ? static_cast<uint64_t>(totals[event].value) : totals[event].samples);
    if (name == branch_events::kRuns) text += ", " + records + " straight runs between them";
    if (name == branch_events::kTaken) text = records + " taken branches" + text;
  }
  const char* const what = is_counted ? "branches counted: " : "branch records: ";
  return text.empty() ? "" : wrap(what + text, style.width, 2) + "\n";
}

}  // namespace

std::string print_header(const Profile& profile, const std::vector<Value>& totals,
                         const TextStyle& style, size_t most_events) {
  std::string text = print_run(profile, style);
  size_t told = 0;
  size_t left_out = 0;
  bool has_time = false;
  for (size_t event = 0; event < totals.size(); ++event) {
    if (event > 0 && totals[event].samples == 0 && totals[event].value == 0) continue;
    if (is_of_branch_records(profile, event)) continue;
    has_time = has_time || profile.events[event].unit == Unit::ns;
    if (told == most_events) {
      ++left_out;
      continue;
    }
    ++told;
    text += wrap(describe_event(profile, profile.events[event], totals[event]), style.width, 2);
    text += "\n";
  }
  if (left_out > 0 && most_events > 1) {
    text += wrap(fmt::format("and {} more events (--format json tells all, culprit why what they "
                             "cost)",
                             left_out),
                 style.width, 2) +
            "\n";
  }
  text += describe_branch_records(profile, totals, style);
  const ClockCalibration* clock = find_clock(profile.machine);
  if (has_time && clock != nullptr) text += describe_clock(*clock) + "\n";
  return text;
}

std::string print_labelled(const std::string& label, const std::string& text,
                           const TextStyle& style) {
  return wrap(pad_right(label, kLabelWidth) + text, style.width, kLabelWidth) + "\n";
}

std::string print_ledger(const Ledger& ledger, const TextStyle& style) {
  std::string text;
  for (const std::string& entry : describe_ledger(ledger)) {
    text += print_labelled(text.empty() ? "Ledger" : "", entry, style);
  }
  return text;
}

std::string with_file(const std::string& command, const TextStyle& style) {
  std::string words = command;
  if (!style.selection.empty()) words += " " + printable(style.selection);
  if (!style.file.empty()) words += " " + printable(shell_word(style.file));
  return words;
}

std::string print_next(const std::string& command, const std::string& why, const TextStyle& style) {
  const std::string line = pad_right("Next", kLabelWidth) + command;
  const size_t gap = 3;
  if (count_columns(line) + gap + count_columns(why) <= style.width) {
    return line + std::string(gap, ' ') + why + "\n";
  }
  return line + "\n" + print_labelled("", why, style);
}

}  // namespace culprit
