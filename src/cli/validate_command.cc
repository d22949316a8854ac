// `culprit validate`: kernels whose events are known by hand, counted by the software PMU or by
// this machine's counters, and what came of it.

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <unistd.h>

#include "base/date.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/kernel_program.h"
#include "cli/output_file.h"
#include "cli/run_program.h"
#include "cli/simulated_kernels.h"
#include "cli/template_events.h"
#include "cli/terminal.h"
#include "collect/count/counting.h"
#include "counts/count_table.h"
#include "events/pmu_catalog.h"
#include "host/describe_machine.h"
#include "recording/signals.h"
#include "templates/find_template.h"
#include "validate/validation.h"

namespace culprit {
namespace {

/// What a machine's counters are asked for without a template: the kernel's generic events.
constexpr const char* kGenericEvents[] = {
    "cycles",           "instructions",          "branches",         "branch-misses",
    "L1-dcache-loads",  "L1-dcache-load-misses", "L1-dcache-stores", "LLC-load-misses",
    "dTLB-load-misses", "L1-icache-load-misses", "iTLB-load-misses"};

/// Asks for counts of one length of a kernel: by event, in the order of those that are validated.
using CountKernel = std::function<Result<std::vector<EventCount>>(const KernelRun& run)>;

/// What is counted, and how.
struct Bench {
  std::vector<ValidatedEvent> events;
  CountKernel count;
  CacheSizes sizes;
};

uint64_t read_size(int name) {
  const long size = ::sysconf(name);
  return size > 0 ? static_cast<uint64_t>(size) : 0;
}

ValidatedEvent describe_row(const Template& cpu, const TemplateRow& row) {
  ValidatedEvent event{row.event, cpu.is_simulated ? row.event : row.quantity, "", std::nullopt};
  const bool is_charged = row.role == Role::sum && row.penalty.value &&
                          row.penalty.unit == PenaltyUnit::cycles && is_level3(row.branch);
  if (is_charged) {
    event.branch = branch_key(row.branch);
    event.penalty = row.penalty.value;
  }
  return event;
}

/// Rows that say what they count, and those whose cycles are charged to a branch.
std::vector<const TemplateRow*> list_told_rows(const Template& cpu) {
  std::vector<const TemplateRow*> rows;
  for (const TemplateRow& row : cpu.rows) {
    if (!describe_row(cpu, row).quantity.empty() || describe_row(cpu, row).penalty) {
      rows.push_back(&row);
    }
  }
  return rows;
}

/// What user code causes, each event alone. Several rows of a template may have one code.
struct Requests {
  std::vector<EventGroup> groups;
  std::vector<std::vector<size_t>> events_of;  // of each group
};

Result<std::vector<EventCount>> count_on_hardware(const Requests& requests, size_t events,
                                                  const std::string& program, const KernelRun& run,
                                                  RunControl& control) {
  CountOptions options;
  options.command = make_kernel_command(program, run);
  options.groups = requests.groups;
  options.may_leave_out = true;
  options.one_by_one = true;
  options.control = &control;
  ASSIGN_OR_RETURN(const CountResult result, count(options, nullptr));
  if (result.interrupted) return Error{"interrupted"};
  std::map<EventId, std::string> reasons;
  for (const RefusedEvent& refused : result.refused) {
    reasons.emplace(EventId(refused.event), refused.reason);
  }
  const CountTable table = make_count_table(result.profile, reasons);
  if (table.rows.size() != requests.groups.size()) {
    return Error{fmt::format("{} events were asked for, {} counted", requests.groups.size(),
                             table.rows.size())};
  }
  std::vector<EventCount> counts(events, EventCount{std::nullopt, "not asked for"});
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const CountRow& row = table.rows[i];
    const bool is_absent = requests.groups[i].members.front().is_absent;
    EventCount count{row.value, ""};
    if (is_absent) count = {std::nullopt, "this machine's counters do not have it"};
    if (!row.value) count.reason = row.reason.empty() ? "it got no counter" : row.reason;
    for (const size_t event : requests.events_of[i]) counts[event] = count;
  }
  return counts;
}

Result<Requests> make_generic_requests(std::vector<ValidatedEvent>& events) {
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  Requests requests;
  for (const char* const name : kGenericEvents) {
    const std::string asked = std::string(name) + ":u";
    Result<std::vector<EventGroup>> groups = parse_events(std::span(&asked, 1), catalog);
    if (!groups) continue;
    requests.events_of.push_back({events.size()});
    events.push_back({name, name, "", std::nullopt});
    requests.groups.push_back(groups->front());
  }
  return requests;
}

Result<Requests> make_template_requests(const Template& cpu, std::vector<ValidatedEvent>& events) {
  ASSIGN_OR_RETURN(const PmuCatalog catalog, read_pmu_catalog());
  const std::vector<const Pmu*> cores = catalog.core_pmus();
  if (cores.empty()) return Error{"this machine has no hardware counters"};
  const std::vector<const TemplateRow*> rows = list_told_rows(cpu);
  for (const TemplateRow* const row : rows) events.push_back(describe_row(cpu, *row));
  Requests requests;
  for (EventGroup& group : list_template_events(cpu, *cores.front(), false)) {
    EventRequest& request = group.members.front();
    std::vector<size_t> same;
    for (size_t i = 0; i < rows.size(); ++i) {
      const bool is_it = rows[i]->code == request.config && rows[i]->code1 == request.config1;
      if (is_it) same.push_back(i);
    }
    if (same.empty()) continue;
    request.exclude_kernel = request.exclude_hypervisor = true;
    requests.events_of.push_back(std::move(same));
    requests.groups.push_back(std::move(group));
  }
  return requests;
}

Result<Bench> make_hardware_bench(const std::string& program, const Template* cpu,
                                  RunControl& control) {
  Bench bench;
  Requests requests;
  if (cpu != nullptr) {
    ASSIGN_OR_RETURN(requests, make_template_requests(*cpu, bench.events));
  } else {
    ASSIGN_OR_RETURN(requests, make_generic_requests(bench.events));
  }
  bench.sizes = {read_size(_SC_LEVEL1_DCACHE_SIZE), read_size(_SC_LEVEL2_CACHE_SIZE),
                 read_size(_SC_LEVEL3_CACHE_SIZE), 0};
  bench.count = [requests, program, &control, events = bench.events.size()](const KernelRun& run) {
    return count_on_hardware(requests, events, program, run, control);
  };
  return bench;
}

Result<Bench> make_simulated_bench(const std::string& program, const std::string& machine,
                                   RunControl& control) {
  ASSIGN_OR_RETURN(const SimulatedKernels kernels,
                   SimulatedKernels::open(program, machine, control));
  ASSIGN_OR_RETURN(const Template cpu, find_template("simulated-core", find_templates()));
  Bench bench;
  for (const TemplateRow* const row : list_told_rows(cpu)) {
    bench.events.push_back(describe_row(cpu, *row));
    // The row's cycles are parts of the whole by construction: none is charged with a penalty.
    bench.events.back().branch.clear();
  }
  bench.sizes = kernels.sizes();
  bench.count = [kernels,
                 events = bench.events](const KernelRun& run) -> Result<std::vector<EventCount>> {
    ASSIGN_OR_RETURN(const auto totals, kernels.count(run));
    std::vector<EventCount> counts;
    for (const ValidatedEvent& event : events) {
      const auto found = totals.find(event.event);
      counts.push_back(found == totals.end()
                           ? EventCount{std::nullopt, "the software PMU does not count it"}
                           : EventCount{found->second, ""});
    }
    return counts;
  };
  return bench;
}

/// The cycles among the events that are validated.
std::optional<double> find_cycles(const std::vector<ValidatedEvent>& events,
                                  const std::vector<EventCount>& counts) {
  for (size_t i = 0; i < events.size(); ++i) {
    const bool is_cycles = events[i].quantity == "cycles" || events[i].quantity == "sim:cycles";
    if (is_cycles && counts[i].per_round) return counts[i].per_round;
  }
  return std::nullopt;
}

/// The difference of two lengths of the kernel is what a round does.
Result<FamilyCounts> count_family(const Bench& bench, const Family& family) {
  const uint64_t shorter = std::max<uint64_t>(1, family.rounds / 2);
  ASSIGN_OR_RETURN(const auto before, bench.count({family.kernel, shorter, family.bytes}));
  ASSIGN_OR_RETURN(const auto all, bench.count({family.kernel, family.rounds, family.bytes}));
  const auto rounds = static_cast<double>(family.rounds - shorter);
  FamilyCounts counts;
  for (size_t i = 0; i < all.size(); ++i) {
    EventCount count = all[i];
    if (count.per_round && before[i].per_round) {
      count.per_round = (*count.per_round - *before[i].per_round) / rounds;
    } else {
      count.per_round.reset();
    }
    counts.counts.push_back(std::move(count));
  }
  counts.cycles_per_round = find_cycles(bench.events, counts.counts);
  return counts;
}

/// Errors: a name that no family has
Result<std::vector<Family>> choose_families(std::vector<Family> all,
                                            const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const Family& family : all) names.push_back(family.name);
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string nearest = nearest_word(name, names);
    return Error{fmt::format("there is no kernel '{}'{}; there are {}", printable(name),
                             nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                             fmt::format("{}", fmt::join(names, ", ")))};
  }
  if (!only.empty()) {
    std::erase_if(all, [&](const Family& family) {
      return std::find(only.begin(), only.end(), family.name) == only.end();
    });
  }
  return all;
}

bool has_counters() {
  const Result<PmuCatalog> catalog = read_pmu_catalog();
  return catalog && !catalog->core_pmus().empty();
}

Validation describe_validation(bool is_simulated) {
  Validation validation;
  validation.engine = is_simulated ? "simulate" : "pmu";
  const Machine machine = describe_machine();
  validation.cpu_model = machine.cpu_model;
  validation.cpu_id = machine.cpu_id;
  validation.kernel_release = machine.kernel_release;
  validation.date = format_today();
  return validation;
}

Result<Validation> validate(const ValidateCommand& command) {
  ASSIGN_OR_RETURN(const std::string program, find_kernel_program());
  const bool is_simulated = command.engine == ValidateEngine::simulate ||
                            (command.engine == ValidateEngine::automatic && !has_counters());
  Validation validation = describe_validation(is_simulated);
  SignalGuard control;
  std::optional<Template> cpu;
  if (!command.cpu.empty()) {
    ASSIGN_OR_RETURN(cpu, find_cpu_template(command.cpu));
    validation.template_name = cpu->name;
    if (cpu->is_simulated != is_simulated) {
      return Error{is_simulated
                       ? "the software PMU has the events of the template simulated-core alone: "
                         "--engine pmu counts those of a CPU"
                       : "its events are those of the software PMU: --engine simulate"};
    }
  }
  Bench bench;
  if (is_simulated) {
    validation.template_name = "simulated-core";
    validation.machine_model = command.machine;
    ASSIGN_OR_RETURN(bench, make_simulated_bench(program, command.machine, control));
  } else {
    ASSIGN_OR_RETURN(bench, make_hardware_bench(program, cpu ? &*cpu : nullptr, control));
  }
  ASSIGN_OR_RETURN(const std::vector<Family> families,
                   choose_families(list_families(bench.sizes), command.only));
  validation.events = bench.events;
  ProgressLine line;
  std::vector<FamilyCounts> counts;
  for (const Family& family : families) {
    line.show(fmt::format("{} of {} kernels: {}", counts.size() + 1, families.size(), family.name));
    ASSIGN_OR_RETURN(FamilyCounts one, count_family(bench, family));
    counts.push_back(std::move(one));
    if (control.take().stop != StopRequest::none) return Error{"interrupted"};
  }
  line.clear();
  validation.families = judge_families(families, validation.events, counts);
  return validation;
}

}  // namespace

int run(const ValidateCommand& command) {
  std::optional<OutputStream> report;
  if (!command.report.empty()) {
    Result<OutputStream> file =
        OutputStream::open({command.report, OutputKind::plain, command.force, {command.cpu}});
    if (!file) return fail(file.error(), kOurFailure);
    report = std::move(*file);
  }
  const Result<Validation> validation = validate(command);
  if (!validation) return fail(validation.error(), kOurFailure);
  const std::string json = print_validation_json(*validation);
  if (report) {
    if (const Result<void> written = report->write(json); !written) {
      return fail(written.error(), kOurFailure);
    }
  }
  const bool is_json = command.format == Format::json;
  if (const auto written = write_output(is_json ? json : print_validation(*validation)); !written) {
    return fail(written.error(), kOurFailure);
  }
  return validation->is_right() ? 0 : 1;
}

}  // namespace culprit
