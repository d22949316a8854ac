// pair: number_text
// branch: instruction_latency
// place: append_number
// repair: decimal numbers are divided by a constant, which the compiler multiplies by instead
//
// Builds lines of a log: names, numbers, separators. Each digit waits for the quotient that the
// divider makes of the digits before it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { kLines = 500000, kNumbers = 8, kLineBytes = 256 };

typedef struct {
  char bytes[kLineBytes];
  size_t size;
} Line;

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static NOINLINE void append_text(Line* line, const char* text) {
  while (*text) line->bytes[line->size++] = *text++;
}

static char* digits_backwards(char* end, uint64_t value, uint64_t base) {
  do {
    *--end = "0123456789abcdef"[value % base];
    value /= base;
  } while (value);
  return end;
}

static NOINLINE void append_number(Line* line, uint64_t value, uint64_t base) {
  char digits[64];
  char* const end = digits + sizeof digits;
#ifdef AFTER
  const char* first =
      base == 10 ? digits_backwards(end, value, 10) : digits_backwards(end, value, base);
#else
  const char* first = digits_backwards(end, value, base);
#endif
  memcpy(line->bytes + line->size, first, (size_t)(end - first));
  line->size += (size_t)(end - first);
}

static NOINLINE void write_line(Line* line, uint64_t* seed, unsigned base) {
  static const char* const kNames[] = {"id ",  " of ",  " at ", " to ",
                                       " by ", " for ", " on ", " in "};
  line->size = 0;
  for (int i = 0; i < kNumbers; ++i) {
    append_text(line, kNames[i]);
    append_number(line, (next_random(seed) >> 1) | 1ull << 62, base);
  }
  append_text(line, "\n");
}

static NOINLINE uint64_t hash_line(const Line* line, uint64_t hash) {
  uint64_t word;
  for (size_t i = 0; i + sizeof word <= line->size; i += sizeof word) {
    memcpy(&word, line->bytes + i, sizeof word);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash + line->size;
}

int main(int count, char** arguments) {
  // As a setting would, it makes the base unknown to the compiler.
  const unsigned base = count > 1 ? (unsigned)atoi(arguments[1]) : 10;
  Line line;
  uint64_t seed = 88172645463325252ull, hash = 1469598103934665603ull;
  for (int i = 0; i < kLines; ++i) {
    write_line(&line, &seed, base);
    hash = hash_line(&line, hash);
  }
  printf("%llu\n", (unsigned long long)hash);
  return 0;
}
