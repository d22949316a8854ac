// Memory of every kind, each accessed a known number of times by a function of its own: `visit`
// loads each of so many ints once. Where blocks are allocated is told by the lines with "// site".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sys/mman.h>
#include <vector>

namespace {

int left[250], right[250];  // side by side
const int table[500] = {1, 2, 3};

__attribute__((noinline)) long visit(const volatile int* values, long count) {
  long sum = 0;
  for (long i = 0; i < count; ++i) sum += values[i];
  return sum;
}

__attribute__((noinline)) int* make_rows(size_t count) {
  return static_cast<int*>(malloc(count * sizeof(int)));  // site rows
}

__attribute__((noinline)) int* make_cleared(size_t count) {
  return static_cast<int*>(calloc(count, sizeof(int)));  // site cleared
}

__attribute__((noinline)) int* make_larger(int* old, size_t count) {
  return static_cast<int*>(realloc(old, count * sizeof(int)));  // site larger
}

__attribute__((noinline)) int* make_aligned(size_t count) {
  void* block = nullptr;
  if (posix_memalign(&block, 4096, count * sizeof(int)) != 0) abort();  // site aligned
  return static_cast<int*>(block);
}

__attribute__((noinline)) std::vector<int> make_vector(size_t count) {
  return std::vector<int>(count, 7);  // site vector
}

__attribute__((noinline)) int* make_mapping(size_t count) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const mapped =
      mmap(nullptr, count * sizeof(int), PROT_READ | PROT_WRITE, flags, -1, 0);  // site mapping
  return static_cast<int*>(mapped);
}

}  // namespace

int main() {
  long sum = visit(left, 250) + visit(right, 250) + visit(table, 500);
  int* const rows = make_rows(1000);
  memset(rows, 0, 4000);
  sum += visit(rows, 1000);
  free(rows);
  int* const again = make_cleared(1000);  // likely where the rows were
  sum += visit(again, 1000) + visit(again, 1000);
  int* const larger = make_larger(again, 3000);
  memset(larger, 0, 12000);
  sum += visit(larger, 3000);
  int* const aligned = make_aligned(4000);
  memset(aligned, 0, 16000);
  sum += visit(aligned, 4000);
  const std::vector<int> vector = make_vector(5000);
  sum += visit(vector.data(), 5000);
  int* const mapping = make_mapping(100000);
  sum += visit(mapping, 6000);
  for (int round = 0; round < 7; ++round) {
    int* const more = make_rows(100);
    memset(more, 0, 400);
    sum += visit(more, 100);
    free(more);
  }
  return printf("%ld\n", sum) < 0;
}
