#include "exports/callgrind_names.h"

#include <algorithm>

#include "base/text.h"

namespace culprit {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string as_word(std::string_view text) {
  std::string word(text);
  for (char& c : word) {
    if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  if (word.empty() || is_digit(word.front())) word.insert(word.begin(), '_');
  return word;
}

}  // namespace

std::string CompressedNames::name(std::string_view text) {
  const std::string clean = text.empty() ? "???" : printable(text);
  const auto [at, is_new] = ids_.try_emplace(clean, ids_.size() + 1);
  const std::string id = "(" + std::to_string(at->second) + ")";
  return is_new ? id + " " + clean : id;
}

std::vector<std::string> callgrind_event_names(const Profile& profile) {
  std::vector<std::string> names;
  for (const Event& event : profile.events) {
    const std::string plain = as_word(profile.strings.text(event.name));
    std::string name = plain;
    for (int copy = 2; std::find(names.begin(), names.end(), name) != names.end(); ++copy) {
      name = plain + "_" + std::to_string(copy);
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace culprit
