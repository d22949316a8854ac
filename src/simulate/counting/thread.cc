#include "simulate/counting/thread.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit::counting {

void CountedThread::note_task() {
  if (own.header->tid == 0) own.header->tid = static_cast<uint32_t>(::gettid());
  ::prctl(PR_GET_NAME, own.header->name);
}

void CountedThread::note_name() {
  counts_file::CoreHeader& header = *own.header;
  if (header.tid == 0) return;
  const Result<std::string> name =
      read_file("/proc/self/task/" + std::to_string(header.tid) + "/comm", sizeof header.name);
  if (!name || name->empty()) return;
  const size_t size = std::min(name->size() - 1, sizeof header.name - 1);  // without the newline
  std::memset(header.name, 0, sizeof header.name);
  name->copy(header.name, size);
}

}  // namespace culprit::counting
