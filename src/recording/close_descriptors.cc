#include "recording/close_descriptors.h"

#include <algorithm>
#include <climits>
#include <unistd.h>

#include "recording/process_folder.h"

namespace culprit {
namespace {

void close_between(unsigned first, unsigned last) {
  if (first > last || ::close_range(first, last, 0) == 0) return;
  for (const uint32_t fd : list_numbered_entries("/proc/self/fd")) {  // before Linux 5.9
    if (first <= fd && fd <= last) ::close(static_cast<int>(fd));
  }
}

}  // namespace

void close_descriptors(int first, std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  auto next = static_cast<unsigned>(first);
  for (const int one : kept) {
    const auto fd = static_cast<unsigned>(one);
    if (one < 0 || fd < next) continue;
    if (fd > next) close_between(next, fd - 1);
    next = fd + 1;
  }
  close_between(next, UINT_MAX);
}

}  // namespace culprit
