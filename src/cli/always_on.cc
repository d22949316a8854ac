#include "cli/always_on.h"

#include "daemon/bpf_sampler.h"
#include "host/capabilities_probe.h"

namespace culprit {

void describe_always_on(Capability& row) {
  const std::string refusal = explain_bpf_refusal();
  if (refusal.empty()) {
    row.available = Availability::yes;
    row.detail = "culprit daemon counts samples in the kernel";
    row.remedy = "";
    return;
  }
  const bool has_rings = try_event(ProbeEvent::cpu_clock, false, -1, 0) == 0;
  row.available = has_rings ? Availability::part : Availability::no;
  row.detail = (has_rings ? "culprit daemon samples through rings instead, at 99 Hz: "
                          : "culprit daemon cannot sample: ") +
               refusal;
  row.remedy = "run as root, or setcap cap_bpf,cap_perfmon+ep culprit";
}

}  // namespace culprit
