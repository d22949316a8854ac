#include "simulate/find_machine.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/cpuid.h"
#include "base/file.h"
#include "base/text.h"
#include "toml/toml_folder.h"

namespace culprit {
namespace {

/// How well a pattern of the list is for this CPU: its length; 0: none is.
size_t compute_match(const std::vector<std::string>& patterns, const std::string& cpuid) {
  size_t best = 0;
  for (const std::string& pattern : patterns) {
    if (matches_cpuid(cpuid, pattern)) best = std::max(best, pattern.size());
  }
  return best;
}

Result<simulate::MachineModel> read_host(const std::string& data_folder) {
  return find_host("/sys", data_folder, read_cpuid().value_or(""));
}

/// What `culprit calibrate -o` wrote has some figures; all else is this machine's.
/// Errors: as read_machine(); it is of another CPU, whose other figures are not in it
Result<simulate::MachineModel> read_given(const std::string& path, const std::string& data_folder) {
  ASSIGN_OR_RETURN(const simulate::MachineModel machine, simulate::read_machine(path));
  if (machine.calibrated_cpu.empty()) return machine;
  ASSIGN_OR_RETURN(const std::string cpuid, read_cpuid());
  if (machine.calibrated_cpu != cpuid) {
    return Error{
        fmt::format("'{}' has figures that were measured on another CPU ({}; this is {}): "
                    "what is not in it is that machine's",
                    printable(path), printable(machine.calibrated_cpu), cpuid)};
  }
  ASSIGN_OR_RETURN(const simulate::MachineModel host, read_host(data_folder));
  return simulate::read_machine(path, host);
}

/// One that was made on another CPU (a home on many machines) is passed over.
Result<simulate::MachineModel> apply_calibration(const simulate::MachineModel& host,
                                                 const std::string& path) {
  if (path.empty() || !file_exists(path)) return host;
  ASSIGN_OR_RETURN(const simulate::MachineModel calibrated, simulate::read_machine(path, host));
  const bool is_here = calibrated.calibrated_cpu == read_cpuid().value_or("");
  return is_here ? calibrated : host;
}

}  // namespace

Result<simulate::MachineModel> find_host(const std::string& sysfs_root,
                                         const std::string& data_folder, const std::string& cpuid) {
  ASSIGN_OR_RETURN(simulate::MachineModel core, find_core(data_folder, cpuid));
  Result<simulate::MachineModel> host = simulate::read_host_machine(sysfs_root, core);
  const bool is_known = !core.cpu.empty() || !core.nearest_for.empty();
  if (host || host.error().kind != ErrorKind::not_found || !is_known) return host;
  core.caches_of = core.core_of;
  core.name = "host";
  return core;
}

Result<simulate::MachineModel> find_core(const std::string& data_folder, const std::string& cpuid) {
  simulate::MachineModel nearest;
  size_t most = 0;
  for (const std::string& name : list_toml_names(data_folder)) {
    ASSIGN_OR_RETURN(simulate::MachineModel machine,
                     simulate::read_machine(data_folder + "/" + name + std::string(kTomlSuffix)));
    if (compute_match(machine.cpu, cpuid) != 0) {
      machine.core_of = machine.name;
      return machine;
    }
    const size_t match = compute_match(machine.nearest_for, cpuid);
    if (match <= most) continue;
    most = match;
    nearest = std::move(machine);
    nearest.core_of = nearest.name + ", the nearest known";
  }
  if (most == 0) nearest.core_of = "none that is known";
  return nearest;
}

Result<simulate::MachineModel> find_machine(const std::string& name, const std::string& data_folder,
                                            const std::string& calibration) {
  if (name == "host") {
    ASSIGN_OR_RETURN(const simulate::MachineModel host, read_host(data_folder));
    return apply_calibration(host, calibration);
  }
  if (is_toml_path(name)) return read_given(name, data_folder);
  const std::vector<std::string> known = list_toml_names(data_folder);
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return simulate::read_machine(data_folder + "/" + name + std::string(kTomlSuffix));
  }
  const std::string nearest = nearest_word(name, known);
  return Error{fmt::format("no machine '{}'{}: there are host, none{}{}; or give a file (.toml)",
                           printable(name),
                           nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                           known.empty() ? "" : ", ", fmt::format("{}", fmt::join(known, ", ")))};
}

}  // namespace culprit
