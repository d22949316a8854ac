#include "simulate/machine/tlb.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>
#include <vector>

namespace culprit::simulate {
namespace {

/// True LRU, as it is defined: each set's pages in the order of their last use.
class Reference {
 public:
  explicit Reference(const TlbGeometry& geometry)
      : ways_(geometry.ways), sets_(geometry.entries / geometry.ways) {}

  bool use(uint64_t page) {
    std::list<uint64_t>& set = sets_[page / 4 % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), page);
    const bool was_there = found != set.end();
    if (was_there) set.erase(found);
    set.push_front(page);
    if (set.size() > ways_) set.pop_back();
    return was_there;
  }
  void drop(uint64_t page) {
    for (std::list<uint64_t>& set : sets_) set.remove(page);
  }

 private:
  size_t ways_;
  std::vector<std::list<uint64_t>> sets_;
};

TEST(Tlb, IsTrueLru) {
  for (const TlbGeometry geometry : {TlbGeometry{64, 64}, TlbGeometry{1024, 8}, TlbGeometry{6, 3},
                                     TlbGeometry{1, 1}, TlbGeometry{12, 12}}) {
    Tlb tlb(geometry);
    Reference reference(geometry);
    uint64_t random = 7;
    uint64_t misses = 0;
    for (uint64_t now = 1; now <= 200'000; ++now) {
      random = random * 6364136223846793005 + 1442695040888963407;
      // Half of them near, half over twice what fits; some huge.
      const uint64_t number = (random >> 63) != 0 ? (random >> 33) % (geometry.entries / 2 + 1)
                                                  : (random >> 33) % (2 * geometry.entries);
      const bool huge = (random >> 60) % 4 == 0;
      const uint64_t page = number * 4 + (huge ? 3 : 1);
      const bool is_there = tlb.use(page, now);
      ASSERT_EQ(is_there, reference.use(page)) << geometry.entries << " entries, use " << now;
      misses += is_there ? 0 : 1;
      if (now % 5000 == 0) {
        tlb.drop_if([&](uint64_t address, bool is_huge) {
          return !is_huge && address == number << kPageShift;
        });
        reference.drop(number * 4 + 1);
      }
    }
    EXPECT_GT(misses, 20'000U) << geometry.entries;
  }
}

TEST(Tlb, OfNoEntriesHasNothing) {
  Tlb tlb(TlbGeometry{0, 4});
  EXPECT_FALSE(tlb.use(5, 1));
  EXPECT_FALSE(tlb.use(5, 2));
}

}  // namespace
}  // namespace culprit::simulate
