#include "scan/run/compilers.h"

#include <algorithm>
#include <sched.h>

#include "scan/run/inputs.h"

namespace culprit::scan {

const std::string& Compilers::find(const PlannedCell& cell) {
  static const std::string kUnknown;
  const std::string* const value = find_compiler(cell.variables);
  if (value == nullptr) return kUnknown;
  const std::string program = value->substr(0, value->find(' '));
  const auto [at, is_new] = known_.try_emplace(program);
  if (is_new) at->second = ask_compiler(program);
  return at->second;
}

unsigned count_usable_cpus() {
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cpus)));
}

}  // namespace culprit::scan
