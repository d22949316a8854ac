// The update of a Kalman filter with a measurement of one number: gain, state and covariance.
#include "culprit_kernel.h"
#include "matrix.h"

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  Matrix p;
  double x[DIM], h[DIM];
  fill(p, 3);
  for (int i = 0; i < DIM; ++i) {
    p.at[i][i] += 1.5;
    x[i] = 1.25 + i;
    h[i] = 0.75 / (i + 1);
  }
  double measured = 2.25, noise = 0.5;
  CULPRIT_CHANGED(h);
  for (long n = 0; n < runs; ++n) {
    Matrix before = p;
    double state[DIM];
    for (int i = 0; i < DIM; ++i) state[i] = x[i];
    CULPRIT_CHANGED(before);
    CULPRIT_CHANGED(state);
    CULPRIT_CHANGED_FLOAT(measured);
    double ph[DIM], variance = noise, expected = 0;
    for (int i = 0; i < DIM; ++i) {
      ph[i] = 0;
      for (int j = 0; j < DIM; ++j) ph[i] += before.at[i][j] * h[j];
      variance += h[i] * ph[i];
      expected += h[i] * state[i];
    }
    const double inverse = 1 / variance;
    for (int i = 0; i < DIM; ++i) {
      const double gain = ph[i] * inverse;
      state[i] += gain * (measured - expected);
      for (int j = 0; j < DIM; ++j) before.at[i][j] -= gain * ph[j];
    }
    CULPRIT_CHANGED(before);
    CULPRIT_CHANGED(state);
  }
  return culprit_use(&p, sizeof p);
}
