// pair: cell_neighbours
// branch: port_saturation
// place: count_neighbours
// repair: the products of the offsets are in a table, and are added: a hash is linear before its
// end
//
// Particles in a hashed grid: how many are in the 26 cells around each. The hash of a cell takes
// three multiplications, and the processor has one multiplier.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kParticles = 40000, kBuckets = 4096, kOffsets = 26, kSteps = 90, kBox = 1 << 16 };

static const uint32_t kFactorX = 73856093, kFactorY = 19349663, kFactorZ = 83492791;

typedef struct {
  uint32_t x[kOffsets], y[kOffsets], z[kOffsets];
} Offsets;

typedef struct {
  int32_t x, y, z, vx, vy, vz;
} Particle;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void place_particles(Particle* particles) {
  uint32_t seed = 1729;
  for (int i = 0; i < kParticles; ++i) {
    Particle* p = &particles[i];
    p->x = (int32_t)(next_random(&seed) % kBox);
    p->y = (int32_t)(next_random(&seed) % kBox);
    p->z = (int32_t)(next_random(&seed) % kBox);
    p->vx = (int32_t)(next_random(&seed) % 201) - 100;
    p->vy = (int32_t)(next_random(&seed) % 201) - 100;
    p->vz = (int32_t)(next_random(&seed) % 201) - 100;
  }
}

static NOINLINE void make_offsets(Offsets* offsets) {
  int count = 0;
  for (int i = 0; i < 27; ++i) {
    if (i == 13) continue;
    offsets->x[count] = (uint32_t)(i % 3 - 1);
    offsets->y[count] = (uint32_t)(i / 3 % 3 - 1);
    offsets->z[count] = (uint32_t)(i / 9 - 1);
#ifdef AFTER
    offsets->x[count] *= kFactorX;
    offsets->y[count] *= kFactorY;
    offsets->z[count] *= kFactorZ;
#endif
    ++count;
  }
}

static uint32_t bucket_of(uint32_t x, uint32_t y, uint32_t z) {
  return (x ^ y ^ z) >> 7 & (kBuckets - 1);
}

static NOINLINE void fill_grid(const Particle* particles, uint16_t* grid) {
  for (int i = 0; i < kBuckets; ++i) grid[i] = 0;
  for (int i = 0; i < kParticles; ++i)
    ++grid[bucket_of((uint32_t)(particles[i].x >> 8) * kFactorX,
                     (uint32_t)(particles[i].y >> 8) * kFactorY,
                     (uint32_t)(particles[i].z >> 8) * kFactorZ)];
}

static NOINLINE uint64_t count_neighbours(const Particle* particles, const uint16_t* grid,
                                          const Offsets* offsets) {
  uint64_t neighbours = 0;
  for (int i = 0; i < kParticles; ++i) {
    const uint32_t x = (uint32_t)(particles[i].x >> 8), y = (uint32_t)(particles[i].y >> 8);
    const uint32_t z = (uint32_t)(particles[i].z >> 8);
#ifdef AFTER
    const uint32_t xx = x * kFactorX, yy = y * kFactorY, zz = z * kFactorZ;
    for (int k = 0; k < kOffsets; ++k)
      neighbours += grid[bucket_of(xx + offsets->x[k], yy + offsets->y[k], zz + offsets->z[k])];
#else
    for (int k = 0; k < kOffsets; ++k)
      neighbours += grid[bucket_of((x + offsets->x[k]) * kFactorX, (y + offsets->y[k]) * kFactorY,
                                   (z + offsets->z[k]) * kFactorZ)];
#endif
  }
  return neighbours;
}

static NOINLINE void move(Particle* particles, int steps) {
  for (int step = 0; step < steps; ++step)
    for (int i = 0; i < kParticles; ++i) {
      Particle* p = &particles[i];
      p->x = (p->x + p->vx) & (kBox - 1);
      p->y = (p->y + p->vy) & (kBox - 1);
      p->z = (p->z + p->vz) & (kBox - 1);
    }
}

int main(void) {
  static uint16_t grid[kBuckets];
  Particle* particles = calloc(kParticles, sizeof *particles);
  Offsets offsets;
  uint64_t sum = 0;
  place_particles(particles);
  make_offsets(&offsets);
  for (int step = 0; step < kSteps; ++step) {
    fill_grid(particles, grid);
    sum = sum * 31 + count_neighbours(particles, grid, &offsets);
    move(particles, 3);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
