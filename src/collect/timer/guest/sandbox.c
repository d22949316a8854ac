/* A program that enters seccomp's strict mode may only read, write, end and return from signals:
 * the kernel kills it for any other system call, ours included. So its thread is not sampled from
 * there on.
 *
 * Not seen: seccomp(2), which libc has no function for. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler.h"

__attribute__((visibility("default"))) int prctl(int option, ...) {
  unsigned long words[4];
  va_list arguments;
  va_start(arguments, option);
  for (int i = 0; i < 4; ++i) words[i] = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (option == PR_SET_SECCOMP && words[0] == SECCOMP_MODE_STRICT) sampler_enter_sandbox();
  return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}
