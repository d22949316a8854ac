// A small build without -DCULPRIT_SMALL_DAEMON=ON has no daemon, which needs libbpf and with it
// libelf. This file stands in for it.

#include "cli/always_on.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace culprit {

int run(const DaemonCommand&) {
  return fail(
      Error{"this small build has no `culprit daemon`: culprit record -a records until Ctrl-C"});
}

void describe_always_on(Capability& row) {
  row.available = Availability::no;
  row.detail = "this small build has no `culprit daemon`";
  row.remedy = "";
}

}  // namespace culprit
