// Breadth-first search on a random graph: levels of unequal work, a dynamic loop and a critical
// section in each.
#include <cstdio>
#include <vector>

int main() {
  const int n = 20000;
  std::vector<std::vector<int>> edges(n);
  unsigned seed = 7;
  for (int i = 1; i < n; ++i) {
    const int to = static_cast<int>((seed = seed * 1103515245u + 12345u) >> 4) % i;
    edges[to].push_back(i);
    edges[i].push_back(to);
  }
  std::vector<int> level(n, -1), frontier{0};
  level[0] = 0;
  int depth = 0;
  while (!frontier.empty()) {
    std::vector<int> next;
    ++depth;
#pragma omp parallel num_threads(4)
    {
      std::vector<int> found;
#pragma omp for schedule(dynamic, 16) nowait
      for (int i = 0; i < static_cast<int>(frontier.size()); ++i) {
        for (const int to : edges[frontier[i]]) {
          int none = -1;
          if (__atomic_compare_exchange_n(&level[to], &none, depth, false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED)) {
            found.push_back(to);
          }
        }
      }
#pragma omp critical
      next.insert(next.end(), found.begin(), found.end());
    }
    frontier = next;
  }
  long sum = 0;
  for (const int one : level) sum += one;
  std::printf("depth %d, sum %ld\n", depth, sum);
}
