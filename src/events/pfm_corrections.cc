#include "events/pfm_corrections.h"

#include <array>
#include <string>

#include "base/text.h"

namespace culprit {
namespace {

constexpr std::string_view kSkx = "Intel perfmon SKX/events/skylakex_core.json";
constexpr std::string_view kClx = "Linux tools/perf/pmu-events/arch/x86/cascadelakex/pipeline.json";
constexpr std::string_view kIcx = "Intel perfmon ICX/events/icelakex_core.json";
constexpr std::string_view kIcl = "Linux tools/perf/pmu-events/arch/x86/icelake/pipeline.json";
constexpr std::string_view kSpr = "Intel perfmon SPR/events/sapphirerapids_core.json";
constexpr std::string_view kIvt = "Intel perfmon IVT/events/ivytown_core.json";
constexpr std::string_view kHsx = "Intel perfmon HSX/events/haswellx_core.json";

/// config: event 0-7, unit mask 8-15, edge 18, any 21, inversion 23, count mask 24-31.
constexpr uint64_t code(uint64_t event, uint64_t mask, uint64_t count_mask = 0,
                        uint64_t inversion = 0, uint64_t edge = 0) {
  return event | mask << 8 | edge << 18 | inversion << 23 | count_mask << 24;
}

const std::array kCorrections = std::to_array<PfmCorrection>({
    {"skx", "UOPS_RETIRED", "STALL_CYCLES", code(0xc2, 1, 1, 1), code(0xc2, 2, 1, 1), 0, kSkx},
    {"skx", "UOPS_RETIRED", "TOTAL_CYCLES", code(0xc2, 1, 10, 1), code(0xc2, 2, 16, 1), 0, kSkx},
    {"clx", "UOPS_RETIRED", "STALL_CYCLES", code(0xc2, 1, 1, 1), code(0xc2, 2, 1, 1), 0, kClx},
    {"clx", "UOPS_RETIRED", "TOTAL_CYCLES", code(0xc2, 1, 10, 1), code(0xc2, 2, 10, 1), 0, kClx},
    {"icx", "TOPDOWN", "BACKEND_BOUND_SLOTS", code(0, 2), code(0xa4, 2), 0, kIcx},
    {"icx", "MEM_LOAD_MISC_RETIRED", "UC", code(0xc4, 4), code(0xd4, 4), 0, kIcx},
    // icl: the core of icx; where its own list leaves an event out, that of icx says.
    {"icl", "TOPDOWN", "BACKEND_BOUND_SLOTS", code(0, 2), code(0xa4, 2), 0, kIcl},
    {"icl", "MEM_LOAD_MISC_RETIRED", "UC", code(0xc4, 4), code(0xd4, 4), 0, kIcx},
    {"spr", "UOPS_RETIRED", "MS", code(0xc2, 8), code(0xc2, 4), 0x8, kSpr},
    {"spr", "ARITH", "IDIV_ACTIVE", code(0xb0, 8), code(0xb0, 8, 1), 0, kSpr},
    {"spr", "ARITH", "INT_DIVIDER_ACTIVE", code(0xb0, 8), code(0xb0, 8, 1), 0, kSpr},
    {"spr", "INT_MISC", "UNKNOWN_BRANCH_CYCLES", code(0xad, 7), code(0xad, 0x40), 0x7, kSpr},
    {"spr", "TOPDOWN", "BACKEND_BOUND_SLOTS", code(0, 2), code(0xa4, 2), 0, kSpr},
    {"spr", "TOPDOWN", "BAD_SPEC_SLOTS", code(0, 4), code(0xa4, 4), 0, kSpr},
    {"spr", "TOPDOWN", "BR_MISPREDICT_SLOTS", code(0, 8), code(0xa4, 8), 0, kSpr},
    {"spr", "TOPDOWN", "MEMORY_BOUND_SLOTS", code(0, 0x10), code(0xa4, 0x10), 0, kSpr},
    {"spr", "INST_RETIRED", "ANY", code(0xc0, 1), code(0, 1), 0, kSpr},
    {"spr",
     "OFFCORE_REQUESTS_OUTSTANDING",
     "L3_MISS_DEMAND_DATA_RD",
     {},
     code(0x20, 0x10),
     0,
     kSpr},
    {"ivb_ep", "MOVE_ELIMINATION", "INT_NOT_ELIMINATED", code(0x58, 1), code(0x58, 4), 0, kIvt},
    {"ivb_ep", "MOVE_ELIMINATION", "INT_ELIMINATED", code(0x58, 4), code(0x58, 1), 0, kIvt},
    {"ivb_ep", "MEM_LOAD_UOPS_LLC_MISS_RETIRED", "LOCAL_DRAM", code(0xd3, 1), code(0xd3, 3), 0,
     kIvt},
    {"hsw_ep", "L2_RQSTS", "DEMAND_DATA_RD_HIT", code(0x24, 0x41), code(0x24, 0xc1), 0, kHsx},
    {"hsw_ep", "L2_RQSTS", "RFO_HIT", code(0x24, 0x42), code(0x24, 0xc2), 0, kHsx},
    {"hsw_ep", "L2_RQSTS", "CODE_RD_HIT", code(0x24, 0x44), code(0x24, 0xc4), 0, kHsx},
    {"hsw_ep", "L2_RQSTS", "L2_PF_MISS", code(0x24, 0x38), code(0x24, 0x30), 0, kHsx},
    {"hsw_ep", "L2_RQSTS", "L2_PF_HIT", code(0x24, 0xd8), code(0x24, 0xd0), 0, kHsx},
    {"hsw_ep", "UOPS_RETIRED", "TOTAL_CYCLES", code(0xc2, 1, 10, 1), code(0xc2, 1, 16, 1), 0, kHsx},
});

}  // namespace

std::span<const PfmCorrection> pfm_corrections() {
  return kCorrections;
}

const PfmCorrection* find_pfm_correction(std::string_view pmu, std::string_view event) {
  std::string typed(event);
  for (char& c : typed) c = c == '.' ? ':' : c;
  const std::vector<std::string_view> words = split(typed, ':');
  for (const PfmCorrection& row : kCorrections) {
    if (!is_same_word(row.pmu, pmu) || !is_same_word(row.event, words[0])) continue;
    for (const std::string_view word : words) {
      if (is_same_word(row.mask, word)) return &row;
    }
  }
  return nullptr;
}

uint64_t correct_config(const PfmCorrection& correction, uint64_t config) {
  constexpr std::array<uint64_t, 5> kFields = {0xff, 0xff00, 1U << 18, 1U << 23, 0xff000000};
  const uint64_t wrong = correction.wrong.value_or(correction.right);
  for (const uint64_t field : kFields) {
    if ((config & field) == (wrong & field)) {
      config = (config & ~field) | (correction.right & field);
    }
  }
  return config;
}

}  // namespace culprit
