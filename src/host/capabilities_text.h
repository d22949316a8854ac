#pragma once

// What `culprit doctor` prints:
//
//   hardware counters   no    this is a virtual machine without a PMU
//                             -> culprit record --engine timer samples time

#include <string>
#include <vector>

#include "base/text_style.h"
#include "host/capabilities.h"

namespace culprit {

std::string print_capabilities(const std::vector<Capability>& rows, Format format,
                               const TextStyle& style);

}  // namespace culprit
