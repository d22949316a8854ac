#include "simulate/counting/region.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/file.h"
#include "simulate/counting/translation.h"

namespace culprit::counting {

bool RegionPlaces::holds(std::string_view mapped_path, uint64_t offset) const {
  return mapped_path == path && std::find(offsets.begin(), offsets.end(), offset) != offsets.end();
}

std::string region_file_path(const std::string& folder) {
  return folder + "/region";
}

std::string function_file_path(const std::string& folder, size_t number) {
  return folder + "/function." + std::to_string(number);
}

Result<void> write_region_file(const std::string& path, const RegionPlaces& region) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "wxe"), std::fclose);
  bool is_written = file && std::fprintf(file.get(), "%s\n", region.path.c_str()) > 0;
  for (const uint64_t offset : region.offsets) {
    is_written = is_written &&
                 std::fprintf(file.get(), "%llx\n", static_cast<unsigned long long>(offset)) > 0;
  }
  if (!is_written || std::fflush(file.get()) != 0) return Error{"cannot write '" + path + "'"};
  return {};
}

Result<RegionPlaces> read_region_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path, 1 << 20));
  RegionPlaces region;
  std::string line;
  bool is_first = true;
  for (const char c : text) {
    if (c != '\n') {
      line.push_back(c);
      continue;
    }
    char* end = nullptr;
    if (is_first) region.path = line;
    if (!is_first) region.offsets.push_back(std::strtoull(line.c_str(), &end, 16));
    if (!is_first && (*end != '\0' || line.empty())) return Error{"'" + path + "' is damaged"};
    is_first = false;
    line.clear();
  }
  return region;
}

bool RegionWatch::step(const BlockFacts& block, size_t least, size_t height) {
  if (least < entered_at_) inside_ = false;
  if (!inside_ && block.enters_region) {
    inside_ = true;
    entered_at_ = height;
  }
  return inside_;
}

}  // namespace culprit::counting
