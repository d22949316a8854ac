#pragma once

// Tables of a counts file, as they are read: by whole rows, without what is a hole of the file.

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "base/read_at.h"
#include "base/result.h"
#include "base/text.h"

namespace culprit {

/// All rows of a table. False: the file ends before.
template <class T>
bool read_table(int fd, uint64_t start, size_t count, std::vector<T>* table) {
  table->resize(count);
  return read_at(fd, table->data(), count * sizeof(T), start);
}

/// Calls visit(index, row) for the rows of a table. Rows in holes of the file are left out: they
/// are zero, and most are, of a thread that runs little of the program's code. False: the file ends
/// before.
template <class T, class Visit>
bool visit_rows(int fd, uint64_t start, size_t count, Visit visit) {
  constexpr size_t kMostAtOnce = (size_t{1} << 16) / sizeof(T);
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  if (static_cast<uint64_t>(status.st_size) < start + count * sizeof(T)) return false;
  std::vector<T> rows(std::min(kMostAtOnce, count));
  for (size_t first = 0; first < count; first += rows.size()) {
    const uint64_t wanted = start + first * sizeof(T);
    const off_t data = ::lseek(fd, static_cast<off_t>(wanted), SEEK_DATA);
    if (data < 0 && errno == ENXIO) return true;
    if (data > 0) first += (static_cast<uint64_t>(data) - wanted) / sizeof(T);
    if (first >= count) return true;
    rows.resize(std::min(kMostAtOnce, count - first));
    if (!read_at(fd, rows.data(), rows.size() * sizeof(T), start + first * sizeof(T))) {
      return false;
    }
    for (size_t i = 0; i < rows.size(); ++i) visit(first + i, rows[i]);
  }
  return true;
}

/// "the counts in '123.0' are damaged (site)".
inline Error damaged_file(const std::string& name, const char* what) {
  return Error{"the counts in " + in_quotes(name) + " are damaged (" + what + ")"};
}

}  // namespace culprit
