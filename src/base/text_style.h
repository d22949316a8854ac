#pragma once

// How results are written: for people, who have a terminal of some width, or for programs.

#include <cstddef>
#include <cstdint>
#include <string>

namespace culprit {

enum class Format : uint8_t { text, json, csv };

struct TextStyle {
  size_t width = 80;
  bool colour = false;
  std::string file = "";  // the profile, for commands to type; "": the one they take themselves
  std::string selection = "";  // options that chose what was shown, as typed
};

}  // namespace culprit
