#include "validate/families.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kPage = 4096;
// Instructions are other ones, and as many, unless both numbers are given.
#if defined(__aarch64__)
constexpr bool kIsX86 = false;
#else
constexpr bool kIsX86 = true;
#endif

constexpr double of(double x86, double arm) {
  return kIsX86 ? x86 : arm;
}

/// Exact but for an interrupt now and then, and the last round of a loop.
Expectation exactly(const char* quantity, double times) {
  constexpr double kPart = 0.005;
  return {quantity, times * (1 - kPart), times * (1 + kPart)};
}

/// What every kernel has: its instructions, the branch of its loop, and others.
std::vector<Expectation> program(double instructions, double branches = 1, double taken = 1) {
  return {exactly("instructions", instructions), exactly("branches", branches),
          exactly("branches-taken", taken)};
}

std::vector<Expectation> operator+(std::vector<Expectation> all,
                                   const std::vector<Expectation>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Expectation loads(double times) {
  return exactly("L1-dcache-loads", times);
}
Expectation stores(double times) {
  return exactly("L1-dcache-stores", times);
}
/// Nearly each time: caches do not replace quite the oldest line, and some find one by chance.
Expectation nearly(const char* quantity, double times) {
  return {quantity, 0.6 * times, 1.1 * times};
}
Expectation at_least(const char* quantity, double times) {
  return {quantity, times, HUGE_VAL};
}

/// Half of the level nearer by, so that it is surely in the next one; the largest power of two.
uint64_t power_below(uint64_t bytes) {
  uint64_t power = kPage;
  while (2 * power <= bytes) power *= 2;
  return power;
}

uint64_t rounds_over(uint64_t places) {
  return std::max<uint64_t>(200'000, 3 * places);
}

const std::vector<std::string> kTranslation = {"dTLB-load-misses", "dTLB-store-misses",
                                               "sim:load-translation-cycles"};
const std::vector<std::string> kStoreTranslation = {"dTLB-store-misses", "dTLB-load-misses"};

}  // namespace

std::vector<Family> list_families(const CacheSizes& asked) {
  CacheSizes sizes = asked;
  if (sizes.l1d_bytes == 0) sizes.l1d_bytes = 32 << 10;
  if (sizes.l2_bytes == 0) sizes.l2_bytes = 512 << 10;
  if (sizes.tlb_entries == 0) sizes.tlb_entries = 2048;
  const uint64_t last = std::max(sizes.l2_bytes, sizes.l3_bytes);
  const uint64_t in_l1 = sizes.l1d_bytes / 2;
  const uint64_t in_l2 = power_below(sizes.l2_bytes / 2);
  const uint64_t in_l3 = sizes.l3_bytes >= 8 * sizes.l2_bytes ? 3 * sizes.l2_bytes : 0;
  const uint64_t in_memory = std::min<uint64_t>(2 * power_below(last), 512 << 20);

  std::vector<Family> all;
  // --- computing: nothing but instructions
  all.push_back({"nops", "nops", 200'000, 0, "24 of them", program(26)});
  all.push_back({"adds", "adds", 200'000, 0, "6, each of the one before", program(8)});
  all.push_back(
      {"multiplications", "multiplications", 200'000, 0, "6, each of the one before", program(8)});
  all.push_back(
      {"divisions", "divisions", 200'000, 0, "a division of ten digits by one",
       program(6) + std::vector{exactly("divisions", 1), at_least("sim:divider-cycles", 1)}});
  all.push_back(
      {"fp-adds", "fp-adds", 200'000, 0, "6 of doubles, each of the one before", program(8)});
  all.push_back({"fp-roots",
                 "fp-roots",
                 200'000,
                 0,
                 "2 square roots of doubles",
                 program(4) + std::vector{at_least("sim:divider-cycles", 4)},
                 {"divisions"}});
  all.push_back({"fences", "fences", 100'000, 0, "a full fence", program(3)});

  // --- memory
  all.push_back(
      {"loads", "loads", 200'000, 0, "8 of one word", program(10) + std::vector{loads(8)}});
  all.push_back({"stores",
                 "stores",
                 200'000,
                 0,
                 "8 of one word",
                 program(10) + std::vector{stores(8)},
                 {"sim:store-cycles"}});
  all.push_back({"chase-l1", "chase", 200'000, in_l1, "a load of where the next one is, in L1D",
                 program(3) + std::vector{loads(1)}});
  all.push_back({"chase-l2", "chase", rounds_over(in_l2 / kLine), in_l2, "the same in L2",
                 program(3) + std::vector{loads(1), nearly("L1-dcache-load-misses", 1),
                                          at_least("sim:load-l2-cycles", 2)},
                 kTranslation, "L1-dcache-load-misses", "chase-l1"});
  if (in_l3 != 0) {
    all.push_back(
        {"chase-l3", "chase", rounds_over(in_l3 / kLine), in_l3, "the same in L3",
         program(3) + std::vector{loads(1), nearly("L1-dcache-load-misses", 1),
                                  nearly("LLC-loads", 1), at_least("sim:load-l3-cycles", 5)},
         kTranslation, "LLC-loads", "chase-l1"});
  }
  all.push_back({"chase-memory", "chase", 300'000, in_memory,
                 "the same in twice the last level and more",
                 program(3) + std::vector{loads(1), nearly("L1-dcache-load-misses", 1),
                                          nearly("LLC-loads", 1), nearly("LLC-load-misses", 1),
                                          at_least("sim:load-memory-cycles", 20)},
                 kTranslation, "LLC-load-misses", "chase-l1"});
  all.back().open.emplace_back("sim:load-l3-cycles");
  all.push_back({"page-chase",
                 "page-chase",
                 rounds_over(4 * sizes.tlb_entries),
                 4 * sizes.tlb_entries * kPage,
                 "the same, each in another page of 4 KiB",
                 program(3) + std::vector{loads(1), nearly("dTLB-load-misses", 1),
                                          at_least("sim:load-translation-cycles", 2)},
                 {"L1-dcache-load-misses", "LLC-loads", "LLC-load-misses", "sim:load-l2-cycles",
                  "sim:load-l3-cycles", "sim:load-memory-cycles"}});
  all.push_back({"stream",
                 "stream",
                 300'000,
                 power_below(2 * last),
                 "8 loads of each line in turn",
                 program(13) + std::vector{loads(8)},
                 {"L1-dcache-load-misses", "LLC-loads", "LLC-load-misses", "dTLB-load-misses",
                  "sim:load-l2-cycles", "sim:load-l3-cycles", "sim:load-memory-cycles",
                  "sim:load-translation-cycles", "sim:bandwidth-cycles"}});
  all.push_back(
      {"fill",
       "fill",
       300'000,
       power_below(2 * last),
       "8 stores to each line in turn",
       program(13) + std::vector{stores(8), at_least("L1-dcache-store-misses", 0.01)},
       {"L1-dcache-load-misses", "LLC-loads", "LLC-load-misses", "LLC-stores", "LLC-store-misses",
        "dTLB-store-misses", "sim:store-cycles", "sim:bandwidth-cycles"}});
  all.push_back({"gather",
                 "gather",
                 300'000,
                 power_below(2 * last),
                 "a load at a random place that the next one does not wait for",
                 program(8) + std::vector{loads(1), nearly("L1-dcache-load-misses", 1)},
                 {"LLC-loads", "LLC-load-misses", "dTLB-load-misses", "sim:load-l2-cycles",
                  "sim:load-l3-cycles", "sim:load-memory-cycles", "sim:load-translation-cycles",
                  "sim:bandwidth-cycles"}});
  all.push_back({"refused-forwards",
                 "refused-forwards",
                 100'000,
                 0,
                 "a load of what two stores wrote half each",
                 program(5) + std::vector{loads(1), stores(2), nearly("refused-forwards", 1),
                                          at_least("sim:forward-refused-cycles", 3)},
                 {"sim:store-cycles"},
                 "refused-forwards",
                 "loads"});
  all.push_back({"aliases",
                 "aliases",
                 100'000,
                 0,
                 "4 loads 4 KiB before a store each",
                 program(14) + std::vector{loads(4), stores(4)},
                 {"sim:alias-cycles", "refused-forwards"}});
  all.push_back({"locked-adds",
                 "locked-adds",
                 100'000,
                 0,
                 "an addition that no other core sees half",
                 program(of(3, 6), of(1, 2), 1) + std::vector{loads(1), stores(1)},
                 {"sim:store-cycles"}});

  // --- branches and code
  all.push_back({"regular-branches", "regular-branches", 300'000, 0,
                 "a branch taken every second time", program(4.5, 2, 1.5)});
  all.push_back({"random-branches",
                 "random-branches",
                 300'000,
                 0,
                 "a branch on a random bit",
                 std::vector{exactly("instructions", of(13.5, 7.5)), exactly("branches", 2),
                             Expectation{"branches-taken", 1.48, 1.52},
                             Expectation{"branch-misses", 0.45, 0.55},
                             at_least("sim:misprediction-cycles", 2)},
                 {},
                 "branch-misses",
                 "random-words"});
  all.push_back({"random-words", "random-words", 300'000, 0, "the same without the branch",
                 program(of(11, 5))});
  all.push_back({"random-jumps",
                 "random-jumps",
                 200'000,
                 0,
                 "a jump to one of four places by chance",
                 program(of(18, 11), 3, 3) + std::vector{Expectation{"branch-misses", 0.6, 0.85},
                                                         at_least("sim:misprediction-cycles", 2)},
                 {},
                 "branch-misses",
                 "random-words"});
  all.push_back({"calls", "calls", 200'000, 0, "a call and its return",
                 program(4, 3, 3) + std::vector{exactly("calls", 1)}});
  // 100 levels; the last one does not call. On x86-64 a level is dec, jz, call and ret.
  all.push_back({"deep-calls",
                 "deep-calls",
                 5'000,
                 0,
                 "100 calls, each in the one before",
                 program(of(403, 603), 301, 202) + std::vector{exactly("calls", 100)},
                 {"branch-misses", "sim:misprediction-cycles", "sim:store-cycles"}});
  for (Family* const family : {&all[all.size() - 2], &all.back()}) {
    const double depth = family->name == "calls" ? 1 : 100;
    if (kIsX86 || depth > 1) {
      family->causes.push_back(loads(depth));
      family->causes.push_back(stores(depth));
    }
  }
  // 4,096 lines; prefetchers may bring all of them but the first of each of the 64 pages.
  all.push_back({"straight-code",
                 "straight-code",
                 30,
                 0,
                 "256 KiB of code that does nothing",
                 program(of(32'770, 65'539), of(1, 2), 1) +
                     std::vector{Expectation{"L1-icache-load-misses", 60, 4200}},
                 {"iTLB-load-misses", "LLC-loads", "sim:starvation-cycles"}});
  return all;
}

}  // namespace culprit
