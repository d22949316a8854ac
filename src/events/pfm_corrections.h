#pragma once

// Where libpfm4 4.13 is wrong, and what is right by the CPU maker's own lists.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace culprit {

struct PfmCorrection {
  std::string_view pmu;           // libpfm4's name
  std::string_view event;         // "UOPS_RETIRED"
  std::string_view mask;          // "STALL_CYCLES"
  std::optional<uint64_t> wrong;  // config by libpfm4; nothing: it does not know the name
  uint64_t right = 0;
  uint64_t config1 = 0;     // 0: as libpfm4 says
  std::string_view source;  // which list, where
};

std::span<const PfmCorrection> pfm_corrections();

/// The row about an event, typed as "EVENT:MASK:c=1" or "EVENT.MASK", in any case.
const PfmCorrection* find_pfm_correction(std::string_view pmu, std::string_view event);

/// `config` as libpfm4 made it, with the fields that are wrong replaced; what the user set
/// (a count mask, inversion, edge) stays.
uint64_t correct_config(const PfmCorrection& correction, uint64_t config);

}  // namespace culprit
