// SPDX-License-Identifier: GPL-2.0-or-later

// What bench/simulate.py measures the software PMU against: the least that tells what data cost
// whom. Three levels of data caches (32 KiB, 1 MiB, 8 MiB; 8 ways, true LRU) for one thread; per
// instruction its misses, the bytes that were touched of its lines, and whose lines it reused. No
// instruction fetches, no TLB, no branches, no other cores, no prefetching, no evictors, and the
// result is thrown away.

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "simulate/qemu/qemu_events.h"

namespace {

struct Line {
  uint64_t tag = ~uint64_t{0};
  uint64_t used = 0;
  uint64_t touched = 0;
  uint32_t accessed = 0;
  uint32_t site = 0;
};

/// An instruction; what it did last is all that most accesses look at.
struct alignas(64) Site {
  Line* last = nullptr;
  uint32_t number = 0;
  uint32_t reuses_from = 0;
  uint64_t reuses = 0;
  uint64_t misses[3]{};
  uint64_t touched = 0;
};

uint64_t now = 0;
Line nothing;
std::unordered_map<uint64_t, std::unique_ptr<Site>> site_at;
std::unordered_map<uint32_t, Site*> site_of;
std::unordered_map<uint64_t, uint64_t> edges;

template <unsigned kSets>
class Level {
 public:
  Line* find(uint64_t tag) {
    for (Line& line : sets_[tag % kSets].ways) {
      if (line.tag == tag) return &line;
    }
    return nullptr;
  }
  /// The one that has made room for `tag`; its tenure has ended.
  Line& fill(uint64_t tag, const Site& site) {
    Line* oldest = sets_[tag % kSets].ways;
    for (Line& line : sets_[tag % kSets].ways) {
      if (line.used < oldest->used) oldest = &line;
    }
    if (oldest->site != 0) {
      site_of[oldest->site]->touched +=
          static_cast<uint64_t>(__builtin_popcountll(oldest->touched));
    }
    *oldest = {tag, now, 0, 0, site.number};
    return *oldest;
  }

 private:
  struct Set {
    Line ways[8];
  };
  std::unique_ptr<Set[]> sets_ = std::make_unique<Set[]>(kSets);
};
Level<64> level1;
Level<2048> level2;
Level<16384> level3;

[[gnu::noinline]] Line* bring(uint64_t tag, Site& site) {
  ++site.misses[0];
  if (Line* const line = level2.find(tag)) {
    line->used = now;
  } else {
    ++site.misses[1];
    if (Line* const last = level3.find(tag)) {
      last->used = now;
    } else {
      ++site.misses[2];
      level3.fill(tag, site);
    }
    level2.fill(tag, site);
  }
  return &level1.fill(tag, site);
}

[[gnu::noinline]] void begin_edge(Site& site, uint32_t from) {
  edges[uint64_t{site.reuses_from} << 32 | site.number] += site.reuses;
  site.reuses_from = from;
  site.reuses = 0;
}

void access_line(Site& site, uint64_t address, uint32_t bytes) {
  ++now;
  const uint64_t tag = address / 64;
  Line* line = site.last;
  bool is_reuse = true;
  if (line->tag != tag) {
    line = level1.find(tag);
    is_reuse = line != nullptr;
    if (!is_reuse) line = bring(tag, site);
    site.last = line;
  }
  line->used = now;
  line->touched |= ((uint64_t{1} << bytes) - 1) << address % 64;
  line->accessed += bytes;
  if (!is_reuse) return;
  if (line->site != site.reuses_from) begin_edge(site, line->site);
  ++site.reuses;
}

void accessed(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* data) {
  Site& site = *static_cast<Site*>(data);
  const uint32_t bytes = 1U << (info >> 4 & 7);  // as QEMU 7.2 packs it
  const auto here = static_cast<uint32_t>(64 - address % 64);
  if (bytes <= here) return access_line(site, address, bytes);
  access_line(site, address, here);
  access_line(site, address + here, bytes - here);
}

void block_runs(unsigned, void* data) {
  ++*static_cast<uint64_t*>(data);
}

void translated(qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_cb(block, block_runs, QEMU_PLUGIN_CB_NO_REGS, new uint64_t{0});
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    std::unique_ptr<Site>& site = site_at[qemu_plugin_insn_vaddr(instruction)];
    if (site == nullptr) {
      site = std::make_unique<Site>();
      site->last = &nothing;
      site->number = static_cast<uint32_t>(site_at.size());
      site_of[site->number] = site.get();
    }
    qemu_plugin_register_vcpu_mem_cb(instruction, accessed, QEMU_PLUGIN_CB_NO_REGS,
                                     QEMU_PLUGIN_MEM_RW, site.get());
  }
}

}  // namespace

extern "C" {
int qemu_plugin_version = culprit::find_qemu_interface();
int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int, char**) {
  culprit::tell_qemu_events(id, *info, {.block_is_translated = translated});
  return 0;
}
}
