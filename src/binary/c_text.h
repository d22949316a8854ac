#pragma once

// CText: text that a C library's function has allocated.

#include <cstdlib>
#include <memory>

namespace culprit {

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};
using CText = std::unique_ptr<char, FreeText>;

}  // namespace culprit
