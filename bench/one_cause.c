// Programs that wait for one thing, each a function of its own that does what programs do;
// bench/one_cause.py compares what the analysis of stalls says of them.
//
//     one_cause NAME [ROUNDS]     runs one; "list" names them all
//
// What each waits for follows from its text: see where it stands. Compiled with -O2.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/random.h"

#define PROGRAM __attribute__((noinline))
/// The compiler neither knows nor removes it.
#define OPAQUE(value) __asm__ volatile("" : "+r"(value) : : "memory")

enum { kKiB = 1 << 10, kMiB = 1 << 20, kWords = 4096 };
static uint64_t words[kWords];    // 32 KiB
static double numbers[1024];      // 8 KiB, 1 to 2
static unsigned char text[kMiB];  // words of 1 to 12 letters
static char* big;                 // 64 MiB
enum { kBig = 64 * kMiB };

/// A circle through `bytes` of memory, one pointer a line, in random order.
static void** make_ring(size_t bytes) {
  const size_t lines = bytes / 64;
  char* const block = aligned_alloc(4096, bytes);
  uint32_t* const order = malloc(lines * sizeof *order);
  for (size_t i = 0; i < lines; ++i) order[i] = (uint32_t)i;
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t j = next_random() % i;
    const uint32_t kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (size_t i = 0; i < lines; ++i)
    *(void**)(block + order[i] * 64ul) = block + order[(i + 1) % lines] * 64ul;
  free(order);
  return (void**)block;
}

// ---- branches that depend on random data ----

/// Which half a number belongs to: quicksort's inner loop.
PROGRAM uint64_t partition(long rounds) {
  static uint64_t low[kWords], high[kWords];
  uint64_t found = 0;
  for (long r = 0; r < rounds; ++r) {
    const uint64_t key = next_random() | 1;  // else predictors would learn the order
    size_t a = 0, b = 0;
    for (size_t i = 0; i < kWords; ++i) {
      if (words[i] * key >> 63) {
        low[a++] = words[i];
        OPAQUE(a);
      } else {
        high[b++] = words[i];
        OPAQUE(b);
      }
    }
    found += low[a / 2] + high[b / 2];
  }
  return found;
}
/// A search in 2,000 sorted numbers, for others each time.
PROGRAM uint64_t binary_search(long rounds) {
  static uint32_t sorted[2000];
  for (uint32_t i = 0; i < 2000; ++i) sorted[i] = i * 7;
  uint64_t found = 0;
  for (long r = 0; r < rounds; ++r) {
    const uint32_t key = next_random() % 14000;
    size_t low = 0, high = 2000;
    while (low + 1 < high) {
      size_t middle = (low + high) / 2;
      OPAQUE(middle);
      if (sorted[middle] <= key) {
        low = middle;
        OPAQUE(low);
      } else {
        high = middle;
        OPAQUE(high);
      }
    }
    found += low;
  }
  return found;
}
/// Bytecode without order: the jump's target is another each time.
PROGRAM uint64_t interpreter(long rounds) {
  static void* const kCode[] = {&&add,    &&subtract, &&twist, &&shift,
                                &&negate, &&both,     &&step,  &&keep};
  uint64_t a = 1, b = 2;
  const uint64_t* at = words;
  for (long r = 0; r < rounds; ++r) {
    if (++at == words + kWords) {
      at = words;
      words[r % kWords] = next_random();
    }
    goto* kCode[*at >> 61];
  add:
    a += b;
    continue;
  subtract:
    a -= b;
    continue;
  twist:
    a ^= b << 1;
    continue;
  shift:
    a >>= 1;
    continue;
  negate:
    b = -b;
    continue;
  both:
    b += a;
    continue;
  step:
    ++b;
    continue;
  keep:
    OPAQUE(a);
  }
  return a + b;
}
/// Ends of words of random length.
PROGRAM uint64_t tokens(long rounds) {
  uint64_t found = 0;
  for (long r = 0; r < rounds; ++r) {
    const unsigned char* at = text + next_random() % 64;
    for (const unsigned char* const end = text + sizeof text - 16; at < end; ++at) {
      uint64_t hash = 0;
      while (*at != ' ') {
        hash = hash + *at++;
        OPAQUE(hash);
      }
      found ^= hash;
    }
  }
  return found;
}

// ---- the divider ----

/// Buckets by a size that is known only when it runs.
PROGRAM uint64_t buckets(long rounds) {
  uint64_t size = 1000003, sum = 0;
  OPAQUE(size);
  for (long r = 0; r < rounds; ++r) {
    for (size_t i = 0; i < kWords; ++i) sum += words[i] % size;
    OPAQUE(sum);
  }
  return sum;
}
/// Lengths and quotients of independent numbers.
PROGRAM uint64_t norms(long rounds) {
  double sum = 0;
  for (long r = 0; r < rounds; ++r) {
    double here[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < 1024; i += 4)
      for (size_t k = 0; k < 4; ++k) here[k] += 1 / sqrt(numbers[i + k]);
    sum += here[0] + here[1] + here[2] + here[3];
    OPAQUE(rounds);
  }
  return (uint64_t)sum;
}
/// Decimal digits, by a base that is known only when it runs.
PROGRAM uint64_t digits(long rounds) {
  uint64_t base = 10, sum = 0;
  OPAQUE(base);
  for (long r = 0; r < rounds; ++r)
    for (uint64_t n = words[r % kWords] | 1ull << 63; n != 0; n /= base) sum += n % base;
  return sum;
}

// ---- chains of instructions ----

PROGRAM uint64_t horner(long rounds) {
  double x = 0.25, sum = 0;
  for (long r = 0; r < rounds; ++r) {
    double y = 0;
    for (size_t i = 0; i < 1024; ++i) y = y * x + numbers[i];
    sum += y;
    OPAQUE(rounds);
  }
  return (uint64_t)sum;
}
/// Fowler, Noll, Vo: each byte's product waits for the one before.
PROGRAM uint64_t hash_bytes(long rounds) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (long r = 0; r < rounds; ++r)
    for (size_t i = 0; i < 4096; ++i) hash = (hash ^ text[i]) * 0x100000001b3u;
  return hash;
}
PROGRAM uint64_t sum_in_order(long rounds) {
  double sum = 0;
  for (long r = 0; r < rounds; ++r) {
    for (size_t i = 0; i < 1024; ++i) sum += numbers[i];
    OPAQUE(rounds);
  }
  return (uint64_t)sum;
}
/// Each step looks up by what the one before found: in L1.
PROGRAM uint64_t crc_by_table(long rounds) {
  static uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int k = 0; k < 8; ++k) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  uint32_t crc = ~0u;
  for (long r = 0; r < rounds; ++r)
    for (size_t i = 0; i < 4096; ++i) crc = crc >> 8 ^ table[(crc ^ text[i]) & 255];
  return crc;
}

// ---- data ----

static uint64_t chase(size_t bytes, long rounds) {
  void** at = make_ring(bytes);
  for (long r = 0; r < rounds; ++r) at = *at;
  return (uint64_t)at;
}
PROGRAM uint64_t list_in_l2(long rounds) {
  return chase(192 * kKiB, rounds);
}
PROGRAM uint64_t list_beyond(long rounds) {
  return chase(kBig, rounds);
}
/// A state machine of 256 KiB.
PROGRAM uint64_t automaton(long rounds) {
  enum { kStates = 32 * kKiB };
  static uint32_t next[kStates][2];
  for (size_t i = 0; i < kStates; ++i)
    next[i][0] = next_random() % kStates, next[i][1] = next_random() % kStates;
  uint32_t at = 0;
  for (long r = 0; r < rounds; ++r) at = next[at][words[r % kWords] & 1];
  return at;
}
/// A table of 64 MiB, looked up at random; no lookup waits for another.
PROGRAM uint64_t probes(long rounds) {
  uint64_t sum = 0, at = 1;
  for (long r = 0; r < rounds; ++r) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    sum += *(uint64_t*)(big + (at >> 38 << 3 & (kBig - 8)));
  }
  return sum;
}
/// A tree in an array of 64 MiB, walked down without branches; each bit of the key says which way.
PROGRAM uint64_t tree(long rounds) {
  const uint32_t* const keys = (const uint32_t*)big;
  uint64_t found = 0;
  for (long r = 0; r < rounds; ++r) {
    const uint32_t key = (uint32_t)next_random();
    uint64_t at = 1;
    for (int level = 0; at < kBig / 4; ++level) at = 2 * at + ((keys[at] ^ key >> level) & 1);
    found += at;
  }
  return found;
}
/// A matrix of 2,048 rows, by columns.
PROGRAM uint64_t columns(long rounds) {
  const double* const matrix = (const double*)big;
  double sum = 0;
  for (long r = 0; r < rounds; ++r)
    for (size_t row = 0; row < 2048; ++row) sum += matrix[row * 2048 + r % 2048];
  return (uint64_t)sum;
}
/// Another line in each of 16,384 pages: 1 MiB of data.
PROGRAM uint64_t pages(long rounds) {
  uint64_t sum = 0, at = 0;
  for (long r = 0; r < rounds; ++r) {
    at = (at * 5 + 1) % (kBig / 4096);
    sum += *(uint64_t*)(big + at * 4096 + at % 64 * 64);
  }
  return sum;
}
/// All of 64 MiB, in order.
PROGRAM uint64_t total_in_order(long rounds) {
  uint64_t sum = 0;
  for (long r = 0; r < rounds; ++r) {
    for (size_t i = 0; i < kBig; i += 64) sum += *(uint64_t*)(big + i);
    OPAQUE(sum);
  }
  return sum;
}

// ---- stores ----

/// Counters of 64 MiB that are set, not read.
PROGRAM uint64_t scatter(long rounds) {
  uint64_t at = 1;
  for (long r = 0; r < rounds; ++r) {
    at = at * 6364136223846793005u + 1442695040888963407u;
    *(uint64_t*)(big + (at >> 38 << 3 & (kBig - 8))) = r;
  }
  return at;
}
PROGRAM uint64_t fill(long rounds) {
  for (long r = 0; r < rounds; ++r)
    for (size_t i = 0; i < kBig; i += 8) *(volatile uint64_t*)(big + i) = r;
  return 0;
}
/// A number is put together from bytes and read as a whole.
PROGRAM uint64_t bytes_to_word(long rounds) {
  unsigned char volatile part[8] = {0};
  uint64_t sum = 0;
  for (long r = 0; r < rounds; ++r) {
    for (int i = 0; i < 8; ++i) part[i] = (unsigned char)(sum >> i);
    sum += *(volatile uint64_t*)part;
  }
  return sum;
}
/// Two halves are stored, the whole is copied: a struct of two floats.
PROGRAM uint64_t halves(long rounds) {
  volatile union {
    float half[2];
    uint64_t whole;
  } number = {{1, 2}};
  uint64_t sum = 0;
  for (long r = 0; r < rounds; ++r) {
    number.half[0] = (float)(sum & 15);
    number.half[1] = 2;
    sum += number.whole;
  }
  return sum;
}

// ---- what everything waits for ----

PROGRAM uint64_t count_atomically(long rounds) {
  static uint64_t count;
  for (long r = 0; r < rounds; ++r) __atomic_fetch_add(&count, r, __ATOMIC_SEQ_CST);
  return count;
}
PROGRAM uint64_t publish(long rounds) {
  static uint64_t seen;
  for (long r = 0; r < rounds; ++r) {
    seen = r;
    __asm__ volatile("mfence" : : : "memory");
  }
  return seen;
}
/// A lock that nobody else wants.
PROGRAM uint64_t own_lock(long rounds) {
  static int lock;
  static uint64_t guarded;
  for (long r = 0; r < rounds; ++r) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
    guarded += r;
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
  }
  return guarded;
}

// ---- code ----

/// 2 MiB of instructions in a row.
PROGRAM uint64_t straight_code(long rounds) {
  uint64_t sum = 0;
  for (long r = 0; r < rounds; ++r)
    __asm__ volatile(".rept 180000\n add $1, %0\n .nops 8\n .endr" : "+r"(sum));
  return sum;
}
/// 4,096 functions of 256 bytes, one after the other.
__asm__(
    ".text\n.p2align 8\nmany_functions:\n.rept 4096\n add $1, %rax\n ret\n .p2align 8\n.endr\n");
PROGRAM uint64_t call_many_functions(long rounds) {
  uint64_t sum = 0;
  for (long r = 0; r < rounds; ++r)
    __asm__ volatile(
        ".set place, 0\n.rept 4096\n call many_functions + place\n .set place, place + 256\n.endr"
        : "+a"(sum)
        :
        : "memory", "cc");
  return sum;
}
/// x87's sine is a program of the CPU's own.
PROGRAM uint64_t x87_sine(long rounds) {
  double sum = 0;
  for (long r = 0; r < rounds; ++r) {
    double x = numbers[r % 1024];
    __asm__ volatile("fldl %0\n fsin\n fstpl %0" : "+m"(x));
    sum += x;
  }
  return (uint64_t)sum;
}

// ---- units ----

/// Eight independent products a round.
PROGRAM uint64_t products(long rounds) {
  uint64_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (long r = 0; r < rounds; ++r)
    __asm__ volatile(
        "imul $3, %0, %0\n imul $3, %1, %1\n imul $3, %2, %2\n imul $3, %3, %3\n"
        "imul $3, %4, %4\n imul $3, %5, %5\n imul $3, %6, %6\n imul $3, %7, %7"
        : "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]), "+r"(a[4]), "+r"(a[5]), "+r"(a[6]),
          "+r"(a[7]));
  return a[0] ^ a[1] ^ a[2] ^ a[3] ^ a[4] ^ a[5] ^ a[6] ^ a[7];
}

static const struct {
  const char* name;
  uint64_t (*run)(long);
  long rounds;  // a tenth of a second or some on a CPU of 4 GHz
} kPrograms[] = {
    {"partition", partition, 24000},
    {"binary_search", binary_search, 4800000},
    {"interpreter", interpreter, 64000000},
    {"tokens", tokens, 96},
    {"buckets", buckets, 16000},
    {"norms", norms, 48000},
    {"digits", digits, 4000000},
    {"horner", horner, 80000},
    {"hash_bytes", hash_bytes, 40000},
    {"sum_in_order", sum_in_order, 208000},
    {"crc_by_table", crc_by_table, 24000},
    {"list_in_l2", list_in_l2, 48000000},
    {"list_beyond", list_beyond, 4800000},
    {"automaton", automaton, 32000000},
    {"probes", probes, 32000000},
    {"tree", tree, 1600000},
    {"columns", columns, 16000},
    {"pages", pages, 32000000},
    {"total_in_order", total_in_order, 48},
    {"scatter", scatter, 32000000},
    {"fill", fill, 32},
    {"bytes_to_word", bytes_to_word, 32000000},
    {"halves", halves, 32000000},
    {"count_atomically", count_atomically, 64000000},
    {"publish", publish, 24000000},
    {"own_lock", own_lock, 48000000},
    {"straight_code", straight_code, 2400},
    {"many_functions", call_many_functions, 16000},
    {"x87_sine", x87_sine, 6400000},
    {"products", products, 80000000},
};

int main(int count, char** argument) {
  const char* const wanted = count > 1 ? argument[1] : "list";
  for (size_t i = 0; i < kWords; ++i) words[i] = next_random();
  for (size_t i = 0; i < 1024; ++i) numbers[i] = 1 + (double)(next_random() % 1024) / 1024;
  for (size_t i = 0, left = 1; i < sizeof text; ++i) {
    const int is_end = --left == 0;
    text[i] = is_end ? ' ' : (unsigned char)('a' + next_random() % 26);
    if (is_end) left = 2 + next_random() % 12;
  }
  text[sizeof text - 1] = ' ';
  for (size_t i = 0; i < sizeof kPrograms / sizeof *kPrograms; ++i) {
    if (strcmp(wanted, "list") == 0) puts(kPrograms[i].name);
    if (strcmp(wanted, kPrograms[i].name) != 0) continue;
    big = aligned_alloc(4096, kBig);
    for (size_t k = 0; k < kBig; k += 4096) big[k] = 1;  // else all pages would be the one of zeros
    printf("%llu\n", (unsigned long long)kPrograms[i].run(count > 2 ? atol(argument[2])
                                                                    : kPrograms[i].rounds));
    return 0;
  }
  return strcmp(wanted, "list") != 0;
}
