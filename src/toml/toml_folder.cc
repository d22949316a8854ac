#include "toml/toml_folder.h"

#include <algorithm>
#include <dirent.h>
#include <memory>

namespace culprit {

std::vector<std::string> list_toml_names(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries) return names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name(entry->d_name);
    if (!name.ends_with(kTomlSuffix)) continue;
    names.emplace_back(name.substr(0, name.size() - kTomlSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool is_toml_path(std::string_view word) {
  return word.find('/') != word.npos || word.ends_with(kTomlSuffix);
}

}  // namespace culprit
