// An example to explain: the sum of a matrix, along its columns and along its rows.
//
//     culprit record --engine simulate build/release/matwalk && culprit why
//
// Both read the same numbers; along a column each is on a page of its own.

#include <cstdio>
#include <vector>

namespace {

constexpr size_t kSize = 800;
using Matrix = std::vector<double>;

[[gnu::noinline]] double sum_columns(const Matrix& matrix) {
  double sum = 0;
  for (size_t column = 0; column < kSize; ++column) {
    for (size_t row = 0; row < kSize; ++row) sum += matrix[row * kSize + column];
  }
  return sum;
}

[[gnu::noinline]] double sum_rows(const Matrix& matrix) {
  double sum = 0;
  for (size_t row = 0; row < kSize; ++row) {
    for (size_t column = 0; column < kSize; ++column) sum += matrix[row * kSize + column];
  }
  return sum;
}

}  // namespace

int main() {
  Matrix matrix(kSize * kSize);
  for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<double>(i % 7);
  std::printf("%.0f %.0f\n", sum_columns(matrix), sum_rows(matrix));
  return 0;
}
