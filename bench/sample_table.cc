// Replays sampled places through tables like the one of the daemon (src/daemon/sample_table.h),
// which differ in what bench/sample_table.py asks about. Input: one `sample` after the other.
// Prints a line per table: its name, samples, hits, evictions, and entries in use when it was read.

#include "daemon/sample_table.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

struct sample {
  uint32_t cpu;
  uint32_t drain;  // tables are read and emptied between two of them
  uint64_t place;  // image and offset, or what else stands for code
  uint32_t who;
  uint32_t pid;
  uint64_t address;
};

struct totals {
  uint64_t samples = 0;
  uint64_t hits = 0;
  uint64_t evicted = 0;
  uint64_t in_use = 0;
};

enum class policy { front, round_robin, random, fewest };
enum class key { place, address };
enum class hashing { multiply, low_bits };

struct design {
  std::string name;
  uint32_t ways = SAMPLE_WAYS;
  uint32_t buckets = SAMPLE_BUCKETS;
  policy replaces = policy::front;
  key counts = key::place;
  hashing by = hashing::multiply;
};

/// One CPU's table.
class table {
 public:
  explicit table(const design& chosen)
      : design_(chosen), entries_(size_t{chosen.ways} * chosen.buckets), turn_(chosen.buckets) {}

  void count(const sample& one, totals& sum) {
    const bool by_place = design_.counts == key::place;
    const uint64_t code = by_place ? one.place : one.address;
    const uint32_t who = by_place ? one.who : one.pid;
    const uint64_t mixed = (code ^ uint64_t{who} << 17) * 0x9e3779b97f4a7c15u >> 40;
    const uint64_t low = (code >> 2) ^ who;
    const uint64_t bucket = (design_.by == hashing::multiply ? mixed : low) % design_.buckets;
    entry* const ways = &entries_[bucket * design_.ways];
    ++sum.samples;
    for (uint32_t way = 0; way < design_.ways; ++way) {
      if (ways[way].count == 0 || ways[way].code != code || ways[way].who != who) continue;
      ++sum.hits;
      ++ways[way].count;
      if (design_.replaces == policy::front) to_front(ways, way);
      return;
    }
    const uint32_t way = choose(ways, bucket);
    if (ways[way].count != 0) ++sum.evicted;
    ways[way] = {code, who, 1};
    if (design_.replaces == policy::front) to_front(ways, way);
  }

  void drain(totals& sum) {
    for (entry& one : entries_) {
      sum.in_use += one.count != 0 ? 1 : 0;
      one = {};
    }
  }

 private:
  struct entry {
    uint64_t code = 0;
    uint32_t who = 0;
    uint32_t count = 0;
  };

  static void to_front(entry* ways, uint32_t way) {
    const entry found = ways[way];
    for (; way > 0; --way) ways[way] = ways[way - 1];
    ways[0] = found;
  }
  uint32_t choose(const entry* ways, uint64_t bucket) {
    uint32_t fewest = 0;
    for (uint32_t way = 0; way < design_.ways; ++way) {
      if (ways[way].count == 0 && design_.replaces != policy::front) return way;
      if (ways[way].count < ways[fewest].count) fewest = way;
    }
    switch (design_.replaces) {
      case policy::front:
        return design_.ways - 1;
      case policy::round_robin:
        return turn_[bucket]++ % design_.ways;
      case policy::random:
        random_ = random_ * 1664525 + 1013904223;
        return (random_ >> 16) % design_.ways;
      case policy::fewest:
        return fewest;
    }
    return 0;
  }

  design design_;
  std::vector<entry> entries_;
  std::vector<uint32_t> turn_;
  uint32_t random_ = 1;
};

totals replay(const design& chosen, const std::vector<sample>& samples) {
  totals sum;
  std::map<uint32_t, std::pair<uint32_t, table>> tables;  // by CPU: the drain it is in
  for (const sample& one : samples) {
    auto at = tables.find(one.cpu);
    if (at == tables.end()) at = tables.emplace(one.cpu, std::pair(one.drain, table(chosen))).first;
    auto& [drain, own] = at->second;
    if (drain != one.drain) own.drain(sum);
    drain = one.drain;
    own.count(one, sum);
  }
  for (auto& [cpu, own] : tables) own.second.drain(sum);
  return sum;
}

/// The daemon's own table.
totals replay_daemons(const std::vector<sample>& samples) {
  totals sum;
  std::map<uint32_t, std::pair<uint32_t, std::unique_ptr<sample_set>>> sets;
  const auto read = [&](sample_set& set) {
    sum.samples += set.counters.hits + set.counters.misses;
    sum.hits += set.counters.hits;
    sum.evicted += set.counters.evicted;
    for (const auto& bucket : set.buckets)
      for (const sample_entry& entry : bucket) sum.in_use += entry_count(&entry) != 0 ? 1 : 0;
    set = {};
  };
  for (const sample& one : samples) {
    auto [at, is_new] = sets.try_emplace(one.cpu, one.drain, nullptr);
    auto& [drain, set] = at->second;
    if (is_new) set = std::make_unique<sample_set>();
    if (drain != one.drain) read(*set);
    drain = one.drain;
    count_sample(set.get(), one.place, one.who);
  }
  for (auto& [cpu, own] : sets) read(*own.second);
  return sum;
}

void print(const std::string& name, const totals& sum) {
  std::printf(
      "%s\t%llu\t%llu\t%llu\t%llu\n", name.c_str(), static_cast<unsigned long long>(sum.samples),
      static_cast<unsigned long long>(sum.hits), static_cast<unsigned long long>(sum.evicted),
      static_cast<unsigned long long>(sum.in_use));
}

}  // namespace

int main() {
  std::vector<sample> samples;
  for (sample one; std::fread(&one, sizeof one, 1, stdin) == 1;) samples.push_back(one);
  const totals own = replay_daemons(samples);
  const totals same = replay({"as the daemon's"}, samples);
  if (own.hits != same.hits || own.evicted != same.evicted || own.in_use != same.in_use) {
    std::fprintf(stderr, "the model of the daemon's table counts otherwise than the table\n");
    return 1;
  }
  print("4 ways, 16 K entries, to the front: the daemon's", own);
  std::vector<design> designs;
  for (const uint32_t ways : {1, 2, 6, 8, 16}) {
    designs.push_back({std::to_string(ways) + " ways of as many entries", ways,
                       SAMPLE_WAYS * SAMPLE_BUCKETS / ways});
  }
  designs.push_back({"6 ways, half as many entries again", 6});
  designs.push_back(
      {"replaced in turn (DCPI's)", SAMPLE_WAYS, SAMPLE_BUCKETS, policy::round_robin});
  designs.push_back({"replaced at random", SAMPLE_WAYS, SAMPLE_BUCKETS, policy::random});
  designs.push_back({"replaced: the one with fewest", SAMPLE_WAYS, SAMPLE_BUCKETS, policy::fewest});
  for (const uint32_t entries : {1024, 4096, 8192, 32768, 65536}) {
    designs.push_back(
        {std::to_string(entries / 1024) + " K entries", SAMPLE_WAYS, entries / SAMPLE_WAYS});
  }
  designs.push_back({"found by low bits", SAMPLE_WAYS, SAMPLE_BUCKETS, policy::front, key::place,
                     hashing::low_bits});
  designs.push_back({"keys: process and address (DCPI's)", SAMPLE_WAYS, SAMPLE_BUCKETS,
                     policy::front, key::address});
  for (const design& one : designs) print(one.name, replay(one, samples));
}
