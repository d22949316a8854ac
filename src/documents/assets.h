#pragma once

// The page itself, as the build made it of web/: script and style, in the binary.

#include <string_view>

namespace culprit {

struct WebAssets {
  std::string_view script;  // "" in builds that could not make it
  std::string_view style;
  std::string_view problem;  // why not, and what to do; "": it is there
};
const WebAssets& web_assets();

}  // namespace culprit
