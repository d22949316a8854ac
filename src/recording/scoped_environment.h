#pragma once

#include <map>
#include <string>

namespace culprit {

/// Environment variables of ours that have other values for a while.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::map<std::string, std::string>& values);
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::map<std::string, const char*> before_;  // nullptr: it was not set
  std::map<std::string, std::string> kept_;
};

/// The value of LD_PRELOAD that has `library` in front of what it has now.
std::string preload_first(const std::string& library);

}  // namespace culprit
