// Small square matrices for the kernels of chains: products by value, and into a result.
#pragma once

struct Matrix {
  double at[DIM][DIM];
};

/// Values between 0.25 and 2, so that chains of products neither overflow nor vanish.
inline void fill(Matrix& m, int seed) {
  for (int i = 0; i < DIM; ++i) {
    for (int j = 0; j < DIM; ++j) {
      m.at[i][j] = (0.25 + 0.25 * ((7 * i + 3 * j + seed) % 8)) / DIM;
    }
  }
}

inline void multiply(const Matrix& a, const Matrix& b, Matrix& to) {
  for (int i = 0; i < DIM; ++i) {
    for (int j = 0; j < DIM; ++j) {
      double sum = 0;
      for (int k = 0; k < DIM; ++k) sum += a.at[i][k] * b.at[k][j];
      to.at[i][j] = sum;
    }
  }
}

inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix to;
  multiply(a, b, to);
  return to;
}
