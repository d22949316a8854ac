#include "collect/timer/shim_environment.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

#include "collect/timer/guest/protocol.h"

namespace culprit {

std::vector<std::string> make_shim_environment(const ShimSettings& settings) {
  static constexpr std::string_view kOurs[] = {"LD_PRELOAD=", CULPRIT_ENV_FOLDER "=",
                                               CULPRIT_ENV_PERIOD "=", CULPRIT_ENV_STACKS "="};
  std::vector<std::string> environment;
  std::string preload = settings.shim_path;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(kOurs[0]) && text.size() > kOurs[0].size()) {
      preload += ":" + std::string(text.substr(kOurs[0].size()));
    }
    const bool is_ours = std::any_of(std::begin(kOurs), std::end(kOurs),
                                     [&](std::string_view name) { return text.starts_with(name); });
    if (!is_ours) environment.emplace_back(text);
  }
  environment.push_back("LD_PRELOAD=" + preload);
  environment.push_back(CULPRIT_ENV_FOLDER "=" + settings.folder);
  environment.push_back(CULPRIT_ENV_PERIOD "=" + std::to_string(settings.period_ns));
  environment.push_back(CULPRIT_ENV_STACKS + std::string(settings.stacks ? "=1" : "=0"));
  return environment;
}

}  // namespace culprit
