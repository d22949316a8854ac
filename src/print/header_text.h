#pragma once

// What stands above and under every text: what was measured, the ledger, the next step.

#include <string>
#include <vector>

#include "base/text_style.h"
#include "model/profile.h"
#include "print/values.h"

namespace culprit {

/// Program, threads, times, machine.
std::string print_run(const Profile& profile, const TextStyle& style);

/// The lines of print_run(); what was sampled; where cycles come from. `totals` are of the
/// profile's events; of many the first ones are told.
std::string print_header(const Profile& profile, const std::vector<Value>& totals,
                         const TextStyle& style, size_t most_events = 8);

/// "Ledger  0 samples lost" and everything else that is not zero.
std::string print_ledger(const Ledger& ledger, const TextStyle& style);

/// "culprit why FILE": a command that reads the profile which this text is of.
std::string with_file(const std::string& command, const TextStyle& style);

/// "Next    command   why". The command is not broken.
std::string print_next(const std::string& command, const std::string& why, const TextStyle& style);

/// Wraps as `Label   text`, the label eight columns wide.
std::string print_labelled(const std::string& label, const std::string& text,
                           const TextStyle& style);

}  // namespace culprit
