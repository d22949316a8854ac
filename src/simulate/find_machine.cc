// find_machine(): from a word of the command line to the description of a machine.

#include <algorithm>
#include <dirent.h>
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "simulate/simulate.h"

namespace culprit {
namespace {

constexpr std::string_view kSuffix = ".toml";

std::vector<std::string> list_machines(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name(entry->d_name);
    if (name.ends_with(kSuffix)) names.emplace_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Whose core is nearest to this machine's, of those that are shipped; "": none is.
std::string find_host_core() {
  struct Kin {
    std::string_view vendor;
    std::string_view flag;  // that came with this core
    const char* machine;
  };
  constexpr Kin kKin[] = {{"GenuineIntel", " amx_tile", "golden-cove"},
                          {"AuthenticAMD", " avx512f", "zen4"}};
  const Result<std::string> text = read_file("/proc/cpuinfo", 1 << 20);
  if (!text) return "";
  const auto* const found = std::find_if(std::begin(kKin), std::end(kKin), [&](const Kin& one) {
    return text->find(one.vendor) != std::string::npos && text->find(one.flag) != std::string::npos;
  });
  return found == std::end(kKin) ? "" : found->machine;
}

/// The caches are those of sysfs, all else is of a machine with the same kind of core.
Result<simulate::Machine> read_host(const std::string& data_folder) {
  const std::string path = data_folder + "/" + find_host_core() + std::string(kSuffix);
  const Result<simulate::Machine> kin = simulate::read_machine(path);
  return simulate::read_host_machine("/sys", kin ? *kin : simulate::Machine());
}

}  // namespace

Result<simulate::Machine> find_machine(const std::string& name, const std::string& data_folder) {
  if (name == "host") return read_host(data_folder);
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(kSuffix);
  if (is_path) return simulate::read_machine(name);
  const std::vector<std::string> known = list_machines(data_folder);
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return simulate::read_machine(data_folder + "/" + name + std::string(kSuffix));
  }
  const std::string nearest = nearest_word(name, known);
  return Error{fmt::format("no machine '{}'{}: there are host, none{}{}; or give a file (.toml)",
                           printable(name),
                           nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                           known.empty() ? "" : ", ", fmt::format("{}", fmt::join(known, ", ")))};
}

}  // namespace culprit
