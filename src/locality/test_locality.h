#pragma once

// A profile made by hand, for tests of this room: grind of mill (attribute/test_profile.h) at two
// lines.
//
//   offset  line        accesses  L1 misses  L1D: lines  touched  accessed  touches  reused  at end
//   0x210   mill.c:11        800        100         100     1600      6400      800     100       4
//   0x214   mill.c:12        200        200         200     1600      1600      200       0       0

#include "attribute/test_profile.h"
#include "locality/locality.h"

namespace culprit {

inline constexpr ImageId kMill(0u);

inline Location at(uint64_t offset) {
  return {kMill, FileOffset(offset)};
}

inline Tenure tenure(uint64_t offset, CacheLevel level, AccessKind kind, uint64_t lines,
                     uint64_t touched, uint64_t accessed) {
  Tenure made;
  made.context = ContextId(0u);
  made.location = at(offset);
  made.level = level;
  made.kind = kind;
  made.lines = lines;
  made.bytes_touched = touched;
  made.bytes_accessed = accessed;
  made.touches = accessed / 8;
  return made;
}

inline Edge edge(uint64_t from, uint64_t to, EdgeKind kind, uint64_t count,
                 CacheLevel level = CacheLevel::l1d) {
  return {ContextId(0u), ContextId(0u), at(from), at(to), ObjectId(), level, kind, count};
}

struct MadeLocality {
  TestProfile test = make_test_profile();

  MadeLocality() {
    Profile& p = test.profile;
    p.environment["simulate.locality"] = "all";
    p.environment["simulate.machine"] = "zen4";
    p.environment["simulate.line-bytes"] = "64";
    p.environment["simulate.l1d"] = "32768/8";
    p.environment["simulate.l1i"] = "32768/8";
    p.environment["simulate.l2"] = "1048576/8";
    p.events.clear();
    p.histograms.clear();
    const auto add = [&](const char* name, Unit unit, Provenance provenance) {
      Event event;
      event.name = p.strings.intern(name);
      event.engine = p.strings.intern("simulate");
      event.unit = unit;
      event.provenance = provenance;
      p.events.push_back(event);
    };
    add("sim:cycles", Unit::cycles, Provenance::modelled);
    add("sim:load-l2-cycles", Unit::cycles, Provenance::modelled);
    add("L1-dcache-loads", Unit::events, Provenance::counted);
    add("L1-dcache-load-misses", Unit::events, Provenance::counted);
    add("fp-loads", Unit::events, Provenance::counted);
    const auto column = [](uint32_t event, std::vector<uint64_t> values) {
      return EventColumn{EventId(event), std::vector<uint64_t>(values.size()), values, {}};
    };
    p.histograms.push_back({ContextId(0u),
                            kMill,
                            {FileOffset(0x210), FileOffset(0x214)},
                            {column(0, {4000, 6000}), column(1, {1000, 5000}),
                             column(2, {800, 200}), column(3, {100, 200}), column(4, {0, 200})},
                            {}});
    p.tenures = {tenure(0x210, CacheLevel::l1d, AccessKind::integer_load, 100, 1600, 6400),
                 tenure(0x214, CacheLevel::l1d, AccessKind::float_load, 200, 1600, 1600),
                 tenure(0x214, CacheLevel::l2, AccessKind::float_load, 50, 1600, 1600)};
    p.tenures[0].lines_reused = 100;
    p.tenures[0].lines_at_end = 4;
    p.edges = {edge(0x210, 0x210, EdgeKind::reuse, 600),
               edge(0x210, 0x214, EdgeKind::reuse, 100),
               edge(0x210, 0x214, EdgeKind::eviction_conflict, 90),
               edge(0x210, 0x210, EdgeKind::eviction_capacity, 6),
               edge(0x214, 0x210, EdgeKind::refetch_capacity, 40),
               edge(0x214, 0x210, EdgeKind::reuse, 1, CacheLevel::l2)};
  }

  /// A run beside it, of 1 GHz, with so many samples of 1,000 cycles in each line.
  void add_measured(uint64_t first, uint64_t second) {
    Profile& p = test.profile;
    Event time;
    time.name = p.strings.intern("cpu-clock");
    time.engine = p.strings.intern("timer");
    time.unit = Unit::ns;
    time.provenance = Provenance::sampled;
    p.events.push_back(time);
    p.machine.clock = ClockCalibration{1e9, 1e9, 1e9, 9};
    const EventId event(static_cast<uint32_t>(p.events.size() - 1));
    p.histograms.push_back({ContextId(0u),
                            kMill,
                            p.histograms[0].offsets,
                            {{event, {first, second}, {1000 * first, 1000 * second}, {}}},
                            {}});
  }

  Result<LocalityReport> make(const LocalityOptions& options = {}) {
    return make_locality(test.profile, test.lookup(), options);
  }
};

}  // namespace culprit
