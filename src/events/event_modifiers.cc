#include "events/event_modifiers.h"

#include <fmt/format.h>

#include "base/text.h"

namespace culprit {

bool is_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kModifierLetters) == std::string_view::npos;
}

Result<void> Modifiers::check(std::string_view letters, std::string_view request) const {
  const auto wrong = [&](const std::string& what) {
    return Error{
        fmt::format("event '{}': {}\nmodifiers are u k h (user, kernel, hypervisor), G H "
                    "(guest, host), I (not idle), p pp ppp P (precise), D (pinned), e "
                    "(exclusive), S (read the group)",
                    printable(request), what)};
  };
  for (size_t i = 0; i < letters.size(); ++i) {
    const char letter = letters[i];
    if (kModifierLetters.find(letter) == std::string_view::npos) {
      return wrong(fmt::format("there is no modifier '{}'", printable(letters.substr(i, 1))));
    }
    if (letter != 'p' && letters.find(letter, i + 1) != std::string_view::npos) {
      return wrong(fmt::format("modifier '{}' is given twice", letter));
    }
  }
  return {};
}

Result<void> Modifiers::add(std::string_view letters, std::string_view request) {
  RETURN_IF_ERROR(check(letters, request));
  if (is_first_ && !letters.empty()) exclude_guest_ = false;
  is_first_ = false;
  for (const char letter : letters) add_letter(letter);
  if (precise_level_ > 3) {
    return Error{fmt::format("event '{}': ppp is the most precise level", printable(request))};
  }
  if (precise_max_ && precise_level_ > 0) {
    return Error{fmt::format(
        "event '{}': P asks for the highest precise level, p for a lower one; give one of them",
        printable(request))};
  }
  return {};
}

void Modifiers::add_letter(char letter) {
  const bool is_level = letter == 'u' || letter == 'k' || letter == 'h';
  const bool is_place = letter == 'G' || letter == 'H';
  if (is_level && !names_level_) {
    names_level_ = exclude_user_ = exclude_kernel_ = exclude_hypervisor_ = true;
  }
  if ((letter == 'u' || letter == 'p') && !names_place_) exclude_guest_ = true;
  if (is_place && !names_place_) names_place_ = exclude_guest_ = exclude_host_ = true;
  // clang-format off
  switch (letter) {
    case 'u': exclude_user_ = false; break;
    case 'k': exclude_kernel_ = false; break;
    case 'h': exclude_hypervisor_ = false; break;
    case 'G': exclude_guest_ = false; break;
    case 'H': exclude_host_ = false; break;
    case 'I': exclude_idle_ = true; break;
    case 'p': ++precise_level_; break;
    case 'P': precise_max_ = true; break;
    case 'D': pinned_ = true; break;
    case 'e': exclusive_ = true; break;
    case 'S': sample_group_ = true; break;
    default: break;
  }
  // clang-format on
}

void Modifiers::apply(EventRequest& request, bool is_leader) const {
  request.exclude_user = exclude_user_;
  request.exclude_kernel = exclude_kernel_;
  request.exclude_hypervisor = exclude_hypervisor_;
  request.exclude_host = exclude_host_;
  request.exclude_guest = exclude_guest_;
  request.exclude_idle = exclude_idle_;
  request.precise_level = static_cast<uint8_t>(precise_level_);
  request.precise_max = precise_max_;
  request.pinned = pinned_ && is_leader;
  request.exclusive = exclusive_ && is_leader;
  request.sample_group = sample_group_;
}

}  // namespace culprit
