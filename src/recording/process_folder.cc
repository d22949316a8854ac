#include "recording/process_folder.h"

#include <algorithm>
#include <dirent.h>
#include <fmt/format.h>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/number.h"

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

std::string read_task_name(uint32_t id) {
  const std::string text = read_file(fmt::format("/proc/{}/comm", id)).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace culprit
