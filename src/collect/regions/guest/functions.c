/* See functions.h. A function's beginning becomes a jump; its first instructions, which the host
 * has looked at (patch/moved_code.h), go on in a page nearby:
 *
 *     caller ─→ f: jmp enter          page of f:  enter:  push $function
 *                                                         jmp  wrapper
 *     wrapper: begins the region                  moved:  f's first instructions
 *              calls moved ─────────────────────→         jmp  f + their bytes
 *              ends the region, returns
 *
 * The wrapper has a stack frame of its own, with a copy of what may be arguments on the stack above
 * it, and unwind tables: exceptions, backtraces and debuggers pass through as through any function.
 * It changes no register: compilers know which ones a function of the same file leaves alone.
 *
 * Where anything is not as expected (other bytes in the file, no page nearby, no right to change
 * code) the function is left as it is, and the host is told. */
#define _GNU_SOURCE
#include "functions.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/timer/guest/maps.h"
#include "constructs.h"

static struct culprit_region_functions wanted;

static void set_seen(uint32_t number, int is_seen) {
  struct culprit_region_paths* const paths = paths_file();
  if (paths == NULL) return;
  uint64_t* const bits = is_seen ? &paths->functions_seen : &paths->functions_refused;
  __atomic_fetch_or(bits, UINT64_C(1) << number, __ATOMIC_RELAXED);
}

#if defined(__x86_64__)

#include <cpuid.h>

enum {
  kPageBytes = 4096,
  kJumpBytes = 5,
  kFarthestPage = 1 << 30,
  kArgumentWords = 64, /* of arguments on the stack that are copied: functions have fewer */
  kNearBytes = 1 << 20 /* of one stack */
};

/* A function with a wrapper. Its first word is what the wrapper calls. */
struct wrapped {
  uint64_t moved;
  uint64_t address;
};
static struct wrapped functions[CULPRIT_MAX_FUNCTIONS];

/* The parts of a CPU's state, beyond general registers, that our own code may change: by XSAVE. */
__attribute__((visibility("hidden"))) uint64_t culprit_state_parts;
__attribute__((visibility("hidden"))) uint64_t culprit_state_bytes;

static int find_state(void) {
  enum { kOsSaves = 1 << 27, kVectorParts = 0xe7 };
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kOsSaves) == 0) return 0;
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  culprit_state_parts = low & kVectorParts;
  uint64_t bytes = 512 + 64;
  for (unsigned part = 2; part < 8; ++part) {
    if ((culprit_state_parts >> part & 1) == 0) continue;
    if (!__get_cpuid_count(0xd, part, &a, &b, &c, &d)) return 0;
    if (b + a > bytes) bytes = b + a;
  }
  culprit_state_bytes = bytes;
  return bytes <= kPageBytes;
}

/* ---- what the wrapper calls ---- */

static __thread char is_busy; /* with a region's edge: what we call is not the program's call */

/* Asks the kernel, which says EFAULT instead of ending the program. */
static int is_readable(uint64_t address) {
  const long none = -1; /* is no way to change a mask */
  return syscall(SYS_rt_sigprocmask, none, address, NULL, sizeof(uint64_t)) != 0 && errno == EINVAL;
}

/* How many words above `from` can be read, up to kArgumentWords: a stack may end there. */
static uint64_t words_above(uint64_t from) {
  static __thread uint64_t readable_page;
  const uint64_t page = (from + 8 * kArgumentWords - 1) & ~(uint64_t)(kPageBytes - 1);
  if (page <= from || page == readable_page) return kArgumentWords;
  if (!is_readable(page)) return (page - from) / 8;
  readable_page = page;
  return kArgumentWords;
}

/* `frame`: of the wrapper, by which its end is known. How many words of arguments it has to copy;
 * 0: the call is no region. */
__attribute__((used, visibility("hidden"))) uint64_t
culprit_enter_function(const struct wrapped* function, uint64_t frame) {
  if (is_busy) return 0;
  is_busy = 1;
  const int saved_errno = errno;
  uint64_t words = 0;
  struct thread* const thread = thread_self();
  if (thread != NULL && function_can_begin(thread, frame, kNearBytes)) {
    const uint32_t path = construct_path_of_function(
        thread, CULPRIT_KIND_FUNCTION, CULPRIT_DETAIL_NONE, (void*)(uintptr_t)function->address);
    if (path != 0) {
      function_begin(thread, path, frame, clock_now());
      words = words_above(frame + 24); /* the old frame, the function, the return address */
    }
  }
  errno = saved_errno;
  is_busy = 0;
  return words;
}

__attribute__((used, visibility("hidden"))) void culprit_leave_function(uint64_t frame) {
  is_busy = 1;
  const int saved_errno = errno;
  struct thread* const thread = thread_self();
  if (thread != NULL) function_end(thread, frame, clock_now());
  errno = saved_errno;
  is_busy = 0;
}

/* An exception, or the end of the thread, passes through a wrapper. The interface is that of the
 * C++ ABI for exception handling; where it is not there nobody throws. */
extern uint64_t _Unwind_GetGR(void* context, int reg) __attribute__((weak));

__attribute__((used, visibility("hidden"))) int culprit_function_personality(
    int version, int actions, uint64_t class, void* exception, void* context) {
  enum { kCleans = 2, kContinue = 8, kRbp = 6 };
  (void)version;
  (void)class;
  (void)exception;
  if ((actions & kCleans) != 0 && _Unwind_GetGR != NULL) {
    culprit_leave_function(_Unwind_GetGR(context, kRbp));
  }
  return kContinue;
}

/* Below 0(%rbp) the wrapper keeps r11, r10, rdi, rsi, rdx, rcx, r8, r9 and rax, and what it calls
 * at -80; above it are the function (struct wrapped), the return address and, at 24, arguments.
 * Their copy is at the same place in its line of 64 bytes, as vectors want it: it ends at -104. */
#define SAVE_STATE                              \
  "sub culprit_state_bytes(%rip), %rsp\n"       \
  "and $-64, %rsp\n"                            \
  "xor %eax, %eax\n"                            \
  "mov %rax, 512(%rsp)\n mov %rax, 520(%rsp)\n" \
  "mov %rax, 528(%rsp)\n mov %rax, 536(%rsp)\n" \
  "mov %rax, 544(%rsp)\n mov %rax, 552(%rsp)\n" \
  "mov %rax, 560(%rsp)\n mov %rax, 568(%rsp)\n" \
  "mov culprit_state_parts(%rip), %eax\n"       \
  "xor %edx, %edx\n"                            \
  "xsave (%rsp)\n"
#define RESTORE_STATE                     \
  "mov culprit_state_parts(%rip), %eax\n" \
  "xor %edx, %edx\n"                      \
  "xrstor (%rsp)\n"
#define PUSH_GENERAL                                                        \
  "push %r11\n push %r10\n push %rdi\n push %rsi\n push %rdx\n push %rcx\n" \
  "push %r8\n push %r9\n push %rax\n"
#define POP_GENERAL                                                 \
  "pop %rax\n pop %r9\n pop %r8\n pop %rcx\n pop %rdx\n pop %rsi\n" \
  "pop %rdi\n pop %r10\n"

__asm__(
    ".text\n"
    ".type culprit_wrapper, @function\n"
    ".hidden culprit_wrapper\n"
    ".globl culprit_wrapper\n"
    "culprit_wrapper:\n"
    ".cfi_startproc\n"
    ".cfi_personality 0x1b, culprit_function_personality\n"
    ".cfi_def_cfa_offset 16\n"
    "push %rbp\n"
    ".cfi_def_cfa_offset 24\n"
    ".cfi_offset %rbp, -24\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    /* The region begins. */
    PUSH_GENERAL "sub $8, %rsp\n" SAVE_STATE
    "mov 8(%rbp), %rdi\n"
    "mov (%rdi), %rax\n"
    "mov %rax, -80(%rbp)\n"
    "mov %rbp, %rsi\n"
    "call culprit_enter_function\n"
    "mov %rax, %r11\n" RESTORE_STATE
    "test %r11, %r11\n"
    "lea -72(%rbp), %rsp\n" POP_GENERAL
    "jz 2f\n"
    /* Arguments on the stack, the last word first. */
    "lea -616(%rbp,%r11,8), %rsp\n"
    "1:\n"
    "push 16(%rbp,%r11,8)\n"
    "dec %r11\n"
    "jnz 1b\n"
    "mov -8(%rbp), %r11\n"
    "call *-80(%rbp)\n"
    /* The region ends. */
    PUSH_GENERAL SAVE_STATE
    "mov %rbp, %rdi\n"
    "call culprit_leave_function\n" RESTORE_STATE "lea -688(%rbp), %rsp\n" POP_GENERAL
    "pop %r11\n"
    ".cfi_remember_state\n"
    "leave\n"
    ".cfi_def_cfa %rsp, 16\n"
    "lea 8(%rsp), %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_restore_state\n"
    /* No region: as if nobody had been here. */
    "2:\n"
    "mov -80(%rbp), %r11\n"
    "mov %r11, 8(%rbp)\n"
    "mov -8(%rbp), %r11\n"
    "leave\n"
    ".cfi_def_cfa %rsp, 16\n"
    "lea 8(%rsp), %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "jmp *-8(%rsp)\n"
    ".cfi_endproc\n"
    ".size culprit_wrapper, . - culprit_wrapper\n");
extern const char culprit_wrapper[] __attribute__((visibility("hidden")));

/* ---- putting it there ---- */

/* A page that a jump from `address` reaches. */
static uint8_t* map_near(uint64_t address) {
  enum { kStep = 1 << 16 };
  const uint64_t around = address & ~(uint64_t)(kPageBytes - 1);
  for (uint64_t distance = kStep; distance < kFarthestPage; distance += kStep) {
    for (int is_above = 0; is_above < 2; ++is_above) {
      if (!is_above && distance >= around) continue;
      const uint64_t at = is_above ? around + distance : around - distance;
      void* const page = mmap((void*)(uintptr_t)at, kPageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (page == (void*)(uintptr_t)at) return page;
      if (page != MAP_FAILED) munmap(page, kPageBytes); /* a kernel before 4.17 */
    }
  }
  return NULL;
}

static void put_32(uint8_t* at, uint64_t value) {
  const uint32_t low = (uint32_t)value;
  memcpy(at, &low, sizeof low);
}

/* jmp to `target` */
static void put_jump(uint8_t* at, uint64_t own_address, uint64_t target) {
  at[0] = 0xe9;
  put_32(at + 1, target - (own_address + kJumpBytes));
}

static int is_far(int64_t distance) {
  return distance > INT32_MAX || distance < INT32_MIN;
}

/* 0: the target is too far. */
static int put_reference(uint8_t* moved, const struct culprit_region_reference* reference,
                         const struct wrapped* function) {
  const uint64_t target = function->address + (uint64_t)reference->target;
  if (reference->is_address) {
    memcpy(moved + reference->at, &target, sizeof target);
    return 1;
  }
  const uint64_t end = function->moved + reference->at + sizeof(uint32_t) + reference->behind;
  put_32(moved + reference->at, target - end);
  return !is_far((int64_t)(target - end));
}

/* Code that goes into the wrapper, and the function's first instructions; 0: it cannot be. */
static int fill_page(uint8_t* page, const struct culprit_region_function* from,
                     struct wrapped* function) {
  enum { kFunctionAt = 16, kWrapperAt = 24, kMovedAt = 32 };
  static const uint8_t push_function[] = {0xff, 0x35}, jump_to[] = {0xff, 0x25};
  const uint64_t own = (uint64_t)(uintptr_t)page;
  const uint64_t words[] = {(uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)culprit_wrapper};
  memcpy(page, push_function, sizeof push_function);
  put_32(page + 2, kFunctionAt - 6);
  memcpy(page + 6, jump_to, sizeof jump_to);
  put_32(page + 8, kWrapperAt - 12);
  memcpy(page + kFunctionAt, words, sizeof words);
  uint8_t* const moved = page + kMovedAt;
  function->moved = own + kMovedAt;
  memcpy(moved, from->moved, from->moved_bytes);
  for (uint32_t i = 0; i < from->reference_count; ++i) {
    if (!put_reference(moved, &from->references[i], function)) return 0;
  }
  put_jump(moved + from->moved_bytes, function->moved + from->moved_bytes,
           function->address + from->replaced);
  return mprotect(page, kPageBytes, PROT_READ | PROT_EXEC) == 0;
}

/* Moved calls return to where no call has pushed its address: shadow stacks forbid that. */
static int has_shadow_stack(void) {
  enum { kStatus = 0x5005, kIsOn = 1 }; /* ARCH_SHSTK_STATUS */
  uint64_t status = 0;
  return syscall(SYS_arch_prctl, kStatus, &status) == 0 && (status & kIsOn) != 0;
}

static int is_sound(const struct culprit_region_function* from) {
  if (from->replaced < kJumpBytes || from->replaced > CULPRIT_REPLACED_BYTES) return 0;
  if (from->moved_bytes > CULPRIT_MOVED_BYTES) return 0;
  if (from->reference_count > CULPRIT_MAX_REFERENCES) return 0;
  for (uint32_t i = 0; i < from->reference_count; ++i) {
    if (from->references[i].at + sizeof(uint64_t) > sizeof from->moved) return 0;
  }
  return find_state() && !has_shadow_stack();
}

static int put_wrapper(const struct culprit_region_function* from, struct wrapped* function) {
  uint8_t* const code = (uint8_t*)(uintptr_t)function->address;
  if (!is_sound(from) || memcmp(code, from->code, from->replaced) != 0) return 0;
  uint8_t* const page = map_near(function->address);
  if (page == NULL) return 0;
  const uint64_t first = function->address & ~(uint64_t)(kPageBytes - 1);
  const uint64_t bytes = function->address + from->replaced - first;
  if (!fill_page(page, from, function) ||
      mprotect((void*)(uintptr_t)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
    munmap(page, kPageBytes);
    return 0;
  }
  put_jump(code, function->address, (uint64_t)(uintptr_t)page);
  memset(code + kJumpBytes, 0x90, from->replaced - kJumpBytes);
  mprotect((void*)(uintptr_t)first, bytes, PROT_READ | PROT_EXEC);
  return 1;
}

#endif

struct places {
  uint64_t address[CULPRIT_MAX_FUNCTIONS]; /* 0: not in memory */
};

static void find_functions(const struct mapping* mapping, void* data) {
  struct places* const places = data;
  if (mapping->rights[2] != 'x') return;
  for (uint32_t i = 0; i < wanted.count; ++i) {
    const uint64_t offset = wanted.functions[i].file_offset;
    const uint64_t bytes = mapping->end - mapping->start;
    if (offset < mapping->offset || offset - mapping->offset >= bytes) continue;
    if (strcmp(mapping->name, wanted.functions[i].path) != 0) continue;
    places->address[i] = mapping->start + (offset - mapping->offset);
  }
}

void functions_prepare(void) {
  if (!paths_read_file(CULPRIT_FUNCTIONS_FILE, &wanted, sizeof wanted)) return;
  if (wanted.count > CULPRIT_MAX_FUNCTIONS) wanted.count = 0;
  static struct places places;
  maps_read(find_functions, &places);
  for (uint32_t i = 0; i < wanted.count; ++i) {
    if (places.address[i] == 0) continue;
    int is_seen = 0;
#if defined(__x86_64__)
    functions[i].address = places.address[i];
    is_seen = put_wrapper(&wanted.functions[i], &functions[i]);
#endif
    set_seen(i, is_seen);
  }
}
