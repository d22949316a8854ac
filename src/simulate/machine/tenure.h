#pragma once

// Tenures: what happens to a line while it is in a cache (papers/source-interdependence-sip).
//
//   site 7 loads a[0]      fill:   a tenure begins, brought in by site 7
//   site 7 loads a[1]              + 8 bytes touched, 8 accessed;  reuse edge 7 -> 7
//   site 9 loads a[1]              + 0 bytes touched, 8 accessed;  reuse edge 7 -> 9
//   site 3 loads b[0]      evicts it: 16 bytes touched, 24 accessed go to site 7's row,
//                                  eviction edge 7 -> 3 (by capacity or by conflict)
//
// Each row is of an instruction of one thread, and of loads, stores or fetches (Origin): an
// instruction may do both. `touches` are the times that the level was asked for the line: one is
// that which brought it in, or the first after a prefetch; all others are reuse edges.
//
// What a nearer level saw of a line joins the tenure of the next level when the line leaves
// the nearer one, so bytes touched of L2 and L3 are those the program used.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulate/machine/edge_table.h"
#include "simulate/machine/lost_lines.h"
#include "simulate/machine/outcome.h"

namespace culprit::simulate {

/// One bit per byte of a line of up to 128 bytes.
struct ByteMask {
  uint64_t low = 0;
  uint64_t high = 0;

  static ByteMask of(uint32_t offset, uint32_t bytes) {
    const uint32_t end = offset + bytes;
    if (end <= 64) return {ones(bytes) << offset, 0};
    return {ones(std::min(end, 64U)) & ~ones(std::min(offset, 64U)),
            ones(end < 64 ? 0 : end - 64) & ~ones(offset < 64 ? 0 : offset - 64)};
  }
  void add(const ByteMask& other) {
    low |= other.low;
    high |= other.high;
  }
  /// Adds a range of bytes by halves: a mask that is handed over in memory would be written by
  /// halves and read as a whole, for which the processor waits.
  void add(uint32_t offset, uint32_t bytes) {
    if (offset + bytes <= 64) [[likely]] {
      low |= ones(bytes) << offset;
    } else {
      add(of(offset, bytes));
    }
  }
  [[nodiscard]] bool overlaps(const ByteMask& other) const {
    return (low & other.low) != 0 || (high & other.high) != 0;
  }
  [[nodiscard]] uint32_t count() const { return count(low) + (high == 0 ? 0 : count(high)); }

 private:
  /// Sideways addition (H. S. Warren, Hacker's Delight, 5-1): the oldest x86-64 has no
  /// instruction for it, and std::popcount() is a call there.
  static uint32_t count(uint64_t bits) {
    bits -= bits >> 1 & 0x5555'5555'5555'5555;
    bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
    bits = (bits + (bits >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;
    return static_cast<uint32_t>(bits * 0x0101'0101'0101'0101 >> 56);
  }
  static uint64_t ones(uint32_t count) {
    return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  }
};

/// One stay of a line in one cache.
struct LineTenure {
  ByteMask touched;
  uint64_t accessed_bytes = 0;
  Origin origin;     // that brought the line in
  uint16_t age = 0;  // LineAges: when it was used last
  bool prefetched : 1 = false;
  bool is_weighted : 1 = false;  // LineAges: it stands for as many lines as a drawn one does
  uint8_t uses = 0;  // times that something asked this level for it, but prefetchers; 2 and more: 2
};
static_assert(sizeof(LineTenure) == 32);

/// All tenures of one origin in one level, ended ones.
struct SiteTenures {
  uint64_t lines = 0;          // brought in
  uint64_t touches = 0;        // of them; sites() adds the reuses of those that have not ended
  uint64_t lines_reused = 0;   // of `lines`: touched more than once
  uint64_t bytes_touched = 0;  // different bytes used, summed over lines
  uint64_t bytes_accessed = 0;
  uint64_t lines_left_at_end = 0;  // of `lines`: still there at the end
  uint64_t lines_prefetched = 0;   // of `lines`: by a prefetcher that this site set off
  uint64_t lines_never_used = 0;   // of those: no byte was touched
  uint64_t lines_cut = 0;          // of `lines`: what a nearer level saw of them is missing
  std::array<uint64_t, kEdgeKinds> edges_rest{};  // its edges that were not kept

  [[nodiscard]] uint64_t all_edges_rest() const {
    return std::accumulate(edges_rest.begin(), edges_rest.end(), uint64_t{0});
  }
};

/// The tenures of one level of one core (of what this core evicts from a shared level), by
/// origin, and the edges between origins.
class TenureTable {
 public:
  /// A table of `edge_limit` different edges adds new ones to `edges_rest` of their origin.
  explicit TenureTable(size_t edge_limit = size_t{1} << 20) : edges_(edge_limit) {}
  TenureTable(const TenureTable&) = delete;  // recent_sites_ points into sites_
  TenureTable& operator=(const TenureTable&) = delete;

  /// Uses are this thread's from now on; whose lines they are of does not change.
  void set_thread(uint8_t thread);

  static LineTenure begin(Origin origin, bool prefetched) {
    LineTenure tenure;
    tenure.origin = origin;
    tenure.prefetched = prefetched;
    tenure.uses = prefetched ? 0 : 1;
    return tenure;
  }

  /// The access that brought the line in, or the first one after a prefetch.
  static void touch_first(LineTenure& tenure, uint32_t offset, uint32_t bytes) {
    tenure.touched.add(offset, bytes);
    tenure.accessed_bytes += bytes;
  }

  /// Any other access to it.
  void touch(LineTenure& tenure, uint32_t offset, uint32_t bytes, Site site) {
    touch_first(tenure, offset, bytes);
    count_reuse(tenure, site);
  }

  /// A use of the line whose bytes are known later, from the nearer level.
  void count_reuse(LineTenure& tenure, Site site, uint64_t count = 1) {
    tenure.uses = 2;
    edges_.add_reuse(tenure.origin, this_thread(site), count);
  }
  /// Counts a use of a line that may be there by a prefetch and not used so far.
  void count_use(LineTenure& tenure, Site site) {
    if (tenure.uses != 0) {
      count_reuse(tenure, site);
    } else {
      tenure.uses = 1;
    }
  }

  /// What a site did last: most do the same again.
  struct Recent {
    uint64_t reuses = 0;  // of lines that `from` brought in, which the table does not have yet
    Origin from;
    uint32_t slot = 0;  // where its line was; it may be there no more
  };
  Recent& find_recent(Site site) {
    if (site >= recent_.size()) [[unlikely]]
      make_room_for(site);
    return recent_[site];
  }
  /// Counts a reuse, given what find_recent() found for the site.
  void count_reuse(LineTenure& tenure, Site site, Recent& recent) {
    tenure.uses = 2;
    if (recent.from != tenure.origin) [[unlikely]] {
      settle(site, recent);
      recent.from = tenure.origin;
    }
    ++recent.reuses;
  }

  enum class End : uint8_t { evicted, left_at_end, cut };
  /// Adds an ended tenure to the row of its origin.
  void end(const LineTenure& tenure, End how);

  /// What was accessed so far of a tenure under way is in the row of its origin from now on; how
  /// much it is.
  uint64_t settle_bytes(LineTenure& tenure) {
    find_site(tenure.origin).bytes_accessed += tenure.accessed_bytes;
    return std::exchange(tenure.accessed_bytes, 0);
  }

  void add_edge(const EdgeKey& key, uint64_t count) {
    edges_.add({key.from, key.to.of_any_use(), key.kind}, count);
  }

  /// `by` brings a line in that was evicted before, if anything is known of it.
  void add_refetch(const std::optional<LostLines::Lost>& lost, Origin by) {
    if (!lost) return;
    add_edge({lost->had, by,
              lost->by_capacity ? LineEdgeKind::refetch_after_capacity
                                : LineEdgeKind::refetch_after_conflict},
             1);
  }

  using Sites = std::unordered_map<Origin, SiteTenures, Origin::Hash>;
  [[nodiscard]] Sites sites();
  [[nodiscard]] std::vector<LineEdge> edges();

 private:
  [[gnu::noinline]] void make_room_for(Site site);
  [[nodiscard]] Origin this_thread(Site site) const { return {site, LineUse::load, thread_}; }
  void settle(Site site, Recent& recent) {
    if (recent.reuses != 0) edges_.add_reuse(recent.from, this_thread(site), recent.reuses);
    recent.reuses = 0;
  }
  void settle();

  struct RecentSite {
    Origin origin;
    SiteTenures* tenures = nullptr;
  };
  SiteTenures& find_site(Origin origin) {
    RecentSite& recent = recent_sites_[origin.site() % recent_sites_.size()];
    if (recent.origin != origin || recent.tenures == nullptr) recent = {origin, &sites_[origin]};
    return *recent.tenures;
  }

  uint8_t thread_ = 0;
  Sites sites_;
  std::array<RecentSite, 2048> recent_sites_;
  std::vector<Recent> recent_;  // by site
  EdgeTable edges_;
};

/// Tells evictions by capacity from those by conflict: would a fully associative LRU cache of
/// the same size have lost the line as well? It would if, since the line's last use, at
/// least as many different lines were used as the cache holds. These are the younger lines
/// that are still here and those that came and went meanwhile.
///
/// An estimate: ages are in steps of a sixteenth of the cache's lines filled, lines that were
/// evicted twice meanwhile count twice. Exact at the ends: a set that overflows while others
/// rest is a conflict, a run over more than the cache is capacity.
class LineAges {
 public:
  explicit LineAges(uint64_t lines = 0)
      : lines_(lines), step_fills_(std::max<uint64_t>(lines / 16, 1)) {}

  /// Of a sample of sets: how many lines each of a drawn set stands for, of those to come.
  void set_weight(uint32_t weight) { weight_ = weight; }

  /// `is_drawn`: of a set that was drawn. Whether a step began with it: all the others are a step
  /// older now.
  bool fill(LineTenure& tenure, bool is_drawn) {
    tenure.is_weighted = is_drawn && weight_ != 1;
    fills_ += weight_of(tenure);
    const bool begins_step = fills_ >= step_fills_;
    if (begins_step) next_step();
    tenure.age = now_;
    at_age(now_) += weight_of(tenure);
    return begins_step;
  }
  void use(LineTenure& tenure) {
    if (is_used(tenure)) return;
    at_age(tenure.age) -= weight_of(tenure);
    at_age(now_) += weight_of(tenure);
    tenure.age = now_;
  }
  /// Whether a use now would change nothing.
  [[nodiscard]] bool is_used(const LineTenure& tenure) const { return tenure.age == now_; }
  /// Takes the line out; for an eviction, whether it was by capacity.
  bool evict(const LineTenure& tenure);
  void remove(const LineTenure& tenure) { at_age(tenure.age) -= weight_of(tenure); }

 private:
  static constexpr uint16_t kSteps = 64;  // older lines are all of one age
  void next_step();
  [[nodiscard]] uint64_t weight_of(const LineTenure& tenure) const {
    return tenure.is_weighted ? weight_ : 1;
  }
  [[nodiscard]] uint16_t slot_of(uint16_t age) const {
    return static_cast<uint16_t>(now_ - age) >= kSteps - 1 ? static_cast<uint16_t>(kSteps)
                                                           : static_cast<uint16_t>(age % kSteps);
  }
  uint64_t& at_age(uint16_t age) { return used_at_[slot_of(age)]; }

  uint64_t lines_;
  uint64_t step_fills_;
  uint64_t fills_ = 0;  // in this step
  uint32_t weight_ = 1;
  uint16_t now_ = 0;
  std::array<uint64_t, kSteps + 1> used_at_{};     // lines by age of their last use; [kSteps]: old
  std::array<uint64_t, kSteps + 1> evicted_at_{};  // evictions in each step
};

}  // namespace culprit::simulate
