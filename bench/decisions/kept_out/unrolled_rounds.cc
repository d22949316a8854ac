// pair: unrolled_rounds
// branch: instruction_starvation
// place: encrypt_block|run_round
// repair: the rounds are a loop over a table of keys again, not unrolled with their keys inside
//
// A cipher whose generator unrolled all its rounds and wrote the keys into the code. A block
// runs once through some hundred KB of straight code, which no cache near the decoder holds.
#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

constexpr int kWords = 12, kRounds = 480, kBlocks = 8000;

using Block = std::array<uint64_t, kWords>;

static uint64_t next_random(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

constexpr uint64_t key_of(uint64_t round, uint64_t word) {
  uint64_t key = (round * kWords + word + 1) * 0x9e3779b97f4a7c15ull;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9ull;
  return key ^ (key >> 27);
}

inline uint64_t mix(uint64_t word, uint64_t key, int bits) {
  return ((word << bits) | (word >> (64 - bits))) ^ key;
}

#ifdef AFTER
struct Keys {
  uint64_t of_round[kRounds][kWords];
};

static constexpr Keys make_keys() {
  Keys keys{};
  for (int round = 0; round < kRounds; ++round)
    for (int word = 0; word < kWords; ++word) keys.of_round[round][word] = key_of(round, word);
  return keys;
}

static constexpr Keys kKeys = make_keys();

static NOINLINE void encrypt_block(Block& block) {
  for (const auto& keys : kKeys.of_round) {
    const uint64_t first = block[0];
#pragma GCC unroll 16
    for (int word = 0; word < kWords; ++word)
      block[word] =
          mix(word + 1 < kWords ? block[word + 1] : first, keys[word], 5 + 3 * (word % 7));
  }
}
#else
template <uint64_t Round, int... Word>
inline void run_round(Block& block, std::integer_sequence<int, Word...>) {
  const uint64_t first = block[0];
  ((block[Word] = mix(Word + 1 < kWords ? block[(Word + 1) % kWords] : first, key_of(Round, Word),
                      5 + 3 * (Word % 7))),
   ...);
}

template <int... Round>
NOINLINE void encrypt_block(Block& block, std::integer_sequence<int, Round...>) {
  (run_round<Round>(block, std::make_integer_sequence<int, kWords>()), ...);
}

static inline void encrypt_block(Block& block) {
  encrypt_block(block, std::make_integer_sequence<int, kRounds>());
}
#endif

static NOINLINE void read_message(std::vector<Block>& message, uint64_t seed) {
  for (Block& block : message)
    for (uint64_t& word : block) word = next_random(seed);
}

static NOINLINE uint64_t authenticate(const std::vector<Block>& message) {
  uint64_t tag = 0xcbf29ce484222325ull;
  for (const Block& block : message)
    for (uint64_t word : block)
      for (int byte = 0; byte < 64; byte += 8) tag = (tag ^ ((word >> byte) & 255)) * 1099511628211;
  return tag;
}

int main() {
  std::vector<Block> message(kBlocks);
  uint64_t sum = 0;
  for (uint64_t part = 1; part <= 10; ++part) {
    read_message(message, part * 7919);
    for (Block& block : message) encrypt_block(block);
    sum = sum * 31 + authenticate(message);
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
