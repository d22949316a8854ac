// pair: thread_counters
// branch: multithread_collisions|load_latency
// place: count_kinds
// repair: each thread counts in a table of its own, not in every second word of a common one
//
// Two threads classify the records of a text. Their counters are side by side in the same
// lines, which therefore move from core to core. (They are atomic, as a monitor may read them.)
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kThreads = 2, kKinds = 16, kRounds = 80;
constexpr size_t kTextBytes = 1 << 20, kRecordBytes = 2;

#ifdef AFTER
struct alignas(128) Counters {
  std::atomic<uint64_t> by_kind[kKinds];
};
static Counters counters[kThreads];
static std::atomic<uint64_t>& counter(int thread, int kind) {
  return counters[thread].by_kind[kind];
}
#else
static std::atomic<uint64_t> counters[kKinds][kThreads];
static std::atomic<uint64_t>& counter(int thread, int kind) {
  return counters[kind][thread];
}
#endif

static uint32_t next_random(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

static NOINLINE std::string write_text() {
  uint32_t seed = 31337;
  std::string text(kTextBytes, ' ');
  for (char& letter : text) letter = static_cast<char>(33 + (next_random(seed) >> 8) % 94);
  return text;
}

static NOINLINE std::array<uint8_t, 256> make_weights() {
  std::array<uint8_t, 256> weights{};
  for (int c = 0; c < 256; ++c) weights[c] = static_cast<uint8_t>(c * 7 + c / 16);
  return weights;
}

static NOINLINE void count_kinds(const std::string& text, size_t first, size_t last,
                                 const std::array<uint8_t, 256>& weights, int thread) {
  for (size_t at = first; at < last; at += kRecordBytes) {
    uint32_t weight = 0;
    for (size_t i = at; i < at + kRecordBytes; ++i)
      weight += weights[static_cast<unsigned char>(text[i])];
    counter(thread, weight % kKinds).fetch_add(1, std::memory_order_relaxed);
  }
}

static NOINLINE uint64_t hash_text(const std::string& text, size_t first, size_t last) {
  uint64_t hash = 0;
  for (size_t i = first; i < last; ++i) hash = hash * 31 + static_cast<unsigned char>(text[i]);
  return hash;
}

static void work(const std::string& text, const std::array<uint8_t, 256>& weights, int thread,
                 uint64_t* hash) {
  const size_t part = kTextBytes / kThreads, first = thread * part;
  uint64_t sum = 0;
  for (int round = 0; round < kRounds; ++round) {
    count_kinds(text, first, first + part, weights, thread);
    if (round % 3 == 0) sum += hash_text(text, first, first + part);
  }
  *hash = sum;
}

/// Workers are pinned to CPUs, as those of servers are.
static void pin(std::thread& thread, unsigned cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu % std::thread::hardware_concurrency(), &cpus);
  pthread_setaffinity_np(thread.native_handle(), sizeof cpus, &cpus);
}

int main() {
  const std::string text = write_text();
  const std::array<uint8_t, 256> weights = make_weights();
  std::vector<std::thread> threads;
  uint64_t hashes[kThreads * 16] = {}, sum = 0;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back(work, std::cref(text), std::cref(weights), thread, &hashes[thread * 16]);
    pin(threads.back(), static_cast<unsigned>(thread));
  }
  for (std::thread& thread : threads) thread.join();
  for (int thread = 0; thread < kThreads; ++thread) {
    sum = sum * 31 + hashes[thread * 16];
    for (int kind = 0; kind < kKinds; ++kind) sum = sum * 31 + counter(thread, kind);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
