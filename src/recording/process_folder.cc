#include "recording/process_folder.h"

#include <algorithm>
#include <dirent.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit {

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

}  // namespace

std::vector<uint32_t> list_numbered_entries(const std::string& path) {
  std::vector<uint32_t> numbers;
  const Folder folder(::opendir(path.c_str()));
  if (folder == nullptr) return numbers;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const auto number = find_number(entry->d_name, 10);
    if (number && *number <= UINT32_MAX) numbers.push_back(static_cast<uint32_t>(*number));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::vector<std::string> list_subfolders(const std::string& path) {
  std::vector<std::string> folders;
  const Folder folder(::opendir(path.c_str()));
  if (folder == nullptr) return folders;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    if (entry->d_type != DT_DIR || name == "." || name == "..") continue;
    folders.push_back(path + "/" + entry->d_name);
  }
  return folders;
}

std::vector<uint32_t> list_descendants(std::span<const uint32_t> processes) {
  std::multimap<uint32_t, uint32_t> children;  // by the parent
  for (const uint32_t pid : list_numbered_entries("/proc")) {
    // "12 (a name) S 1 ...": a name may hold anything but its end.
    const std::string text = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
    const auto words =
        split(std::string_view(text).substr(std::min(text.rfind(')'), text.size())), ' ');
    const auto parent = words.size() > 2 ? find_number(words[2], 10) : std::nullopt;
    if (parent && pid != static_cast<uint32_t>(::getpid())) {
      children.emplace(static_cast<uint32_t>(*parent), pid);
    }
  }
  std::vector<uint32_t> found(processes.begin(), processes.end());
  const size_t named = found.size();
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) {
      if (std::find(found.begin(), found.end(), child->second) == found.end()) {
        found.push_back(child->second);
      }
    }
  }
  found.erase(found.begin(), found.begin() + static_cast<ptrdiff_t>(named));
  return found;
}

std::string read_task_name(uint32_t id) {
  const std::string text = read_file(fmt::format("/proc/{}/comm", id)).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace culprit
