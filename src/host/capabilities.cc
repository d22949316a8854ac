#include "host/capabilities.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "host/capabilities_probe.h"
#include "host/clock.h"
#include "host/describe_machine.h"
#include "host/emulator.h"

namespace culprit {
namespace {

/// "perf_event_open: EACCES, kernel.perf_event_paranoid is 3"
std::string describe_refusal(int reason) {
  std::string text = "perf_event_open: " + error_name(reason);
  const std::string paranoid = read_file("/proc/sys/kernel/perf_event_paranoid").value_or("");
  if ((reason == EACCES || reason == EPERM) && !paranoid.empty()) {
    text += ", kernel.perf_event_paranoid is " + paranoid.substr(0, paranoid.find('\n'));
  }
  return text;
}

/// What would let us: EACCES is the sysctl's answer, EPERM mostly that of a seccomp filter.
std::string remedy_for(int reason, int wanted_level) {
  if (reason == EPERM) {
    return "run the container with a seccomp profile that allows perf_event_open, or --cap-add "
           "PERFMON";
  }
  if (reason == ENOSYS) return "a kernel with CONFIG_PERF_EVENTS";
  return "run as root, or sysctl kernel.perf_event_paranoid=" + std::to_string(wanted_level) +
         ", or setcap cap_perfmon+ep culprit";
}

Capability probe_hardware_counters() {
  Capability row{"hardware counters", Availability::yes, "cycles can be counted here", ""};
  const int reason = try_event(ProbeEvent::cycles, true, 0, -1);
  if (reason == 0) return row;
  row.available = Availability::no;
  if (reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV) {
    const bool is_guest = !describe_machine().virtualization.empty();
    row.detail = is_guest ? "this is a virtual machine without a PMU" : "no PMU that Linux knows";
    row.detail += " (perf_event_open: " + error_name(reason) + ")";
  } else {
    row.detail = describe_refusal(reason);
    row.remedy = remedy_for(reason, 2);
  }
  return row;
}

Capability probe_timer_sampling() {
  Capability row{"timer sampling", Availability::yes, "", ""};
  const int reason = try_event(ProbeEvent::cpu_clock, true, 0, -1);
  if (reason != 0) {
    row.available = Availability::no;
    row.detail = describe_refusal(reason);
    row.remedy = remedy_for(reason, 2);
    return row;
  }
  const std::optional<double> cost_ns = measure_sample_cost_ns();
  if (!cost_ns) {
    row.detail = "the cost of a sample could not be measured";
    return row;
  }
  constexpr double kSamplesPerSecond = 1000;
  char share[32];
  std::snprintf(share, sizeof share, "%.1f %%", *cost_ns * 1e-9 * kSamplesPerSecond * 100);
  row.detail =
      "a sample costs about " + format_duration_ns(*cost_ns) + " here: " + share + " at 1,000 Hz";
  return row;
}

/// Hidden symbols have address 0.
bool can_read_kernel_symbols() {
  const Result<Fd> fd = open_readable("/proc/kallsyms");
  char start[16] = "";
  return fd && ::read((*fd).get(), start, sizeof start) == sizeof start &&
         std::string_view(start, sizeof start).find_first_not_of('0') != 16 && start[0] != '0';
}

Capability probe_kernel_samples() {
  Capability row{"kernel samples", Availability::yes, "", ""};
  const int reason = try_event(ProbeEvent::cpu_clock, false, 0, -1);
  if (reason != 0) {
    row.available = Availability::no;
    row.detail = describe_refusal(reason);
    row.remedy = remedy_for(reason, 1);
  } else if (can_read_kernel_symbols()) {
    row.detail = "kernel symbols: yes";
  } else {
    row.available = Availability::part;
    row.detail = "kernel symbols: no, /proc/kallsyms shows no addresses";
    row.remedy = "run as root, or sysctl kernel.kptr_restrict=0";
  }
  return row;
}

Capability probe_whole_system() {
  Capability row{"whole system", Availability::yes, "all processes, all CPUs", ""};
  const int reason = try_event(ProbeEvent::cpu_clock, false, -1, 0);
  if (reason == 0) return row;
  row.available = Availability::no;
  row.detail = describe_refusal(reason);
  row.remedy = remedy_for(reason, 0);
  return row;
}

Capability probe_stacks() {
  return {"stacks", Availability::yes, "frame pointers (build with -fno-omit-frame-pointer)", ""};
}

Capability probe_posix_timers(const std::string& shim_path) {
  Capability row{"timers in program", Availability::yes, "", ""};
  int reason = 0;
  const std::optional<double> resolution_ns = measure_cpu_timer_resolution_ns(&reason);
  if (!resolution_ns) {
    row.available = Availability::no;
    row.detail = reason != 0 ? "timer_create: " + error_name(reason)
                             : "timers on CPU time do not expire here";
  } else if (!file_exists(shim_path)) {
    row.available = Availability::no;
    row.detail = "'" + shim_path + "' is missing";
    row.remedy = "keep libculprit_timer.so beside culprit";
  } else {
    row.detail = "used where perf_event_open is refused; resolution " +
                 format_duration_ns(*resolution_ns) + " of CPU time";
  }
  return row;
}

Capability probe_core_clock() {
  constexpr int kBursts = 30;
  std::vector<double> bursts;
  bursts.reserve(kBursts);
  for (int i = 0; i < kBursts; ++i) bursts.push_back(measure_clock_burst());
  const std::optional<ClockCalibration> clock = estimate_clock(std::move(bursts));
  if (!clock) return {"core clock", Availability::no, "could not be measured", ""};
  char text[128];
  std::snprintf(text, sizeof text, "%.3f GHz, measured (95 %%: %.3f to %.3f)", clock->hertz * 1e-9,
                clock->low_hertz * 1e-9, clock->high_hertz * 1e-9);
  return {"core clock", Availability::yes, text, ""};
}

bool cpu_has_avx512() {
  return read_file("/proc/cpuinfo").value_or("").find(" avx512f") != std::string::npos;
}

Capability probe_simulate(const std::string& plugin_path) {
#if defined(__aarch64__)
  const char* program = "qemu-aarch64";
#else
  const char* program = "qemu-x86_64";
#endif
  const Emulator emulator = ask_emulator(program, plugin_path);
  if (emulator.version.empty()) {
    return {"simulate", Availability::no, std::string(program) + " is not installed",
            "install qemu-user"};
  }
  if (!emulator.problem.empty()) {
    return {"simulate", Availability::no, emulator.version + " " + emulator.problem,
            emulator.remedy};
  }
  Capability row{"simulate", Availability::yes,
                 emulator.version + ": counts exactly, user code only", ""};
  if (cpu_has_avx512()) row.detail += "; no AVX-512 (this CPU has it)";
  return row;
}

Capability probe_always_on() {
  Capability row{"always-on (eBPF)", Availability::yes, "", ""};
  const int reason = try_bpf_program();
  if (reason == 0) {
    row.detail = "BPF programs may be loaded here";
    return row;
  }
  row.available = Availability::no;
  row.detail = "a BPF program was refused (bpf: " + error_name(reason) + ")";
  row.remedy = reason == ENOSYS ? "a kernel with CONFIG_BPF_SYSCALL"
                                : "run as root, or setcap cap_bpf,cap_perfmon+ep culprit";
  return row;
}

Capability probe_debug_files() {
  Capability row{"debug files", Availability::yes, "", ""};
  const bool has_folder = file_exists("/usr/lib/debug/.build-id");
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  const bool has_server = urls != nullptr && urls[0] != '\0';
  row.detail = has_folder ? "/usr/lib/debug/.build-id" : "/usr/lib/debug/.build-id is absent";
  row.detail += has_server ? "; debuginfod: " + printable(urls) : "; DEBUGINFOD_URLS is not set";
  if (has_folder || has_server) return row;
  row.available = Availability::part;
  row.remedy = "apt install ...-dbgsym, or set DEBUGINFOD_URLS";
  return row;
}

}  // namespace

std::string advise_without_pmu(const std::string& first) {
  return (first.empty() ? "" : first + ", then ") +
         "culprit record --engine timer+simulate: measured time beside exact, simulated counts";
}

std::vector<Capability> probe_capabilities(const std::string& shim_path,
                                           const std::string& plugin_path) {
  std::vector<Capability> rows = {probe_hardware_counters(),
                                  probe_timer_sampling(),
                                  probe_kernel_samples(),
                                  probe_whole_system(),
                                  probe_stacks(),
                                  probe_posix_timers(shim_path),
                                  probe_core_clock(),
                                  probe_simulate(plugin_path),
                                  probe_always_on(),
                                  probe_debug_files()};
  Capability& counters = rows.front();
  if (counters.available == Availability::no && counters.remedy.empty()) {
    const auto simulate = std::find_if(
        rows.begin(), rows.end(), [](const Capability& row) { return row.name == "simulate"; });
    counters.remedy = advise_without_pmu(simulate->remedy);
  }
  return rows;
}

}  // namespace culprit
