// Kernels of bench/scan_explain.py: one at a time, chosen by a macro.
#include <cmath>
#include <cstdint>
#include <vector>

#include "culprit_kernel.h"
constexpr int kSize = 96;
float u[kSize], v[kSize];
double p[kSize], q[kSize];
int32_t small[kSize];
#ifdef BY_VALUE
struct Wide {
  int64_t elements[8];
};
Wide wide = {{3, 5, 7, 11, 13, 17, 19, 23}};
__attribute__((noipa)) static int64_t pick(PASSED from, int at) {
  return from.elements[at];
}
#endif
int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  for (int i = 0; i < kSize; ++i) {
    u[i] = v[i] = 1.5f + i;
    p[i] = q[i] = 2.25 + i;
    small[i] = 12345 * i + 77;
  }
#ifdef PADDING
  char padding[PADDING];
  CULPRIT_CHANGED(padding);
#endif
  double total = 1.5;
  int64_t whole = 5;
  int bins = 12;
  std::vector<int32_t> list(small, small + kSize);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(u);
    CULPRIT_CHANGED(v);
    CULPRIT_CHANGED(p);
    CULPRIT_CHANGED(q);
    CULPRIT_CHANGED(small);
#ifdef MAXIMUM
    float most = u[0];
    for (int i = 1; i < kSize; ++i) most = u[i] > most ? u[i] : most;  // HERE: MAXIMUM
    total += most;
#endif
#ifdef BINS
#ifdef POWER
    bins = 16;
#else
    CULPRIT_CHANGED_VALUE(bins);
#endif
    for (int i = 0; i < 24; ++i) whole += small[i] % bins;  // HERE: BINS
#endif
#ifdef HYPOT
    for (int i = 0; i < 24; ++i) {
#ifdef BY_HAND
      p[i] = q[i] * q[i] + p[i] * p[i];
#else
      p[i] = std::pow(q[i], 3.0) + p[i];  // HERE: HYPOT
#endif
    }
#endif
#ifdef ELEMENTS
    CULPRIT_CHANGED(list);
    for (size_t i = 0; i < kSize; ++i) {
#ifdef UNCHECKED
      small[i] += list[i] >> 1;
#else
      small[i] += list.at(i) >> 1;  // HERE: ELEMENTS
#endif
    }
#endif
#ifdef FLOOR
    for (int i = 0; i < 24; ++i) p[i] = std::floor(q[i] * 1.25);  // HERE: FLOOR
#endif
#ifdef BY_VALUE
    CULPRIT_CHANGED(wide);
    for (int i = 0; i < 24; ++i) whole += pick(wide, i & 7);  // HERE: BY_VALUE
#endif
#ifdef HASH
    {
#ifdef MASK
      const uint32_t buckets = 64;
#else
      uint32_t buckets = 64;
      CULPRIT_CHANGED_VALUE(buckets);
#endif
      for (int i = 0; i < 24; ++i) small[i] += uint32_t(small[i + 24]) % buckets;  // HERE: HASH
    }
#endif
#ifdef FUSED
    for (int i = 0; i < kSize; ++i) u[i] = u[i] * v[i] + 0.5f;  // HERE: FUSED
#endif
  }
  CULPRIT_CHANGED(total);
  CULPRIT_CHANGED(whole);
  return culprit_use(&total, sizeof total) + culprit_use(&whole, sizeof whole) +
         culprit_use(p, sizeof p) + culprit_use(u, sizeof u) + culprit_use(small, sizeof small);
}
