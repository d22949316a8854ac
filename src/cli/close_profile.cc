#include "cli/close_profile.h"

#include <fmt/format.h>

#include "base/text.h"
#include "model/hottest.h"

namespace culprit {
namespace {

std::string describe_part(const Profile& profile, uint64_t kept, uint64_t all, double share) {
  const std::string all_else = "no calls, branches, stacks and stays of cache lines";
  if (kept == all || profile.events.empty()) {
    return fmt::format("all places are in it, but {}", all_else);
  }
  return fmt::format("the {} hottest of {} places are in it, with {:.1f} % of the {}, and {}",
                     format_thousands(kept), format_thousands(all), 100 * share,
                     profile.strings.text(profile.events.front().name), all_else);
}

}  // namespace

Result<std::string> close_with_what_fits(ProfileWriter& writer, Profile& profile) {
  constexpr uint64_t kLessEachTime = 4;
  const Result<void> whole = writer.close(profile);
  if (whole) return std::string();
  const uint64_t all = count_places(profile);
  const Ledger ledger = profile.ledger;
  double share = 1;
  for (uint64_t most = all; most > 0; most /= kLessEachTime) {
    const HottestPlaces hottest = keep_hottest(profile, most);
    share *= hottest.share;
    const std::string part = describe_part(profile, hottest.kept, all, share);
    profile.ledger = ledger;
    profile.ledger.note("there was no room for the whole profile: " + part);
    if (writer.close(profile)) return whole.error().message + ": " + part;
  }
  return whole.error();
}

}  // namespace culprit
