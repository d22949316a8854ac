// An example to explain: the sum of a matrix, along its columns and along its rows.
//
//     culprit record --engine simulate build/release/matwalk && culprit why
//
// Both read the same numbers; along a column each is on a page of its own.

#include <array>
#include <cstdio>

namespace {

constexpr size_t kSize = 800;
using Matrix = std::array<double, kSize * kSize>;
Matrix numbers;

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
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i % 7);
  std::printf("%.0f %.0f\n", sum_columns(numbers), sum_rows(numbers));
  return 0;
}
