#pragma once

// What is wrong with a template, beyond what its reader refuses: a file that reads well may
// still count something twice, or have another code than its event's name stands for.
//
//     data/templates/ivy-bridge-ep.toml:131: MEM_LOAD_UOPS_RETIRED:L2_HIT: libpfm4 encodes ...

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "templates/template.h"

namespace culprit {

struct LintFinding {
  std::string file;
  uint32_t line = 0;
  std::string message;
};

/// Everything that is found, in the order of the lines. Names are encoded by room `events`:
/// by libpfm4 where it knows the CPU, else by our own tables of codes.
std::vector<LintFinding> lint_template(const Template& whole);

/// Checks a file: if it cannot be read, why is the only finding. One that Culprit is said to have
/// validated needs the table that shows it, of `culprit validate --report`: ../validation/NAME.json
/// beside the file's folder.
std::vector<LintFinding> lint_template_file(const std::string& path);

/// Who says that the codes are right.
struct NameChecks {
  size_t by_libpfm = 0;
  size_t corrected = 0;     // libpfm4 is wrong, or lacks the name: our correction says
  size_t by_table = 0;      // a CPU that libpfm4 does not know: our table says
  size_t by_nobody = 0;     // only the file itself, after its name_source
  size_t without_code = 0;  // simulated events
};
NameChecks count_name_checks(const Template& whole);

/// "63 names by libpfm4, 2 of them corrected".
std::string describe(const NameChecks& checks);

}  // namespace culprit
