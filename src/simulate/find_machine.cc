// find_machine(): from a word of the command line to the description of a machine.

#include <algorithm>
#include <fmt/format.h>

#include "toml/toml_folder.h"

#include "base/cpuid.h"
#include "base/file.h"
#include "base/text.h"
#include "simulate/simulate.h"

namespace culprit {
namespace {

/// Whose core is nearest to this machine's, of those that are shipped; "": none is.
std::string find_host_core(uint64_t l1i_bytes) {
  struct Kin {
    std::string_view vendor;
    std::string_view flag;  // that came with this core
    uint64_t least_l1i_bytes;
    const char* machine;
  };
  constexpr Kin kKin[] = {{"GenuineIntel", " amx_tile", 64 << 10, "redwood-cove"},
                          {"GenuineIntel", " amx_tile", 0, "golden-cove"},
                          {"AuthenticAMD", " avx512f", 0, "zen4"}};
  const Result<std::string> text = read_file("/proc/cpuinfo", 1 << 20);
  if (!text) return "";
  const auto* const found = std::find_if(std::begin(kKin), std::end(kKin), [&](const Kin& one) {
    return text->find(one.vendor) != std::string::npos &&
           text->find(one.flag) != std::string::npos && l1i_bytes >= one.least_l1i_bytes;
  });
  return found == std::end(kKin) ? "" : found->machine;
}

/// The caches are those of sysfs, all else is of a machine with the same kind of core.
Result<simulate::MachineModel> read_host(const std::string& data_folder) {
  const Result<simulate::MachineModel> caches = simulate::read_host_machine("/sys");
  const std::string core = find_host_core(caches ? caches->l1i.size_bytes : 0);
  const std::string path = data_folder + "/" + core + std::string(kTomlSuffix);
  const Result<simulate::MachineModel> kin = simulate::read_machine(path);
  return simulate::read_host_machine("/sys", kin ? *kin : simulate::MachineModel());
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

Result<simulate::MachineModel> find_machine(const std::string& name, const std::string& data_folder,
                                            const std::string& calibration) {
  if (name == "host") {
    ASSIGN_OR_RETURN(const simulate::MachineModel host, read_host(data_folder));
    return apply_calibration(host, calibration);
  }
  if (is_toml_path(name)) return simulate::read_machine(name);
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
