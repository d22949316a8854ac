/* See record.h. */
#include "record.h"

#include <string.h>

int record_write_named(struct culprit_ring* ring, struct perf_event_header* header,
                       size_t body_bytes, const char* name, uint64_t time_ns) {
  static const char zeros[8];
  struct {
    uint32_t pid, tid;
    uint64_t time;
  } id = {ring->pid, ring->tid, time_ns};

  size_t name_bytes = name == NULL ? 0 : strlen(name);
  if (name_bytes > 4095) name_bytes = 4095;                     /* PATH_MAX with its NUL */
  const size_t padding = name == NULL ? 0 : 8 - name_bytes % 8; /* at least the NUL */
  header->size = (uint16_t)(body_bytes + name_bytes + padding + sizeof id);

  const struct ring_piece pieces[] = {
      {header, body_bytes}, {name, name_bytes}, {zeros, padding}, {&id, sizeof id}};
  const int written = name == NULL
                          ? ring_write(ring, (struct ring_piece[]){pieces[0], pieces[3]}, 2)
                          : ring_write(ring, pieces, 4);
  if (!written) ++ring->lost_records;
  return written;
}

void record_write_comm(struct culprit_ring* ring, const char* name, int is_exec, uint64_t time_ns) {
  struct {
    struct perf_event_header header;
    uint32_t pid, tid;
  } body;
  memset(&body, 0, sizeof body);
  body.header.type = PERF_RECORD_COMM;
  body.header.misc = is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0;
  body.pid = ring->pid;
  body.tid = ring->tid;
  record_write_named(ring, &body.header, sizeof body, name, time_ns);
}

void record_write_task(struct culprit_ring* ring, uint32_t type, uint32_t parent_pid,
                       uint32_t parent_tid, uint64_t time_ns) {
  struct {
    struct perf_event_header header;
    uint32_t pid, parent_pid, tid, parent_tid;
    uint64_t time;
  } body;
  memset(&body, 0, sizeof body);
  body.header.type = type;
  body.pid = ring->pid;
  body.parent_pid = parent_pid;
  body.tid = ring->tid;
  body.parent_tid = parent_tid;
  body.time = time_ns;
  record_write_named(ring, &body.header, sizeof body, NULL, time_ns);
}
