#include "simulate/machine/tenure.h"

namespace culprit::simulate {

void TenureTable::end(const LineTenure& tenure, End how) {
  const uint32_t touched = tenure.touched.count();
  SiteTenures& site = find_site(tenure.origin);
  ++site.lines;
  site.bytes_touched += touched;
  site.bytes_accessed += tenure.accessed_bytes;
  site.lines_left_at_end += how == End::left_at_end ? 1 : 0;
  site.lines_cut += how == End::cut ? 1 : 0;
  site.lines_prefetched += tenure.prefetched ? 1 : 0;
  site.touches += tenure.uses != 0 ? 1 : 0;
  site.lines_reused += tenure.uses > 1 ? 1 : 0;
  // What was asked for was used, and of a line that was cut it is not known.
  const bool never_used = tenure.prefetched && touched == 0 && how != End::cut;
  site.lines_never_used += never_used ? 1 : 0;
}

void TenureTable::make_room_for(Site site) {
  recent_.resize(std::max<size_t>(site + size_t{1}, recent_.size() * 2));
}

void TenureTable::settle() {
  for (size_t site = 0; site < recent_.size(); ++site) {
    settle(static_cast<Site>(site), recent_[site]);
  }
}

void TenureTable::set_thread(uint8_t thread) {
  settle();
  thread_ = thread;
}

std::vector<LineEdge> TenureTable::edges() {
  settle();
  return edges_.collect();
}

TenureTable::Sites TenureTable::sites() {
  settle();
  for (const auto& [key, count] : edges_.take_rest()) {
    SiteTenures& site = find_site(key.from);
    site.edges_rest[static_cast<size_t>(key.kind)] += count;
    if (key.kind == LineEdgeKind::reuse) site.touches += count;
  }
  Sites with_reuses = sites_;
  for (const auto& [key, count] : edges_.collect()) {
    if (key.kind == LineEdgeKind::reuse) with_reuses[key.from].touches += count;
  }
  return with_reuses;
}

void LineAges::next_step() {
  fills_ = 0;
  // What was one step from being old is old now; its slot becomes the new step's.
  const auto oldest = static_cast<uint16_t>(now_ - (kSteps - 2));
  used_at_[kSteps] += used_at_[oldest % kSteps];
  used_at_[oldest % kSteps] = 0;
  ++now_;
  used_at_[now_ % kSteps] = 0;
  evicted_at_[now_ % kSteps] = 0;
}

bool LineAges::evict(const LineTenure& tenure) {
  const uint16_t slot = slot_of(tenure.age);
  // What falls into the step of the last use itself counts half.
  uint64_t used = used_at_[slot] / 2 + evicted_at_[slot] / 2 + 2 * step_fills_;
  if (slot == kSteps) {
    used = lines_;  // in so many steps the cache was filled several times
  } else {
    const auto steps = static_cast<uint16_t>(now_ - tenure.age);
    for (uint16_t back = 0; back < steps && used < lines_; ++back) {
      const size_t at = static_cast<uint16_t>(now_ - back) % kSteps;
      used += used_at_[at] + evicted_at_[at];
    }
  }
  remove(tenure);
  evicted_at_[now_ % kSteps] += weight_of(tenure);
  return used >= lines_;
}

}  // namespace culprit::simulate
