// pair: pixel_access
// branch: function_call_overhead
// place: get_pixel|blur
// repair: the accessor of a pixel is inlined
//
// A photo is blurred, then its edges are found. The blur asks for each of its nine pixels by a
// call of the image library, which checks the coordinates.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kWidth = 640, kHeight = 400, kFrames = 40 };

typedef struct {
  int width, height;
  uint8_t* pixels;
} Image;

// The library is in a file of its own; noinline stands for that.
#ifdef AFTER
static inline
#else
static NOINLINE
#endif
    int
    get_pixel(const Image* image, int x, int y) {
  if (x < 0 || y < 0 || x >= image->width || y >= image->height) return 0;
  return image->pixels[y * image->width + x];
}

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static Image make_image(void) {
  const Image image = {kWidth, kHeight, calloc(kWidth * kHeight, 1)};
  return image;
}

static NOINLINE void expose(const Image* image, uint32_t seed) {
  for (int i = 0; i < kWidth * kHeight; i += 4) {
    const uint32_t random = next_random(&seed);
    for (int byte = 0; byte < 4; ++byte)
      image->pixels[i + byte] = (uint8_t)((random >> (8 * byte) & 63) + (i >> 11));
  }
}

static NOINLINE void blur(const Image* out, const Image* in) {
  for (int y = 0; y < in->height; ++y)
    for (int x = 0; x < in->width; ++x) {
      int sum = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) sum += get_pixel(in, x + dx, y + dy);
      out->pixels[y * out->width + x] = (uint8_t)(sum * 57 >> 9);
    }
}

static NOINLINE uint64_t find_edges(const Image* image) {
  uint64_t sum = 0;
  for (int y = 1; y + 1 < kHeight; ++y)
    for (int x = 1; x + 1 < kWidth; ++x) {
      const uint8_t* at = image->pixels + y * kWidth + x;
      const int across = at[1] - at[-1] + at[1 + kWidth] - at[-1 + kWidth];
      const int down = at[kWidth] - at[-kWidth] + at[1 + kWidth] - at[1 - kWidth];
      sum = sum * 3 + (uint64_t)(across * across + down * down);
    }
  return sum;
}

static NOINLINE void stretch_contrast(const Image* image) {
  uint8_t table[256];
  for (int i = 0; i < 256; ++i) table[i] = (uint8_t)(i * 3 / 2 > 255 ? 255 : i * 3 / 2);
  for (int i = 0; i < kWidth * kHeight; ++i) image->pixels[i] = table[image->pixels[i]];
}

int main(void) {
  const Image photo = make_image(), smooth = make_image();
  uint64_t sum = 0;
  for (uint32_t frame = 1; frame <= kFrames; ++frame) {
    expose(&photo, frame * 65537);
    blur(&smooth, &photo);
    stretch_contrast(&smooth);
    sum = sum * 31 + find_edges(&smooth);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
