// pair: kept_history
// advice: dead_stores
// repair: the history, which nobody reads, is not kept
// options: --objects site
//
// A simulation keeps each of its steps, 32 bytes, and only its last one is printed.
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 1000000 };

typedef struct {
  double position, speed, force, energy;
} Step;

static __attribute__((noinline)) double run(Step* history, double position) {
  double speed = 0, energy = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double force = -position;
    speed += force * 1e-3;
    position += speed * 1e-3;
    energy = position * position + speed * speed;
#ifndef AFTER
    history[i] = (Step){position, speed, force, energy};  // here
#endif
  }
  (void)history;
  return energy;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  Step* const history = malloc(kSteps * sizeof(Step));  // allocated
  double energy = 0;
  for (int r = 0; r < repeats; ++r) energy += run(history, 1 + r);
  printf("%.9f\n", energy);
  free(history);
}
