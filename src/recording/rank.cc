#include "recording/rank.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/names.h"

namespace culprit {
namespace {

struct Launcher {
  const char* rank;
  const char* size;  // how many there are; "": it does not say
};
// The innermost first: Open MPI under srun has both.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMIX_RANK", ""},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};

std::string read_number(const char* variable) {
  const char* const value = std::getenv(variable);
  const std::string_view text = value == nullptr ? "" : value;
  constexpr size_t kMostDigits = 9;
  const bool is_number =
      !text.empty() && text.size() <= kMostDigits &&
      std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
  return is_number ? std::string(text) : "";
}

}  // namespace

std::optional<Rank> find_rank() {
  for (const Launcher& launcher : kLaunchers) {
    const std::string number = read_number(launcher.rank);
    if (number.empty()) continue;
    if (read_number(launcher.size) == "1") return std::nullopt;
    return Rank{number, launcher.rank};
  }
  return std::nullopt;
}

std::string name_of_rank(const std::string& path, const Rank& rank) {
  const size_t name = path.size() - base_name(path).size();
  const size_t dot = path.rfind('.');
  const bool has_extension = dot != std::string::npos && dot > name;
  std::string result = path;
  return result.insert(has_extension ? dot : path.size(), ".rank" + rank.number);
}

}  // namespace culprit
