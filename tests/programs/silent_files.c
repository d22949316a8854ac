/* A file system in user space with one file, the program `run`: silent_files PROGRAM FOLDER. It
   answers until its standard input ends, and is silent from then on, as one whose server hangs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kFolder = 1, kFile = 2, kMostBytes = 1 << 17 };
static int device;
static struct stat program;

static void answer(uint64_t request, int error, const void* data, size_t size) {
  static struct {
    struct fuse_out_header head;
    char data[kMostBytes];
  } out;
  if (error) size = 0;
  out.head.unique = request;
  out.head.error = -error;
  out.head.len = sizeof out.head + size;
  memcpy(out.data, data, size);
  if (write(device, &out, out.head.len) < 0) perror("write");
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr its = {.ino = node, .nlink = 1, .blksize = 4096};
  its.mode = node == kFolder ? S_IFDIR | 0755 : S_IFREG | 0755;
  its.size = node == kFolder ? 0 : (uint64_t)program.st_size;
  return its;
}

static void serve(const struct fuse_in_header* head, const char* body, int file) {
  switch (head->opcode) {
    case FUSE_INIT: {
      const struct fuse_init_out out = {.major = 7, .minor = 31, .max_write = 4096};
      answer(head->unique, 0, &out, sizeof out);
      return;
    }
    case FUSE_LOOKUP: {
      const struct fuse_entry_out out = {.nodeid = kFile, .attr = attributes(kFile)};
      answer(head->unique, strcmp(body, "run") == 0 ? 0 : ENOENT, &out, sizeof out);
      return;
    }
    case FUSE_GETATTR: {
      const struct fuse_attr_out out = {.attr = attributes(head->nodeid)};
      answer(head->unique, 0, &out, sizeof out);
      return;
    }
    case FUSE_OPEN: {
      const struct fuse_open_out out = {.open_flags = FOPEN_KEEP_CACHE};
      answer(head->unique, 0, &out, sizeof out);
      return;
    }
    case FUSE_READ: {
      static char data[kMostBytes];
      const struct fuse_read_in* in = (const void*)body;
      const size_t size = in->size < sizeof data ? in->size : sizeof data;
      const ssize_t got = pread(file, data, size, (off_t)in->offset);
      answer(head->unique, 0, data, got < 0 ? 0 : (size_t)got);
      return;
    }
    case FUSE_RELEASE:
    case FUSE_FLUSH:
      answer(head->unique, 0, "", 0);
      return;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      return;
    default:
      answer(head->unique, ENOSYS, "", 0);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int file = open(argv[1], O_RDONLY);
  device = open("/dev/fuse", O_RDWR);
  if (file < 0 || fstat(file, &program) != 0 || device < 0) {
    perror("open");
    return 1;
  }
  char options[64];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  if (mount("silent", argv[2], "fuse", 0, options) != 0) {
    perror("mount");
    return 1;
  }
  puts("mounted");
  fflush(stdout);
  static char request[1 << 18];
  for (;;) {
    struct pollfd ready[] = {{.fd = device, .events = POLLIN}, {.fd = STDIN_FILENO}};
    if (poll(ready, 2, -1) < 0 && errno != EINTR) return 1;
    if (ready[1].revents) break;
    const ssize_t size = read(device, request, sizeof request);
    if (size < 0 && errno != EINTR && errno != ENOENT) return 0;
    if (size > 0) {
      const struct fuse_in_header* head = (const void*)request;
      serve(head, request + sizeof *head, file);
    }
  }
  pause();
  return 0;
}
