// pair: wall_columns
// branch: store_resource_saturation
// place: draw_walls
// repair: the walls are drawn row by row, not column by column
//
// Draws the walls of a maze, as games of the nineties did: a column of the picture at a time. Down
// a column each store is to another line and another page, and the store buffer fills.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kWidth = 2560, kHeight = 1440, kFrames = 16, kTurn = 1024, kMap = 64 };

typedef struct {
  int32_t top[kWidth], bottom[kWidth];
  uint32_t wall[kWidth];
} Scene;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void build_maze(uint8_t* map) {
  uint32_t seed = 1993;
  for (int i = 0; i < kMap * kMap; ++i) {
    const int x = i % kMap, y = i / kMap;
    const int is_border = x == 0 || y == 0 || x == kMap - 1 || y == kMap - 1;
    map[i] = (uint8_t)(is_border || next_random(&seed) % 24 == 0);
  }
}

// Follows a ray for each column until it meets a wall; places are in 256ths of a cell.
static NOINLINE void cast_rays(const uint8_t* map, int turn, Scene* scene) {
  for (int x = 0; x < kWidth; ++x) {
    const int angle = (turn + x / 8) % kTurn;
    const int dx = angle < kTurn / 2 ? angle - kTurn / 4 : 3 * kTurn / 4 - angle;
    const int dy = kTurn / 4 - abs(dx);
    int at_x = 256 * kMap / 2, at_y = 256 * kMap / 2, distance = 1;
    while (!map[(at_y >> 8) * kMap + (at_x >> 8)]) {
      at_x += dx / 16;
      at_y += (angle < kTurn / 2 ? dy : -dy) / 16;
      ++distance;
    }
    const int half = 40000 / (distance + 50);
    scene->top[x] = kHeight / 2 - half;
    scene->bottom[x] = kHeight / 2 + half;
    scene->wall[x] = 0x800000u + (uint32_t)(distance & 255) * 0x101;
  }
}

static inline uint32_t color_of(const Scene* scene, int x, int y) {
  const uint32_t ground = y < kHeight / 2 ? 0x4080f0u : 0x604020u;
  return (y >= scene->top[x]) & (y < scene->bottom[x]) ? scene->wall[x] : ground;
}

static NOINLINE void draw_walls(const Scene* scene, uint32_t* picture) {
#ifdef AFTER
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) picture[y * kWidth + x] = color_of(scene, x, y);
#else
  for (int x = 0; x < kWidth; ++x)
    for (int y = 0; y < kHeight; ++y) picture[y * kWidth + x] = color_of(scene, x, y);
#endif
}

static NOINLINE uint64_t hash_picture(const uint32_t* picture) {
  uint64_t first = 1, second = 2;
  for (int i = 0; i < kWidth * kHeight; i += 2) {
    first = first * 3 + picture[i];
    second = (second ^ picture[i + 1]) * 5;
  }
  return first ^ second;
}

int main(void) {
  static uint8_t map[kMap * kMap];
  static Scene scene;
  uint32_t* picture = calloc((size_t)kWidth * kHeight, sizeof *picture);
  uint64_t sum = 0;
  build_maze(map);
  for (int frame = 0; frame < kFrames; ++frame) {
    cast_rays(map, frame * 41 + 30, &scene);
    draw_walls(&scene, picture);
    sum = sum * 31 + hash_picture(picture);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
