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

}  // namespace

Result<simulate::Machine> find_machine(const std::string& name, const std::string& data_folder) {
  if (name == "host") return simulate::read_host_machine("/sys");
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
