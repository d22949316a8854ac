#pragma once

// What the compilers of setups say of themselves, and how many cells this process may run at once.

#include <map>
#include <string>

#include "scan/plan.h"

namespace culprit::scan {

/// Asks each compiler once. A build command is the user's own and is not asked.
class Compilers {
 public:
  /// "" if the setup names none, or it says nothing.
  const std::string& find(const PlannedCell& cell);

 private:
  std::map<std::string, std::string> known_;
};

/// CPUs that this process may use; 1 at least.
unsigned count_usable_cpus();

}  // namespace culprit::scan
