// `culprit doctor`: what works on this machine, what does not, why, and what
// would help. How it is written: host/capabilities_text.h.

#include <fmt/format.h>

#include "base/cpuid.h"
#include "base/program_files.h"
#include "base/text.h"
#include "cli/always_on.h"
#include "cli/commands.h"
#include "cli/simulating.h"
#include "cli/terminal.h"
#include "host/capabilities.h"
#include "host/capabilities_text.h"
#include "templates/find_template.h"

namespace culprit {

namespace {

/// Whether there is a template for this CPU, and counters for its events.
Capability describe_accounting(bool has_counters) {
  Capability row{"cycle accounting", Availability::part, "", ""};
  const std::string cpu = read_cpuid().value_or("");
  const Result<Template> found = match_template(find_templates(), cpu);
  if (!found) {
    row.detail = fmt::format("no template for this CPU ({})", cpu.empty() ? "unknown" : cpu);
    row.remedy =
        "culprit record --engine timer+simulate, then culprit why; or add one: docs/manual.md";
  } else if (has_counters) {
    row.available = Availability::yes;
    row.detail =
        fmt::format("template {}: culprit record --template auto, then culprit why", found->name);
  } else {
    row.detail = fmt::format("template {}, but no counters for its events", found->name);
    row.remedy = "culprit record --engine timer+simulate, then culprit why";
  }
  return row;
}

}  // namespace

int run(const DoctorCommand& command) {
  std::vector<Capability> rows = probe_capabilities(find_shim(), find_qemu_plugin());
  for (Capability& row : rows) {
    if (row.name == "always-on (eBPF)") describe_always_on(row);
  }
  rows.push_back(describe_accounting(rows.front().available == Availability::yes));
  if (std::optional<Capability> row = describe_machine_model()) rows.push_back(std::move(*row));
  const std::string text = print_capabilities(rows, command.format, standard_output_style(0));
  if (const Result<void> written = write_output(text); !written) return fail(written.error());
  return 0;
}

}  // namespace culprit
