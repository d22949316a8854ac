// pair: random_pages
// advice: huge_pages
// repair: the table is in huge pages
// options: --objects site
//
// Each bucket of a table of 64 MB is summed once, all of its line, in an order that jumps from page
// to page: the second TLB holds a fraction of its pages.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kBuckets = 1 << 20, kHugePage = 2 << 20 };

typedef struct {
  uint64_t values[8];
} Bucket;

static Bucket* buckets;

static __attribute__((noinline)) uint64_t sum_all(uint64_t start) {
  uint64_t sum = 0, at = start;
  for (int i = 0; i < kBuckets; ++i) {
    at = (at * 1664525 + 1013904223) % kBuckets;           // comes to each of them
    const Bucket* const bucket = &buckets[at];             // here
    for (int k = 0; k < 8; ++k) sum += bucket->values[k];  // here
  }
  return sum;
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 1;
  const size_t bytes = kBuckets * sizeof(Bucket);
  buckets = aligned_alloc(kHugePage, bytes);  // allocated
#ifdef AFTER
  if (madvise(buckets, bytes, MADV_HUGEPAGE) != 0) perror("madvise");
#endif
  for (uint64_t i = 0; i < kBuckets; ++i)
    for (int k = 0; k < 8; ++k) buckets[i].values[k] = i + (uint64_t)k;
  uint64_t sum = 0;
  for (int r = 0; r < repeats; ++r) sum += sum_all((uint64_t)r);
  printf("%llu\n", (unsigned long long)sum);
}
