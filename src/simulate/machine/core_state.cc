#include "simulate/machine/core_state.h"

#include <algorithm>
#include <bit>

namespace culprit::simulate {

namespace {

/// Lines of 128 MB, beyond which passes over one array forget each other.
constexpr size_t kLostLines = size_t{1} << 21;

std::array<uint16_t, kDataSources> latencies_of(const MachineModel& machine) {
  const uint32_t cycles[kDataSources] = {
      0,
      machine.l2.latency_cycles,
      machine.l3.latency_cycles,
      machine.memory.other_core_clean_cycles,
      machine.memory.other_core_modified_cycles,
      machine.memory.latency_cycles,
  };
  std::array<uint16_t, kDataSources> latencies;
  for (size_t i = 0; i < latencies.size(); ++i) latencies[i] = static_cast<uint16_t>(cycles[i]);
  return latencies;
}

/// Of each random group.
std::unique_ptr<TenureTable[]> make_tables(bool with_tenures, const SetSample& sample) {
  if (!with_tenures || sample.is_all()) return nullptr;
  return std::make_unique<TenureTable[]>(sample.random_groups());
}

}  // namespace

PrivateLevel::PrivateLevel(const CacheGeometry& geometry, uint32_t line_bytes, bool with_tenures,
                           const SetSample& sample)
    : cache(geometry, line_bytes), drawn(make_tables(with_tenures, sample)) {
  if (!with_tenures || !cache.present()) return;
  tenures = ZeroedArray<LineTenure>(cache.lines());
  ages = LineAges(cache.lines());
  ages.set_weight(sample.weight());
  lost = LostLines(kLostLines);
}

CoreState::CoreState(const MachineModel& of, Locality recorded, const SetSample& sets,
                     const HugePages& pages, SharedLevel& level, uint16_t core)
    : line_shift(static_cast<uint32_t>(std::countr_zero(of.line_bytes))),
      line_mask(of.line_bytes - 1),
      latencies(latencies_of(of)),
      machine(of),
      locality(recorded),
      sample(sets),
      huge_pages(pages),
      shared(level),
      number(core),
      l1d(of.l1d, of.line_bytes, recorded != Locality::off, sets),
      l1i(of.l1i, of.line_bytes, recorded != Locality::off, sets),
      code_uses(l1i.cache.lines()),
      l2(of.l2, of.line_bytes, recorded == Locality::all, sets),
      l3_drawn(make_tables(recorded == Locality::all, sets)),
      itlb(of.tlb.instruction),
      dtlb(of.tlb.data),
      stlb(of.tlb.second),
      stream(of.prefetch, line_shift),
      stride(of.prefetch, line_shift) {
  begin_thread(*this, static_cast<uint8_t>(std::min<uint32_t>(core, Origin::kMostThreads - 1)));
}

uint32_t CoreState::strata(Level level) const {
  const bool is_first = level == Level::l1d || level == Level::l1i;
  const bool is_recorded = is_first ? locality != Locality::off : locality == Locality::all;
  return is_recorded && !sample.is_all() ? 1 + sample.random_groups() : 1;
}

TenureTable& CoreState::tenures(Level level, uint8_t stratum) {
  switch (level) {
    case Level::l1d:
      return l1d.table_of(stratum);
    case Level::l1i:
      return l1i.table_of(stratum);
    case Level::l2:
      return l2.table_of(stratum);
    case Level::l3:
      break;
  }
  return stratum == SetSample::kCertain ? l3_table : l3_drawn[stratum - 1];
}

}  // namespace culprit::simulate
