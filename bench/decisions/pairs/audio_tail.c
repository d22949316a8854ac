// pair: audio_tail
// branch: microcode_exceptions
// place: reverberate
// repair: subnormal numbers are flushed to zero (MXCSR), as an audio engine does when it starts
//
// Plucked strings with reverberation. Between the notes the tails of the filters decay below the
// smallest normal number, and the processor needs microcode, or a slow path, for each operation.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <xmmintrin.h>

#define NOINLINE __attribute__((noinline))

enum { kBlock = 512, kBlocks = 24000, kNoteEvery = 250, kCombs = 8, kString = 109 };

typedef struct {
  float low, band, gain, damping;
} Comb;

typedef struct {
  float string[kString];
  int at;
  uint32_t seed;
} Pluck;

static void flush_subnormals(void) {
#ifdef AFTER
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static void pluck(Pluck* voice) {
  for (int i = 0; i < kString; ++i)
    voice->string[i] = (float)(int)(next_random(&voice->seed) % 2001) / 1000.0f - 1.0f;
}

static void mute(Pluck* voice) {
  for (int i = 0; i < kString; ++i) voice->string[i] = 0;
}

static NOINLINE void play(Pluck* voice, float* block) {
  for (int i = 0; i < kBlock; ++i) {
    const int next = voice->at + 1 < kString ? voice->at + 1 : 0;
    const float sample = voice->string[voice->at];
    voice->string[voice->at] = 0.498f * (sample + voice->string[next]);
    voice->at = next;
    block[i] = sample;
  }
}

static NOINLINE void reverberate(Comb* combs, float* block) {
  for (int i = 0; i < kBlock; ++i) {
    float wet = 0;
    for (int comb = 0; comb < kCombs; ++comb) {
      Comb* c = &combs[comb];
      c->low += c->damping * (block[i] - c->low);
      c->band = c->band * c->gain + c->low * 0.05f;
      wet += c->band;
    }
    block[i] = block[i] * 0.7f + wet * 0.3f;
  }
}

static NOINLINE uint64_t quantize(const float* block, uint64_t hash) {
  for (int i = 0; i < kBlock; ++i)
    hash = (hash ^ (uint64_t)(int64_t)(block[i] * 8000.0f)) * 1099511628211ull;
  return hash;
}

static NOINLINE float loudness(const float* block) {
  float most = 0;
  for (int i = 0; i < kBlock; ++i) most = block[i] > most ? block[i] : most;
  return most;
}

int main(void) {
  Comb combs[kCombs];
  Pluck voice = {.seed = 7};
  float block[kBlock];
  uint64_t hash = 14695981039346656037ull;
  int loud_blocks = 0;
  flush_subnormals();
  for (int i = 0; i < kCombs; ++i)
    combs[i] = (Comb){0, 0, 0.90f + 0.01f * (float)i, 0.1f + 0.02f * (float)i};
  for (int i = 0; i < kBlocks; ++i) {
    if (i % kNoteEvery == 0) pluck(&voice);
    if (i % kNoteEvery == 20) mute(&voice);
    play(&voice, block);
    reverberate(combs, block);
    hash = quantize(block, hash);
    loud_blocks += loudness(block) > 0.1f;
  }
  printf("%llu %d\n", (unsigned long long)hash, loud_blocks);
  return 0;
}
