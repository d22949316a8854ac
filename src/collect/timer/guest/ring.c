/* See ring.h. Only system calls and memory: no allocation, no stdio. */
#define _GNU_SOURCE
#include "ring.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

static size_t file_bytes(const struct culprit_ring* ring) {
  return CULPRIT_RING_DATA_OFFSET + (size_t)ring->data_bytes;
}

/* <folder>/<pid>.<tid>.<n>.ring; n tells apart the programs of one process. */
static int make_file(const char* folder, uint32_t pid, uint32_t tid, uint64_t salt) {
  char path[4096];
  struct text text = {path, sizeof path, 0};
  text_add(&text, folder);
  text_add(&text, "/");
  text_add_number(&text, pid);
  text_add(&text, ".");
  text_add_number(&text, tid);
  text_add(&text, ".");
  text_add_number(&text, salt);
  text_add(&text, CULPRIT_RING_SUFFIX);
  if (!text_finish(&text)) return -1;
  return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

struct culprit_ring* ring_make(const char* folder, uint32_t origin, int with_stacks) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  const uint32_t pid = (uint32_t)getpid();
  const uint32_t tid = (uint32_t)syscall(SYS_gettid);
  const uint64_t data_bytes =
      with_stacks ? CULPRIT_RING_DATA_BYTES_STACKS : CULPRIT_RING_DATA_BYTES;
  const size_t size = CULPRIT_RING_DATA_OFFSET + (size_t)data_bytes;

  const int fd = make_file(folder, pid, tid, now_ns);
  if (fd < 0) return NULL;
  struct culprit_ring* ring = MAP_FAILED;
  if (posix_fallocate(fd, 0, (off_t)size) == 0) {
    ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (ring == MAP_FAILED) return NULL;

  ring->data_bytes = data_bytes;
  ring->pid = pid;
  ring->tid = tid;
  ring->parent_pid = (uint32_t)getppid();
  ring->origin = origin;
  ring->start_ns = now_ns;
  atomic_thread_fence(memory_order_release);
  *(volatile uint64_t*)&ring->magic = CULPRIT_RING_MAGIC;
  return ring;
}

void ring_forget(struct culprit_ring* ring) {
  munmap(ring, file_bytes(ring));
}

void ring_close(struct culprit_ring* ring) {
  __atomic_store_n(&ring->closed, 1, __ATOMIC_RELEASE);
  ring_forget(ring);
}

int ring_write(struct culprit_ring* ring, const struct ring_piece* pieces, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) size += pieces[i].size;

  const uint64_t head = ring->head; /* ours alone */
  const uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
  if (head - tail > ring->data_bytes || size > ring->data_bytes - (head - tail)) return 0;

  char* data = (char*)ring + CULPRIT_RING_DATA_OFFSET;
  uint64_t at = head;
  for (size_t i = 0; i < count; ++i) {
    const size_t offset = (size_t)(at & (ring->data_bytes - 1));
    const size_t to_end = (size_t)ring->data_bytes - offset;
    const size_t first = pieces[i].size < to_end ? pieces[i].size : to_end;
    memcpy(data + offset, pieces[i].bytes, first);
    memcpy(data, (const char*)pieces[i].bytes + first, pieces[i].size - first);
    at += pieces[i].size;
  }
  __atomic_store_n(&ring->head, at, __ATOMIC_RELEASE);
  return 1;
}
