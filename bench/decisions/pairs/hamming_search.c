// pair: hamming_search
// branch: port_saturation
// place: find_nearest
// repair: bits are counted by the popcnt instruction, not by shifts, masks and a multiplication
//
// Matches features of two pictures by the Hamming distance of their 256-bit descriptors. The
// distances do not depend on each other: what a distance takes is arithmetic units.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kFeatures = 8000, kQueries = 4600, kWords = 4, kPatch = 32 };

typedef struct {
  uint64_t words[kWords];
} Descriptor;

static uint64_t next_random(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

#ifdef AFTER
#define POPCNT __attribute__((target("popcnt")))
POPCNT static inline int count_bits(uint64_t word) {
  return __builtin_popcountll(word);
}
#else
#define POPCNT
static inline int count_bits(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555ull;
  word = (word & 0x3333333333333333ull) + ((word >> 2) & 0x3333333333333333ull);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return (int)((word * 0x0101010101010101ull) >> 56);
}
#endif

// A descriptor compares pixels of a patch in pairs, after a blur along its rows.
static NOINLINE Descriptor describe(uint64_t* seed) {
  uint8_t patch[kPatch * kPatch], smooth[kPatch * kPatch];
  Descriptor descriptor = {{0}};
  for (int i = 0; i < kPatch * kPatch; i += 8) {
    const uint64_t random = next_random(seed);
    for (int byte = 0; byte < 8; ++byte) patch[i + byte] = (uint8_t)(random >> (8 * byte));
  }
  smooth[0] = patch[0];
  for (int i = 1; i < kPatch * kPatch; ++i)
    smooth[i] = (uint8_t)((smooth[i - 1] + 3 * patch[i] + 2) >> 2);
  for (int bit = 0; bit < 64 * kWords; ++bit) {
    const int first = bit * 37 % (kPatch * kPatch), second = bit * 101 % (kPatch * kPatch);
    const uint64_t less = smooth[first] < smooth[second];
    descriptor.words[bit / 64] |= less << (bit % 64);
  }
  return descriptor;
}

POPCNT static NOINLINE int find_nearest(const Descriptor* features, const Descriptor* query,
                                        int* nearest) {
  int best = 64 * kWords + 1;
  for (int i = 0; i < kFeatures; ++i) {
    int distance = 0;
    for (int word = 0; word < kWords; ++word)
      distance += count_bits(features[i].words[word] ^ query->words[word]);
    if (distance < best) {
      best = distance;
      *nearest = i;
    }
  }
  return best;
}

int main(void) {
  Descriptor* features = calloc(kFeatures, sizeof *features);
  uint64_t seed = 123456789, sum = 0;
  for (int i = 0; i < kFeatures; ++i) features[i] = describe(&seed);
  for (int query = 0; query < kQueries; ++query) {
    const Descriptor descriptor = describe(&seed);
    int nearest = 0;
    const int distance = find_nearest(features, &descriptor, &nearest);
    sum = sum * 31 + (uint64_t)(distance * 10000 + nearest);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
