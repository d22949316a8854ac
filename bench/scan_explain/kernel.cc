// Kernels of bench/scan_explain.py: one at a time, chosen by a macro.
#include <cmath>
#include <cstdint>

#include "culprit_kernel.h"
constexpr int kSize = 96;
float u[kSize], v[kSize];
double p[kSize], q[kSize];
int32_t small[kSize];
struct Shape {
  virtual ~Shape() = default;
  virtual double area(double x) const = 0;
};
struct Square final : Shape {
  double area(double x) const override { return x * x; }
};
#ifdef RESTRICTED
#define ALONE __restrict
#else
#define ALONE
#endif
#ifdef BLUR
__attribute__((noipa)) void blur(float* ALONE to, float* ALONE from) {
  for (int i = 1; i + 1 < kSize; ++i)
    to[i] = from[i - 1] * 0.25f + from[i + 1] * 0.75f;  // HERE: BLUR
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
  int stride = 1, bins = 12;
  Square square;
  const Shape* shape = &square;
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
#ifdef STRIDE
#ifndef KNOWN
    CULPRIT_CHANGED_VALUE(stride);
#endif
    for (int i = 0; i < kSize / 2; ++i) p[i * stride] = q[i * stride] + 1.5;  // HERE: STRIDE
#endif
#ifdef VIRTUAL
#ifndef DIRECT
    CULPRIT_CHANGED_VALUE(shape);
#endif
    for (int i = 0; i < 24; ++i) total += shape->area(p[i]);  // HERE: VIRTUAL
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
#ifdef FUSED
    for (int i = 0; i < kSize; ++i) u[i] = u[i] * v[i] + 0.5f;  // HERE: FUSED
#endif
#ifdef BLUR
    blur(u, v);
#endif
  }
  CULPRIT_CHANGED(total);
  CULPRIT_CHANGED(whole);
  return culprit_use(&total, sizeof total) + culprit_use(&whole, sizeof whole) +
         culprit_use(p, sizeof p) + culprit_use(u, sizeof u) + culprit_use(small, sizeof small);
}
