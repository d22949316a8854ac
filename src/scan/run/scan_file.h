#pragma once

// The file of a scan: cells are added to it one by one, each in one transaction, so that whatever
// ends us costs no more than the cells that are under way. One scan at a time writes to it.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/profile.h"
#include "scan/cells.h"
#include "store/profile_file.h"

namespace culprit::scan {

class ScanFile {
 public:
  /// Makes it, or opens what there is, finished or interrupted.
  /// Errors: another scan writes to it; it is no profile
  static Result<ScanFile> open(const std::string& path);
  ScanFile(ScanFile&&) noexcept = default;
  ScanFile& operator=(ScanFile&&) noexcept = default;

  /// Those that were there at the start.
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }

  /// What cells have told of a library so far; nullptr: nothing.
  [[nodiscard]] const ImageFacts* find_library_facts(const Image& image) const;

  /// Adds what a cell left at `path`, and says whether it was measured. `native`: the labels of
  /// what native runs measured (native_costs.h).
  Result<void> add(const std::string& path, const CellDetails& native, bool& is_measured);
  /// Adds a cell without facts.
  Result<void> add(const Profile& cell);
  /// Compacts it.
  Result<void> close();

 private:
  ScanFile(std::string path, Fd lock, Profile profile, ProfileWriter writer);
  Result<void> write_facts(ImageId ours, const ImageFacts& facts, bool is_new);

  std::string path_;
  Fd lock_;
  Profile profile_;  // tables; counts are in the file
  std::vector<Cell> cells_;
  std::unique_ptr<ProfileWriter> writer_;
  std::map<ImageId, ImageFacts> facts_;  // of images that several cells have: libraries
};

/// Writes a file anew without the cells for which `is_forgotten` holds. Measurements that later
/// ones of the same cell took the place of go, too. How many cells went.
Result<size_t> forget_cells(const std::string& path,
                            const std::function<bool(const Cell&)>& is_forgotten);

}  // namespace culprit::scan
