// pair: near_pairs
// branch: instruction_latency
// place: count_near
// repair: squares of distances are compared, and only those of near pairs need a square root
//
// Molecular dynamics: which pairs of atoms are within reach of each other. Most are not, but the
// square root of each distance is taken before that is known.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kAtoms = 3000, kSteps = 12, kRings = 64 };

typedef struct {
  double x[kAtoms], y[kAtoms], z[kAtoms];
  double vx[kAtoms], vy[kAtoms], vz[kAtoms];
} Atoms;

static const double kBox = 40.0, kReach = 2.5;

static double next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state / 4294967296.0;
}

static NOINLINE void place_atoms(Atoms* atoms) {
  uint32_t seed = 60221;
  for (int i = 0; i < kAtoms; ++i) {
    atoms->x[i] = kBox * next_random(&seed);
    atoms->y[i] = kBox * next_random(&seed);
    atoms->z[i] = kBox * next_random(&seed);
    atoms->vx[i] = next_random(&seed) - 0.5;
    atoms->vy[i] = next_random(&seed) - 0.5;
    atoms->vz[i] = next_random(&seed) - 0.5;
  }
}

static NOINLINE int count_near(const Atoms* atoms, double* reach_used, int* rings) {
  int near = 0;
  for (int i = 0; i < kAtoms; ++i)
    for (int k = i + 1; k < kAtoms; ++k) {
      const double dx = atoms->x[i] - atoms->x[k], dy = atoms->y[i] - atoms->y[k];
      const double dz = atoms->z[i] - atoms->z[k];
      const double square = dx * dx + dy * dy + dz * dz;
#ifdef AFTER
      if (square >= kReach * kReach) continue;
      const double distance = sqrt(square);
#else
      const double distance = sqrt(square);
      if (distance >= kReach) continue;
#endif
      ++near;
      ++rings[(int)(distance * (kRings / kReach))];
      *reach_used += distance;
    }
  return near;
}

static NOINLINE void move_atoms(Atoms* atoms, double seconds) {
  double* const places[] = {atoms->x, atoms->y, atoms->z};
  double* const speeds[] = {atoms->vx, atoms->vy, atoms->vz};
  for (int axis = 0; axis < 3; ++axis)
    for (int i = 0; i < kAtoms; ++i) {
      double at = places[axis][i] + speeds[axis][i] * seconds;
      if (at < 0 || at >= kBox) speeds[axis][i] = -speeds[axis][i];
      at = at < 0 ? 0 : at;
      places[axis][i] = at >= kBox ? kBox - 0.001 : at;
    }
}

// The field of the atoms on a line through the box.
static NOINLINE double sum_field(const Atoms* atoms) {
  double field[kRings] = {0}, sum = 0;
  for (int i = 0; i < kAtoms; ++i)
    for (int ring = 0; ring < kRings * 8; ++ring) {
      const double away = atoms->x[i] - ring * (kBox / (kRings * 8));
      field[ring / 8] += (1600.0 - away * away) * (1.0 + 0.01 * away);
    }
  for (int ring = 0; ring < kRings; ++ring) sum += field[ring];
  return sum;
}

int main(void) {
  static Atoms atoms;
  int rings[kRings + 1] = {0};
  uint64_t sum = 0;
  double reach_used = 0;
  place_atoms(&atoms);
  for (int step = 0; step < kSteps; ++step) {
    sum = sum * 31 + (uint64_t)count_near(&atoms, &reach_used, rings);
    sum += (uint64_t)(sum_field(&atoms) / 1000);
    move_atoms(&atoms, 0.05);
  }
  for (int ring = 0; ring <= kRings; ++ring) sum = sum * 31 + (uint64_t)rings[ring];
  printf("%llu %.3f\n", (unsigned long long)sum, reach_used);
  return 0;
}
