// Adds one vector to another by an expression template, as libraries of small vectors do.
#include "culprit_kernel.h"

template <class L, class R>
struct Sum {
  const L& left;
  const R& right;
  double operator[](int i) const { return left[i] + right[i]; }
};
struct Vector {
  double values[DIM];
  double operator[](int i) const { return values[i]; }
  template <class E>
  Vector& operator=(const E& expression) {
    for (int i = 0; i < DIM; ++i) values[i] = expression[i];
    return *this;
  }
};
Sum<Vector, Vector> operator+(const Vector& left, const Vector& right) {
  return {left, right};
}

int main(int argc, char** argv) {
  const long runs = culprit_runs(argc, argv);
  Vector a, b;
  for (int i = 0; i < DIM; ++i) {
    a.values[i] = 1.25 + i;
    b.values[i] = 0.75 - i;
  }
  CULPRIT_CHANGED(b);
  for (long n = 0; n < runs; ++n) {
    CULPRIT_CHANGED(a);
    a = a + b;
  }
  return culprit_use(&a, sizeof a);
}
