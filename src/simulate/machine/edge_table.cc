#include "simulate/machine/edge_table.h"

#include <bit>

namespace culprit::simulate {

void EdgeTable::give_up(Edge& recent) {
  if (recent.count != 0) put(recent.key, recent.count);
  recent.count = 0;
}

void EdgeTable::give_up(Reuse& recent) {
  if (recent.count != 0) {
    const auto from = static_cast<Site>(recent.sites >> 32);
    put({from, static_cast<Site>(recent.sites), EdgeKind::reuse}, recent.count);
  }
  recent.count = 0;
}

void EdgeTable::put(const EdgeKey& key, uint64_t count) {
  Part& part = parts_[hash_of(key) >> (64 - std::countr_zero(kParts))];
  part.waiting.push_back({key, count});
  if (part.waiting.size() >= kMostWaiting) settle(part);
}

void EdgeTable::settle(Part& part) {
  for (const auto& [key, count] : part.waiting) {
    const auto found = part.counts.find(key);
    if (found != part.counts.end()) {
      found.value() += count;
    } else if (kept_ < limit_) {
      part.counts.emplace(key, count);
      ++kept_;
    } else {
      rest_[{key.from, 0, key.kind}] += count;
    }
  }
  part.waiting.clear();
}

void EdgeTable::settle_all() {
  for (Edge& recent : recent_) give_up(recent);
  for (Reuse& recent : reuses_) give_up(recent);
  for (Part& part : parts_) settle(part);
}

std::vector<Edge> EdgeTable::collect() {
  settle_all();
  std::vector<Edge> edges;
  edges.reserve(kept_);
  for (const Part& part : parts_) {
    for (const auto& [key, count] : part.counts) edges.push_back({key, count});
  }
  return edges;
}

std::vector<Edge> EdgeTable::take_rest() {
  settle_all();
  std::vector<Edge> edges;
  for (const auto& [key, count] : rest_) edges.push_back({key, count});
  rest_.clear();
  return edges;
}

}  // namespace culprit::simulate
