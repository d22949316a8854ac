#pragma once

// The profiles that a server has open. One whose file has changed is read again.

#include <memory>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "base/result.h"
#include "documents/documents.h"

namespace culprit {

/// A profile as it was read, with its documents. It stays while somebody asks it.
struct OpenProfile {
  OpenProfile(ProfileView opened, const std::string& name)
      : view(std::move(opened)), documents(view, name) {}
  OpenProfile(const OpenProfile&) = delete;
  OpenProfile& operator=(const OpenProfile&) = delete;

  ProfileView view;
  Documents documents;
};

/// Several threads may ask at once.
class OpenProfiles {
 public:
  /// Errors: one of the files cannot be read
  Result<void> open(const std::vector<std::string>& files);

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  /// Errors: not_found: there is no such number; the file cannot be read any more
  Result<std::shared_ptr<const OpenProfile>> find(size_t number);
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
