#pragma once

// Folders like /sys/bus/event_source/devices, for tests: what kernels of well-known
// machines show there (format files as in Documentation/ABI/testing/
// sysfs-bus-event_source-devices-format and the drivers' own).

#include <filesystem>
#include <fstream>
#include <string>

#include "base/file.h"
#include "events/pmu_catalog.h"

namespace culprit {

class MadeSysfs {
 public:
  MadeSysfs() { write("devices/system/cpu/online", "0-3\n"); }

  [[nodiscard]] const std::string& root() const { return folder_->path(); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root() + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void add_pmu(const std::string& name, int type) {
    write(device(name) + "/type", std::to_string(type) + "\n");
  }
  void add_format(const std::string& pmu, const std::string& term, const std::string& text) {
    write(device(pmu) + "/format/" + term, text + "\n");
  }
  void add_event(const std::string& pmu, const std::string& name, const std::string& terms) {
    write(device(pmu) + "/events/" + name, terms + "\n");
  }
  void add_cpus(const std::string& pmu, const std::string& file, const std::string& list) {
    write(device(pmu) + "/" + file, list + "\n");
  }

  /// The kernel's own PMUs, with their fixed types.
  void add_kernel_pmus() {
    add_pmu("software", 1);
    add_pmu("tracepoint", 2);
    add_pmu("breakpoint", 5);
    write("kernel/tracing/events/sched/sched_switch/id", "314\n");
    write("kernel/tracing/available_events", "sched:sched_switch\nsched:sched_wakeup\n");
  }

  /// Formats of Intel's core PMUs.
  void add_intel_core(const std::string& name, int type) {
    add_pmu(name, type);
    add_format(name, "event", "config:0-7");
    add_format(name, "umask", "config:8-15");
    add_format(name, "edge", "config:18");
    add_format(name, "any", "config:21");
    add_format(name, "inv", "config:23");
    add_format(name, "cmask", "config:24-31");
    add_format(name, "ldlat", "config1:0-15");
    add_format(name, "offcore_rsp", "config1:0-63");
    add_event(name, "mem-loads", "event=0xcd,umask=0x1,ldlat=3");
    add_event(name, "cycles-t", "event=0x3c,in_tx=1");  // a term without a format
  }

  /// A server: one core PMU, two memory controllers, energy counters.
  static PmuCatalog server() {
    MadeSysfs made;
    made.add_kernel_pmus();
    made.add_intel_core("cpu", 4);
    for (const int box : {0, 1}) {
      const std::string name = "uncore_imc_" + std::to_string(box);
      made.add_pmu(name, 20 + box);
      made.add_format(name, "event", "config:0-7");
      made.add_format(name, "umask", "config:8-15");
      made.add_event(name, "cas_count_read", "event=0x04,umask=0x03");
      made.add_event(name, "cas_count_read.scale", "6.103515625e-5");
      made.add_event(name, "cas_count_read.unit", "MiB");
      made.add_cpus(name, "cpumask", "0,2");
    }
    made.add_pmu("power", 30);
    made.add_format("power", "event", "config:0-7");
    made.add_event("power", "energy-pkg", "event=0x02");
    made.add_event("power", "energy-pkg.scale", "2.3283064365386962890625e-10");
    made.add_event("power", "energy-pkg.unit", "Joules");
    made.add_cpus("power", "cpumask", "0");
    return made.read();
  }

  /// A hybrid laptop: two kinds of core.
  static PmuCatalog hybrid() {
    MadeSysfs made;
    made.add_kernel_pmus();
    made.add_intel_core("cpu_core", 4);
    made.add_cpus("cpu_core", "cpus", "0-1");
    made.add_intel_core("cpu_atom", 10);
    made.add_cpus("cpu_atom", "cpus", "2-3");
    return made.read();
  }

  /// A small Arm machine.
  static PmuCatalog arm() {
    MadeSysfs made;
    made.add_kernel_pmus();
    made.add_pmu("armv8_pmuv3_0", 8);
    made.add_format("armv8_pmuv3_0", "event", "config:0-15");
    made.add_format("armv8_pmuv3_0", "long", "config1:0");
    made.add_event("armv8_pmuv3_0", "inst_retired", "event=0x0008");
    made.add_cpus("armv8_pmuv3_0", "cpus", "0-3");
    return made.read();
  }

  [[nodiscard]] PmuCatalog read() const { return *read_pmu_catalog(root()); }

 private:
  static std::string device(const std::string& name) { return "bus/event_source/devices/" + name; }

  Result<TemporaryFolder> folder_ = TemporaryFolder::make();
};

}  // namespace culprit
