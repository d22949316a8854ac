/* See stack.h.
 *
 *        higher addresses         a frame, on x86-64 and aarch64 alike:
 *      ┌──────────────────┐
 *      │ return address   │  fp + 8
 *      │ caller's fp      │  fp        <- must lie above, for the walk to end
 *      └──────────────────┘
 */
#define _GNU_SOURCE
#include "stack.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct frame {
  uint64_t caller_fp;
  uint64_t return_address;
};

enum { kMaxFrameBytes = 16 << 20 }; /* a larger jump is not a frame */

static int read_by_kernel(uint64_t at, struct frame* frame) {
  struct iovec local = {frame, sizeof *frame};
  struct iovec remote = {(void*)(uintptr_t)at, sizeof *frame};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)sizeof *frame;
}

size_t stack_walk(uint64_t fp, uint64_t sp, uint64_t end, uint64_t* callers, size_t capacity) {
  const int in_bounds = sp < end;
  uint64_t low = sp;
  size_t count = 0;
  while (count < capacity) {
    struct frame frame;
    if (fp % sizeof(uint64_t) != 0 || fp < low || fp - low > kMaxFrameBytes) break;
    if (in_bounds && fp <= end - sizeof frame) {
      memcpy(&frame, (const void*)(uintptr_t)fp, sizeof frame);
    } else if (in_bounds || !read_by_kernel(fp, &frame)) {
      break;
    }
    if (frame.return_address < 4096) break;
    callers[count++] = frame.return_address;
    low = fp + sizeof frame;
    fp = frame.caller_fp;
  }
  return count;
}
