// pair: image_passes
// branch: bandwidth_saturation
// place: apply_filter
// repair: all filters are applied to one band of rows before the next band
//
// Corrects photos by a list of filters, each of which is a few vector instructions for 16 bytes.
// A filter after the other streams the whole photo through the memory.
#include <emmintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kRowBytes = 16384, kRows = 2400, kBandRows = 1, kPhotos = 5, kFilters = 12 };

typedef enum { kBrighten, kDarken, kInvert, kFade } Kind;

typedef struct {
  Kind kind;
  uint8_t amount;
} Filter;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void expose(uint8_t* photo, uint32_t seed) {
  uint32_t row[256];
  for (int i = 0; i < 256; ++i) row[i] = next_random(&seed);
  for (int y = 0; y < kRows; ++y) {
    uint32_t* out = (uint32_t*)(photo + (size_t)y * kRowBytes);
    for (int x = 0; x < kRowBytes / 4; ++x) out[x] = row[(x + y) & 255] + (uint32_t)y;
  }
}

#define FOR_ALL_PIXELS(FILTERED)                  \
  for (__m128i* at = first; at < last; at += 2) { \
    __m128i pixels = _mm_load_si128(at);          \
    _mm_store_si128(at, FILTERED);                \
    pixels = _mm_load_si128(at + 1);              \
    _mm_store_si128(at + 1, FILTERED);            \
  }

static NOINLINE void apply_filter(uint8_t* bytes, size_t count, const Filter* filter) {
  const __m128i amount = _mm_set1_epi8((char)filter->amount);
  __m128i *const first = (__m128i*)bytes, *const last = (__m128i*)(bytes + count);
  switch (filter->kind) {
    case kBrighten:
      FOR_ALL_PIXELS(_mm_adds_epu8(pixels, amount))
      break;
    case kDarken:
      FOR_ALL_PIXELS(_mm_subs_epu8(pixels, amount))
      break;
    case kInvert:
      FOR_ALL_PIXELS(_mm_xor_si128(pixels, amount))
      break;
    case kFade:
      FOR_ALL_PIXELS(_mm_avg_epu8(pixels, amount))
      break;
  }
}

static NOINLINE void correct(uint8_t* photo, const Filter* filters) {
#ifdef AFTER
  const int band_rows = kBandRows;
#else
  const int band_rows = kRows;
#endif
  for (int top = 0; top < kRows; top += band_rows)
    for (int i = 0; i < kFilters; ++i)
      apply_filter(photo + (size_t)top * kRowBytes, (size_t)band_rows * kRowBytes, &filters[i]);
}

static NOINLINE uint64_t hash_photo(const uint8_t* photo) {
  uint64_t first = 1, second = 2;
  const uint64_t* words = (const uint64_t*)photo;
  for (size_t i = 0; i < (size_t)kRows * kRowBytes / 8; i += 2) {
    first = (first ^ words[i]) * 0x9e3779b97f4a7c15ull;
    second = (second + words[i + 1]) * 0xbf58476d1ce4e5b9ull;
  }
  return first ^ second;
}

int main(void) {
  static const Filter kList[kFilters] = {{kBrighten, 20}, {kFade, 128},   {kInvert, 255},
                                         {kDarken, 9},    {kFade, 90},    {kBrighten, 31},
                                         {kInvert, 63},   {kDarken, 14},  {kFade, 200},
                                         {kInvert, 127},  {kBrighten, 7}, {kDarken, 3}};
  uint8_t* photo = aligned_alloc(64, (size_t)kRows * kRowBytes);
  uint64_t sum = 0;
  for (uint32_t i = 1; i <= kPhotos; ++i) {
    expose(photo, i * 40503);
    correct(photo, kList);
    sum = sum * 31 + hash_photo(photo);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
