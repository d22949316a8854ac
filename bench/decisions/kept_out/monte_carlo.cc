// pair: monte_carlo
// branch: multithread_collisions|load_latency
// place: simulate_paths
// repair: each worker's state is aligned to lines of its own
//
// Prices an option by random paths in two threads. The states of the two workers, side by side in
// one vector, share a line; both write to theirs at each path, for the display of the progress.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kWorkers = 2, kSteps = 4, kBuckets = 64;
constexpr uint64_t kPaths = 6000000;

#ifdef AFTER
struct alignas(256) Worker {
#else
struct Worker {
#endif
  std::atomic<uint64_t> paths_done{0};
  std::atomic<uint64_t> paths_paid{0};
  std::atomic<uint64_t> paid_out{0};
  uint64_t seed = 0;
};

static uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static NOINLINE std::vector<int32_t> make_moves() {
  std::vector<int32_t> moves(256);
  for (int i = 0; i < 256; ++i) moves[i] = (i - 127) * (1 + (i & 3));
  return moves;
}

/// A path takes four moves of the price, all from one random number.
static NOINLINE void simulate_paths(Worker& worker, const std::vector<int32_t>& moves,
                                    uint64_t count) {
  for (uint64_t path = 0; path < count; ++path) {
    int64_t price = 100000;
    uint64_t random = next_random(worker.seed);
    for (int step = 0; step < kSteps; ++step) {
      price += moves[random & 255] + (price >> 12);
      random >>= 8;
    }
    const int64_t gain = price - 100200;
    worker.paid_out.fetch_add(static_cast<uint64_t>(gain & ~(gain >> 63)),
                              std::memory_order_relaxed);
    worker.paths_paid.fetch_add(gain > 0, std::memory_order_relaxed);
    worker.paths_done.fetch_add(1, std::memory_order_relaxed);
  }
}

/// The distribution of prices on a lattice, to check the paths against.
static NOINLINE uint64_t solve_lattice(const std::vector<int32_t>& moves, int rounds) {
  std::vector<int64_t> values(1024);
  uint64_t sum = 0;
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * i);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 1; i + 1 < values.size(); ++i)
      values[i] = (values[i - 1] + 2 * values[i] + values[i + 1] + moves[i & 255]) >> 2;
    sum = sum * 31 + static_cast<uint64_t>(values[values.size() / 2]);
  }
  return sum;
}

static NOINLINE uint64_t hash_seeds(const std::vector<Worker>& workers) {
  uint64_t sum = 0;
  for (const Worker& worker : workers) {
    sum = sum * 31 + worker.paths_done;
    sum = sum * 31 + worker.paid_out;
    sum = sum * 31 + worker.paths_paid;
    sum = sum * 31 + worker.seed;
  }
  return sum;
}

static void work(Worker& worker, const std::vector<int32_t>& moves, uint64_t* lattice) {
  simulate_paths(worker, moves, kPaths);
  *lattice = solve_lattice(moves, 12000);
}

/// Workers are pinned to CPUs, as those of servers are.
static void pin(std::thread& thread, unsigned cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu % std::thread::hardware_concurrency(), &cpus);
  pthread_setaffinity_np(thread.native_handle(), sizeof cpus, &cpus);
}

int main() {
  const std::vector<int32_t> moves = make_moves();
  std::vector<Worker> workers(kWorkers);
  uint64_t lattices[kWorkers] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < kWorkers; ++i) {
    workers[i].seed = 88172645463325252ull + static_cast<uint64_t>(i);
    threads.emplace_back(work, std::ref(workers[i]), std::cref(moves), &lattices[i]);
    pin(threads.back(), static_cast<unsigned>(i));
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t sum = hash_seeds(workers) + lattices[0] * 3 + lattices[1];
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
