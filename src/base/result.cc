#include "base/result.h"

#include <cstdio>
#include <cstring>

namespace culprit {

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "culprit: bug at %s:%d: CHECK(%s) failed; please report it\n", file, line,
               condition);
  std::abort();
}

Error errno_error(const std::string& what, int error_number) {
  return Error{what + ": " + std::strerror(error_number)};
}

}  // namespace culprit
