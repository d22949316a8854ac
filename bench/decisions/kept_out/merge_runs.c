// pair: merge_runs
// branch: branch_misprediction
// place: merge
// repair: the smaller head is chosen by arithmetic on the comparison, not by a branch
//
// Sorts keys by merging runs. Which of two runs has the smaller head is random, and each wrong
// guess throws away what was begun behind it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kKeys = 1 << 17, kRun = 16, kBatches = 24 };

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void read_keys(uint32_t* keys, uint32_t seed) {
  for (int i = 0; i < kKeys; ++i) keys[i] = next_random(&seed) >> 1;
}

// Ranks each key within its run: no branch depends on a key.
static NOINLINE void sort_runs(uint32_t* out, const uint32_t* keys) {
  for (int first = 0; first < kKeys; first += kRun)
    for (int i = 0; i < kRun; ++i) {
      int rank = 0;
      for (int k = 0; k < kRun; ++k) {
        rank += keys[first + k] < keys[first + i];
        rank += (keys[first + k] == keys[first + i]) & (k < i);
      }
      out[first + rank] = keys[first + i];
    }
}

static NOINLINE void merge(uint32_t* out, const uint32_t* left, const uint32_t* left_end,
                           const uint32_t* right, const uint32_t* right_end) {
  while (left < left_end && right < right_end) {
#ifdef AFTER
    const uint32_t a = *left, b = *right;
    const uint32_t is_right = b < a;
    *out++ = a ^ ((a ^ b) & (0 - is_right));
    left += 1 - is_right;
    right += is_right;
#else
    if (*right < *left)
      *out++ = *right++;
    else
      *out++ = *left++;
#endif
  }
  while (left < left_end) *out++ = *left++;
  while (right < right_end) *out++ = *right++;
}

static NOINLINE uint32_t* merge_all(uint32_t* from, uint32_t* to) {
  for (int run = kRun; run < kKeys; run *= 2) {
    for (int first = 0; first < kKeys; first += 2 * run)
      merge(to + first, from + first, from + first + run, from + first + run,
            from + first + 2 * run);
    uint32_t* const other = from;
    from = to;
    to = other;
  }
  return from;
}

static NOINLINE uint64_t summarize(const uint32_t* keys) {
  uint64_t sum = 0, widest = 0;
  for (int i = 1; i < kKeys; ++i) {
    const uint64_t gap = keys[i] - keys[i - 1];
    widest = gap > widest ? gap : widest;
    sum = sum * 3 + keys[i];
  }
  return sum ^ widest;
}

int main(void) {
  uint32_t* keys = calloc(kKeys, sizeof *keys);
  uint32_t* scratch = calloc(kKeys, sizeof *scratch);
  uint64_t sum = 0;
  for (uint32_t batch = 1; batch <= kBatches; ++batch) {
    read_keys(scratch, batch * 31337);
    sort_runs(keys, scratch);
    sum = sum * 31 + summarize(merge_all(keys, scratch));
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
