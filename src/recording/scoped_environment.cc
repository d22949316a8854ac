#include "recording/scoped_environment.h"

#include <cstdlib>

namespace culprit {

ScopedEnvironment::ScopedEnvironment(const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    const char* before = std::getenv(name.c_str());
    if (before != nullptr) kept_[name] = before;
    before_[name] = before == nullptr ? nullptr : kept_[name].c_str();
    ::setenv(name.c_str(), value.c_str(), 1);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const auto& [name, value] : before_) {
    if (value == nullptr) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value, 1);
    }
  }
}

std::string preload_first(const std::string& library) {
  const char* const now = std::getenv("LD_PRELOAD");
  return now == nullptr || *now == '\0' ? library : library + ":" + now;
}

}  // namespace culprit
