// Numbers that are the same in each run (xorshift64: G. Marsaglia, Xorshift RNGs, 2003).
#pragma once

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}
