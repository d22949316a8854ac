#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace culprit {

namespace {

ErrorKind kind_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
    case ENXIO:
    case ENODEV:
      return ErrorKind::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorKind::refused;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorKind::out_of_space;
    default:
      return ErrorKind::other;
  }
}

}  // namespace

void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "culprit: bug at %s:%d: CHECK(%s) failed; please report it\n", file, line,
               condition);
  std::abort();
}

Error errno_error(const std::string& what, int error_number) {
  return Error{what + ": " + std::strerror(error_number), kind_of(error_number)};
}

}  // namespace culprit
