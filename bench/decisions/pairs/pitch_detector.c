// pair: pitch_detector
// branch: instruction_serialization
// place: correlate
// repair: eight sums take turns, so that an addition does not wait for the one before it
// decoy: the samples stream from the second cache, but halving them to float (-DDECOY) saves
// nothing
//
// Finds the pitch of a recording by its correlation with itself. Each addition waits for the last
// one: the sum is a chain as long as the recording.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kSamples = 48000, kFirstLag = 64, kLastLag = 640, kRecordings = 7, kSmoothing = 12 };

#ifdef DECOY
typedef float Sample;
#else
typedef double Sample;
#endif

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

// A saw tooth with noise; whole numbers, so that sums do not depend on their order.
static NOINLINE void record(Sample* samples, int period, uint32_t seed) {
  for (int i = 0; i < kSamples; ++i) {
    const int tooth = i % period * 12000 / period - 6000;
    const int noise = (int)(next_random(&seed) % 2000) - 1000;
    samples[i] = (Sample)(tooth + noise);
  }
}

static NOINLINE void smooth(Sample* samples, int32_t* scratch) {
  for (int i = 0; i < kSamples; ++i) scratch[i] = (int32_t)samples[i];
  for (int round = 0; round < kSmoothing; ++round)
    for (int i = 1; i + 1 < kSamples; ++i)
      scratch[i] = (scratch[i] * 6 + scratch[i - 1] + scratch[i + 1]) / 8;
  for (int i = 0; i < kSamples; ++i) samples[i] = scratch[i];
}

static NOINLINE double correlate(const Sample* samples, int lag) {
  const int count = kSamples - kLastLag;
#ifdef AFTER
  double sums[8] = {0};
  for (int i = 0; i < count; i += 8)
    for (int lane = 0; lane < 8; ++lane)
      sums[lane] += (double)samples[i + lane] * (double)samples[i + lane + lag];
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
#else
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (double)samples[i] * (double)samples[i + lag];
  return sum;
#endif
}

static NOINLINE int count_crossings(const Sample* samples) {
  int crossings = 0;
  for (int i = 1; i < kSamples; ++i) crossings += (samples[i - 1] < 0) != (samples[i] < 0);
  return crossings;
}

static NOINLINE int find_pitch(const Sample* samples, double* most) {
  int pitch = 0;
  *most = 0;
  for (int lag = kFirstLag; lag < kLastLag; ++lag) {
    const double likeness = correlate(samples, lag);
    if (likeness > *most) {
      *most = likeness;
      pitch = lag;
    }
  }
  return pitch;
}

int main(void) {
  Sample* samples = calloc(kSamples, sizeof *samples);
  int32_t* scratch = calloc(kSamples, sizeof *scratch);
  uint64_t sum = 0;
  for (uint32_t i = 1; i <= kRecordings; ++i) {
    double most;
    record(samples, 90 + (int)i * 37, i * 50021);
    for (int round = 0; round < 3; ++round) smooth(samples, scratch);
    const int pitch = find_pitch(samples, &most);
    sum = sum * 31 + (uint64_t)pitch + (uint64_t)most + (uint64_t)count_crossings(samples);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
