#pragma once

// The profiles that a server has open. One whose file has changed is read again.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include "base/result.h"
#include "documents/documents.h"
#include "snapshot/snapshot.h"

namespace culprit {

/// A profile as it was read, with its documents. It stays while somebody asks it.
struct OpenProfile {
  OpenProfile(ProfileView opened, const std::string& name)
      : view(std::move(opened)), documents(view, name) {}
  OpenProfile(const OpenProfile&) = delete;
  OpenProfile& operator=(const OpenProfile&) = delete;

  /// A document as JSON. Those of the whole profile take longest to make: who asks for one that is
  /// being made waits for it, and it is kept.
  /// Errors: as Documents::make()
  [[nodiscard]] Result<std::string> document(std::string_view name) const;

  ProfileView view;
  Documents documents;

 private:
  /// So much of documents is kept.
  static constexpr size_t kMostKeptBytes = size_t{128} << 20;

  struct Kept {
    std::mutex making;
    std::string json;  // "": not made yet
  };
  /// Of a document that cannot be made, or that has no room, nothing stays.
  [[nodiscard]] Result<std::string> find_or_make(std::string_view name, Kept& kept) const;

  mutable std::mutex lock_;  // of what follows
  mutable std::map<std::string, std::shared_ptr<Kept>, std::less<>> kept_;
  mutable size_t kept_bytes_ = 0;
};

/// Several threads may ask at once.
class OpenProfiles {
 public:
  /// `progress`: of what the first opening of an epoch looks up.
  /// Errors: one of the files cannot be read
  Result<void> open(const std::vector<std::string>& files, const SnapshotProgress& progress);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  /// Errors: not_found: there is no such number; the file cannot be read any more
  Result<std::shared_ptr<const OpenProfile>> find(size_t number,
                                                  const SnapshotProgress& progress = {});
  /// Another word whenever the file has changed.
  [[nodiscard]] std::string version(size_t number) const;

 private:
  struct Slot {
    std::string version;
    std::shared_ptr<const OpenProfile> profile;
  };

  std::vector<std::string> files_;
  std::mutex lock_;  // of the slots
  std::vector<Slot> slots_;
};

}  // namespace culprit
