#include "model/event_names.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// As `perf list` names events of several machines.
TEST(FindSampledUnit, IsThatOfTheEvent) {
  for (const char* time : {"cpu-clock", "task-clock:u", "cpu-clock/period=100000/"}) {
    EXPECT_EQ(find_sampled_unit(time), Unit::ns) << time;
  }
  for (const char* cycles :
       {"cycles", "cycles:u", "cycles/period=100000/", "cpu-cycles", "cpu_core/cycles/P",
        "cpu_atom/cpu-cycles/", "armv8_cortex_a57/cpu_cycles/"}) {
    EXPECT_EQ(find_sampled_unit(cycles), Unit::cycles) << cycles;
  }
  for (const char* other : {"instructions", "ref-cycles", "bus-cycles", "cache-misses", "r1d1",
                            "stalled-cycles-frontend", "page-faults"}) {
    EXPECT_EQ(find_sampled_unit(other), Unit::events) << other;
  }
}

}  // namespace
}  // namespace culprit
