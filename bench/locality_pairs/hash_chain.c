// pair: hash_chain
// advice: split_layout
// repair: what is rarely read of an entry is in an array of its own
// options: --objects site
//
// Lookups walk chains of entries by their keys; of the 120 bytes of an entry they read 16.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kEntries = 60000, kBuckets = 8192, kLookups = 120000 };

typedef struct {
  char address[80];
  uint64_t since, until;
  double balance;
} Record;

typedef struct entry {
  uint64_t key;
  struct entry* next;
#ifdef AFTER
  Record* record;
#else
  Record record;
#endif
} Entry;

static Entry* buckets[kBuckets];

static uint64_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static __attribute__((noinline)) const Entry* find(uint64_t key) {
  const Entry* entry = buckets[key % kBuckets];
  while (entry != NULL && entry->key != key) entry = entry->next;  // here
  return entry;
}

static __attribute__((noinline)) long look_up(uint64_t* state) {
  long found = 0;
  for (int i = 0; i < kLookups; ++i) found += find(next_random(state) % (2 * kEntries)) != NULL;
  return found;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  Entry* entries = malloc(kEntries * sizeof *entries);  // allocated
  uint64_t state = 1;
#ifdef AFTER
  Record* records = malloc(kEntries * sizeof *records);
#endif
  for (int i = 0; i < kEntries; ++i) {
    Entry* entry = &entries[(uint64_t)i * 48271 % kEntries];
    entry->key = (uint64_t)i;
    entry->next = buckets[i % kBuckets];
    buckets[i % kBuckets] = entry;
#ifdef AFTER
    entry->record = &records[i];
    records[i].balance = i;
#else
    entry->record.balance = i;
#endif
  }
  long found = 0;
  for (int i = 0; i < repeats; ++i) found += look_up(&state);
  printf("%ld\n", found);
}
