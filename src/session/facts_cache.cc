#include "session/facts_cache.h"

#include <utility>

namespace culprit {

std::shared_ptr<const ImageFacts> FactsCache::find(ImageId image, FactParts parts) {
  const auto look = [&]() -> std::optional<std::shared_ptr<const ImageFacts>> {
    const std::lock_guard lock(mutex_);
    const Entry* const known = use(image);
    if (known != nullptr && known->parts.has_all(parts)) return known->facts;
    // What is read instead must do for those who had the others, too.
    if (known != nullptr) parts |= known->parts;
    return std::nullopt;
  };
  if (const auto found = look()) return *found;
  const std::lock_guard lock(reading_);
  // Somebody else may have read it meanwhile.
  if (const auto found = look()) return *found;
  return read(image, parts);
}

FactsCache::Entry* FactsCache::use(ImageId image) {
  const auto found = by_image_.find(image);
  if (found == by_image_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

std::shared_ptr<const ImageFacts> FactsCache::read(ImageId image, FactParts parts) {
  Result<std::optional<ImageFacts>> facts = read_facts_(image, parts);
  Entry entry{image, parts, nullptr};
  if (facts && *facts) {
    entry.facts = std::make_shared<const ImageFacts>(**std::move(facts));
    entry.bytes = estimate_memory_bytes(*entry.facts);
  } else {
    entry.parts = FactParts::all();  // it need not be tried again
  }
  const std::lock_guard lock(mutex_);
  if (!facts) problem_ = facts.error().message;
  std::shared_ptr<const ImageFacts> found = entry.facts;
  keep(std::move(entry));
  return found;
}

void FactsCache::keep(Entry entry) {
  if (Entry* const older = use(entry.image)) {
    bytes_ -= older->bytes;
    *older = std::move(entry);
  } else {
    entries_.push_front(std::move(entry));
    by_image_[entries_.front().image] = entries_.begin();
  }
  bytes_ += entries_.front().bytes;
  while (bytes_ > limit_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    by_image_.erase(entries_.back().image);
    entries_.pop_back();
  }
}

std::string FactsCache::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

uint64_t FactsCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace culprit
