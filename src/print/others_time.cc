#include "print/others_time.h"

#include <algorithm>
#include <fmt/format.h>

#include "model/engine.h"

namespace culprit {

std::string describe_others(const Profile& profile) {
  constexpr double kMuch = 0.1;
  constexpr double kLeastNs = 100e6;  // the kernel's account is in ticks of 10 ms
  double wall_ns = 0;
  double programs_ns = 0;
  double stolen_ns = 0;
  for (const Run& run : profile.runs) {
    if (!run.others.other_programs_ns || !run.others.stolen_ns || is_simulated(profile, run)) {
      continue;
    }
    wall_ns += static_cast<double>(run.duration_ns);
    programs_ns += static_cast<double>(*run.others.other_programs_ns);
    stolen_ns += static_cast<double>(*run.others.stolen_ns);
  }
  const double cpus = profile.machine.cpus_online;
  if (wall_ns < kLeastNs || programs_ns + stolen_ns < kMuch * cpus * wall_ns) return "";
  return fmt::format(
      "while it was timed, others kept {:.1f} of {:.0f} CPUs busy{}: they have slowed it by what "
      "nobody can tell; record again when they rest",
      std::min(cpus, (programs_ns + stolen_ns) / wall_ns), cpus,
      stolen_ns > programs_ns ? " (most of it other machines of the hypervisor's)" : "");
}

}  // namespace culprit
