#include "cli/find_database.h"

#include <cstdlib>
#include <unistd.h>

#include "base/file.h"

namespace culprit {

namespace {

constexpr const char* kSystemDatabase = "/var/lib/culprit";

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::string find_database(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (const std::string named = environment("CULPRIT_DB"); !named.empty()) return named;
  if (::geteuid() == 0 || file_exists(kSystemDatabase)) return kSystemDatabase;
  const std::string state = environment("XDG_STATE_HOME");
  return (state.empty() ? environment("HOME") + "/.local/state" : state) + "/culprit";
}

}  // namespace culprit
