#pragma once

// For tests: a small template that is right, as text to damage.

#include <string>

#include "base/test_folders.h"

namespace culprit {

inline const std::string kShipped = source_folder() + "/data/templates";

inline std::string coverage_text(const std::string& covered) {
  std::string text;
  for (const char* branch :
       {"load_latency", "bandwidth_saturation", "instruction_starvation", "instruction_latency",
        "store_resource_saturation", "multithread_collisions", "branch_misprediction",
        "port_saturation", "function_call_overhead", "instruction_serialization",
        "microcode_exceptions"}) {
    text += "[coverage." + std::string(branch) + "]\n";
    text += covered == branch ? "coverage = \"full\"\n"
                              : "coverage = \"none\"\nreason = \"No event.\"\n";
  }
  return text;
}

inline std::string row_text(const std::string& event, const std::string& code,
                            const std::string& branch, const std::string& role,
                            const std::string& more = "") {
  return "[[row]]\nevent = \"" + event + "\"\ncode = " + code + "\nbranch = \"" + branch +
         "\"\nlabel = \"" + event + "\"\nrole = \"" + role +
         "\"\npenalty = 1\nunit = \"cycles\"\nsource = \"counts cycles\"\nperiod = 2000003\n"
         "problem = \"Something.\"\nadvice = \"Something else.\"\n" +
         more;
}

/// A template for Ivy Bridge-EP with two levels and instruction latency.
inline std::string small_template(const std::string& more = "") {
  return "name = \"small\"\ndescription = \"A CPU\"\nsource = \"nobody\"\n"
         "validated_by = \"us\"\nvalidated_on = \"a bench\"\n"
         "libpfm = [\"ivb_ep\"]\ncpuid = [\"GenuineIntel-6-3E\"]\ndispatch_width = 4\n" +
         coverage_text("instruction_latency") +
         row_text("UNHALTED_CORE_CYCLES", "0x3c", "unhalted", "sum") +
         row_text("UOPS_RETIRED:STALL_CYCLES", "0x18001c2", "stalled", "sum") +
         row_text("ARITH:FPU_DIV_ACTIVE", "0x114", "instruction_latency", "sum") + more;
}

}  // namespace culprit
