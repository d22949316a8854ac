#pragma once

// Mistakes in a setup file that would pass as something else: a list that is one text, a variable
// that nothing uses. Each says what is wrong; "" if nothing is.

#include <string>
#include <string_view>
#include <vector>

#include "scan/plan.h"

namespace culprit::scan {

/// `DIM = "1,2,3"` is one value.
std::string check_text(std::string_view name, std::string_view text);

/// Values that stand twice, or a range among others, which would be a text.
std::string check_values(const Parameter& parameter);

/// Names of a setup's variables that mean something else already.
std::string check_variable(const Plan& plan, std::string_view name);

/// Whether a variable of a setup changes what is built or run. `rest`: the setup's texts, in which
/// the values of its lists stand. What names the compiler does: its version decides.
bool is_used(const Plan& plan, std::string_view name, const Variables& rest);

/// "march" → "nothing uses march: {march} stands in neither build nor run".
std::string tell_unused(const Plan& plan, std::string_view name);

/// A build that does not make what is run.
std::string check_build(const Plan& plan);

}  // namespace culprit::scan
