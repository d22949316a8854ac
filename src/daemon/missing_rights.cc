#include "daemon/missing_rights.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <string_view>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit {

namespace {

struct Right {
  int capability;
  const char* name;
  const char* loss;
};

// What each is for: scripts/systemd/culprit.service has them.
constexpr Right kRights[] = {
    {CAP_SYSLOG, "CAP_SYSLOG", "the kernel is one row where its addresses are hidden"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
     "files that programs of other users map have the names that the kernel has for them, and "
     "symbols only if they can be opened by these; code of their JIT compilers has none"},
    {CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
     "files of other users that are deleted or replaced while they run have no symbols"},
    {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
     "files that this user may not read have no symbols"},
};

}  // namespace

uint64_t read_own_capabilities() {
  constexpr std::string_view kField = "\nCapEff:";
  const std::string status = read_file("/proc/self/status").value_or("");
  const size_t at = status.find(kField);
  if (at == std::string::npos) return UINT64_MAX;
  const std::string_view rest = std::string_view(status).substr(at + kField.size());
  return find_number(trim(rest.substr(0, rest.find('\n'))), 16).value_or(UINT64_MAX);
}

std::vector<std::string> explain_missing_rights(uint64_t capabilities) {
  std::vector<std::string> sentences;
  for (const Right& right : kRights) {
    if ((capabilities >> right.capability & 1) != 0) continue;
    sentences.push_back(fmt::format("without {}: {}", right.name, right.loss));
  }
  return sentences;
}

}  // namespace culprit
