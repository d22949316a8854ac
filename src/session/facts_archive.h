#pragma once

// FactsArchive: ImageFacts kept once for each image, beside the epochs that have counts of it. An
// image's file is a small profile of its own: one image, all the places that facts were made for,
// and the facts.
//
//     complete(profile, demand)   makes what lacks, from files that are held or found
//     read(profile, image)        as ProfileReader::read_facts()

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "snapshot/snapshot.h"
#include "store/profile_file.h"

namespace culprit {

class FactsArchive {
 public:
  explicit FactsArchive(std::string folder) : folder_(std::move(folder)) {}

  /// Makes facts for those of `demand` that the archive does not cover, from `held` files or found
  /// ones. What cannot be written is kept in memory. What is missing is noted in `ledger`.
  Result<void> complete(const Profile& profile, const std::vector<ImageDemand>& demand,
                        const std::map<ImageId, Fd>& held, const SnapshotOptions& options,
                        const SnapshotProgress& progress, Ledger& ledger);

  /// nullopt: nothing is known of the image.
  Result<std::optional<ImageFacts>> read(const Profile& profile, ImageId image,
                                         FactParts parts) const;

 private:
  [[nodiscard]] std::string path_of(const Profile& profile, const Image& image) const;
  [[nodiscard]] std::vector<FileOffset> find_covered(const std::string& path,
                                                     std::vector<FileOffset>& wanted) const;

  std::string folder_;
  std::map<std::string, ImageFacts> unwritten_;  // by path
};

/// Whether facts of such images can be made, or read from an archive.
bool belongs_in_archive(const Image& image);

}  // namespace culprit
