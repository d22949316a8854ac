/* See maps.h. A static buffer; no allocation, no stdio. */
#define _GNU_SOURCE
#include "maps.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

enum { kLineBytes = 4096 + 256, kRightsBytes = 4 };

/* 7f00-7f10 r-xp 00001000 fe:01 1234    /usr/lib/libm.so.6 */
static int parse_line(const char* line, struct mapping* found) {
  const char* at = line;
  found->start = text_take_number(&at, 16);
  if (*at++ != '-') return 0;
  found->end = text_take_number(&at, 16);
  if (*at++ != ' ') return 0;
  found->rights = at;
  if (memchr(at, '\0', kRightsBytes + 1) != NULL) return 0;
  at += kRightsBytes;
  if (*at++ != ' ') return 0;
  found->offset = text_take_number(&at, 16);
  if (*at++ != ' ') return 0;
  found->major = (uint32_t)text_take_number(&at, 16);
  if (*at++ != ':') return 0;
  found->minor = (uint32_t)text_take_number(&at, 16);
  if (*at++ != ' ') return 0;
  found->inode = text_take_number(&at, 10);
  while (*at == ' ') ++at;
  found->name = at;
  return found->start < found->end;
}

void maps_read(take_mapping* take, void* data) {
  static char buffer[kLineBytes];
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  size_t held = 0;
  while (1) {
    const ssize_t got = read(fd, buffer + held, sizeof buffer - 1 - held);
    if (got <= 0) break;
    held += (size_t)got;
    char* line = buffer;
    for (char* end; (end = memchr(line, '\n', held - (size_t)(line - buffer))); line = end + 1) {
      *end = '\0';
      struct mapping mapping;
      if (parse_line(line, &mapping)) take(&mapping, data);
    }
    held -= (size_t)(line - buffer);
    memmove(buffer, line, held);
    if (held == sizeof buffer - 1) held = 0; /* a line longer than any path: not one */
  }
  close(fd);
}
