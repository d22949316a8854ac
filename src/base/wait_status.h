#pragma once

#include <string>

namespace culprit {

/// "exit status 3", "killed by signal 11", of what wait(2) gives.
std::string describe_wait_status(int wait_status);

}  // namespace culprit
