#pragma once

// FactsCache: the facts of a profile's images, read when somebody first asks for them, for several
// requests at once. What it gave is valid for as long as it is held, whatever others ask for
// meanwhile; what nobody has asked for longest is let go when there is more than a limit.

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/image_facts.h"
#include "store/fact_parts.h"

namespace culprit {

/// Facts of one image, with at least these parts; nullopt: nothing is known of it. One call at a
/// time.
using ReadFacts = std::function<Result<std::optional<ImageFacts>>(ImageId image, FactParts parts)>;

class FactsCache {
 public:
  /// `limit_bytes`: of what is kept for the next one who asks. One image is kept even if it is
  /// larger; what requests hold comes on top.
  FactsCache(ReadFacts read, uint64_t limit_bytes)
      : limit_bytes_(limit_bytes), read_facts_(std::move(read)) {}

  /// Facts with at least `parts`. Null: the profile has none, or they are damaged, and problem()
  /// tells.
  std::shared_ptr<const ImageFacts> find(ImageId image, FactParts parts);

  [[nodiscard]] std::string problem() const;
  /// An estimate of what is kept.
  [[nodiscard]] uint64_t bytes() const;

 private:
  struct Entry {
    ImageId image;
    FactParts parts;
    std::shared_ptr<const ImageFacts> facts;
    uint64_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  /// The entry of an image, which is the one used last from now on; null: there is none.
  Entry* use(ImageId image);
  std::shared_ptr<const ImageFacts> read(ImageId image, FactParts parts);
  void keep(Entry entry);

  const uint64_t limit_bytes_;
  std::mutex reading_;  // taken before `mutex_`, while the file is read
  ReadFacts read_facts_;
  mutable std::mutex mutex_;  // of all that follows
  Entries entries_;           // used last first
  std::map<ImageId, Entries::iterator> by_image_;
  uint64_t bytes_ = 0;
  std::string problem_;
};

}  // namespace culprit
