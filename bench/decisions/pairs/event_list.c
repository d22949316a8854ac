// pair: event_list
// branch: load_latency
// place: advance_vehicles
// repair: the vehicles are laid out in the order of their list, so that the prefetcher sees it
//
// Traffic on a ring road. Vehicles entered the list in random order, so that each next one is
// anywhere in 19 MB, and where it is is known only when the one before has arrived.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { kVehicles = 300000, kTicks = 7, kRoad = 1 << 16, kCells = 4096 };

typedef struct Vehicle {
  struct Vehicle* next;
  int32_t position, speed, wish, lane;
  uint32_t seed, emission;
  char plate[32];
} Vehicle;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE Vehicle* enter_vehicles(Vehicle* pool, uint32_t* slots) {
  uint32_t seed = 12345;
  for (uint32_t i = 0; i < kVehicles; ++i) slots[i] = i;
  for (uint32_t i = kVehicles - 1; i > 0; --i) {
    const uint32_t other = next_random(&seed) % (i + 1), kept = slots[i];
    slots[i] = slots[other];
    slots[other] = kept;
  }
  for (uint32_t i = 0; i < kVehicles; ++i) {
    Vehicle* vehicle = &pool[slots[i]];
    vehicle->next = i + 1 < kVehicles ? &pool[slots[i + 1]] : NULL;
    vehicle->position = (int32_t)(next_random(&seed) % kRoad);
    vehicle->speed = 10 + (int32_t)(i % 20);
    vehicle->wish = 20 + (int32_t)(i % 17);
    vehicle->lane = (int32_t)(i % 3);
    vehicle->seed = i | 1;
  }
  return &pool[slots[0]];
}

#ifdef AFTER
static NOINLINE Vehicle* lay_out_in_order(const Vehicle* head) {
  Vehicle* ordered = calloc(kVehicles, sizeof *ordered);
  size_t count = 0;
  for (const Vehicle* at = head; at; at = at->next) {
    ordered[count] = *at;
    ordered[count].next = at->next ? &ordered[count + 1] : NULL;
    ++count;
  }
  return ordered;
}
#endif

static NOINLINE void advance_vehicles(Vehicle* head, uint32_t* density) {
  for (Vehicle* at = head; at; at = at->next) {
    at->speed += (at->wish - at->speed) / 2;
    at->position = (at->position + at->speed + at->lane) & (kRoad - 1);
    at->emission += (uint32_t)(at->speed * at->speed) >> 4;
    ++density[(at->position >> 4) & (kCells - 1)];
  }
}

// How smooth the traffic is: the density with the wave of braking that runs back through it.
static NOINLINE uint64_t spread_waves(uint32_t* density) {
  uint64_t total = 0;
  for (int round = 0; round < 500; ++round)
    for (int i = 1; i + 1 < kCells; ++i) {
      const uint32_t mean = (density[i - 1] + 2 * density[i] + density[i + 1]) >> 2;
      total += mean;
      density[i] = mean + 1;
    }
  return total;
}

int main(void) {
  Vehicle* pool = calloc(kVehicles, sizeof *pool);
  uint32_t* slots = calloc(kVehicles, sizeof *slots);
  Vehicle* head = enter_vehicles(pool, slots);
#ifdef AFTER
  head = lay_out_in_order(head);
#endif
  uint32_t* density = calloc(kCells, sizeof *density);
  uint64_t sum = 0;
  for (int tick = 0; tick < kTicks; ++tick) {
    advance_vehicles(head, density);
    sum += spread_waves(density);
  }
  for (const Vehicle* at = head; at; at = at->next) sum = sum * 31 + at->emission;
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
