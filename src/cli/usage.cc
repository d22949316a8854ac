#include <cstdio>
#include <fmt/format.h>

#include "cli/commands.h"

namespace culprit {

int run(const Usage& usage) {
  fmt::print(usage.status == 0 ? stdout : stderr, "{}", usage.text);
  return usage.status;
}

}  // namespace culprit
