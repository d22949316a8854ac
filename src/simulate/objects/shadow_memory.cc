#include "simulate/objects/shadow_memory.h"

#include <algorithm>
#include <sys/mman.h>

#include "base/result.h"

namespace culprit::objects {
namespace {

/// Zeros that take memory only where they are touched; nullptr: there is none.
void* map_zeros(uint64_t bytes) {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

ShadowMemory::ShadowMemory()
    : parts_(static_cast<uint32_t**>(map_zeros(kParts * sizeof(uint32_t*)))),
      mixed_(static_cast<Mixed**>(map_zeros(kMostMixedParts * sizeof(Mixed*)))) {
  CHECK(parts_ != nullptr && mixed_ != nullptr);
}

ShadowMemory::~ShadowMemory() {
  for (uint64_t number = 0; number < kParts; ++number) {
    if (parts_[number] != nullptr) ::munmap(parts_[number], kPartGranules * sizeof(uint32_t));
  }
  for (uint32_t number = 0; number < kMostMixedParts && mixed_[number] != nullptr; ++number) {
    delete[] mixed_[number];
  }
  ::munmap(parts_, kParts * sizeof(uint32_t*));
  ::munmap(mixed_, kMostMixedParts * sizeof(Mixed*));
}

ObjectNumber ShadowMemory::find_mixed(uint32_t word, uint64_t address) const {
  return __atomic_load_n(&mixed(word).object[address % kGranule], __ATOMIC_RELAXED);
}

/// nullptr: there is none, and none was made.
uint32_t* ShadowMemory::part_of(uint64_t address, bool makes) {
  uint32_t*& part = parts_[address >> kPartShift];
  if (part == nullptr && makes) {
    void* const made = map_zeros(kPartGranules * sizeof(uint32_t));
    __atomic_store_n(&part, static_cast<uint32_t*>(made), __ATOMIC_RELEASE);
  }
  return part;
}

/// kFirstMixed + its number; kNothing: there are too many.
uint32_t ShadowMemory::make_mixed() {
  if (!free_mixed_.empty()) {
    const uint32_t word = free_mixed_.back();
    free_mixed_.pop_back();
    return word;
  }
  const uint32_t part = mixed_count_ / kMixedAtOnce;
  if (part == kMostMixedParts) return kNothing;
  if (mixed_[part] == nullptr) mixed_[part] = new Mixed[kMixedAtOnce];
  return kFirstMixed + mixed_count_++;
}

void ShadowMemory::set(uint32_t& word, uint32_t value) {
  if (word >= kFirstMixed) free_mixed_.push_back(word);
  __atomic_store_n(&word, value, __ATOMIC_RELAXED);
}

/// Whole granules.
void ShadowMemory::fill(uint64_t begin, uint64_t end, ObjectNumber object) {
  while (begin < end) {
    const uint64_t part_end = ((begin >> kPartShift) + 1) << kPartShift;
    const uint64_t stop = std::min(end, part_end);
    if (uint32_t* const part = part_of(begin, object != kNothing)) {
      uint32_t* at = part + place_of(begin);
      for (uint64_t left = (stop - begin) >> kGranuleShift; left > 0; --left) set(*at++, object);
    }
    begin = stop;
  }
}

/// A part of one granule.
void ShadowMemory::paint_within(uint64_t begin, uint64_t end, ObjectNumber object,
                                ObjectNumber spare) {
  uint32_t* const part = part_of(begin, true);
  if (part == nullptr) return;
  uint32_t& word = part[place_of(begin)];
  const uint64_t first = begin % kGranule;
  if (word == object) return;
  if (first == 0 && word == spare) return set(word, object);
  uint32_t shared = word;
  if (word < kFirstMixed) {
    shared = make_mixed();
    if (shared == kNothing) return;  // the whole stays what it was
    std::fill_n(mixed(shared).object, kGranule, word);
  }
  ObjectNumber* const bytes = mixed(shared).object;
  for (uint64_t at = first; at < first + (end - begin); ++at) {
    __atomic_store_n(&bytes[at], object, __ATOMIC_RELAXED);
  }
  if (std::all_of(bytes, bytes + kGranule, [&](ObjectNumber one) { return one == object; })) {
    if (word < kFirstMixed) free_mixed_.push_back(shared);
    return set(word, object);
  }
  if (word < kFirstMixed) __atomic_store_n(&word, shared, __ATOMIC_RELEASE);
}

bool ShadowMemory::is_one(uint64_t begin, uint64_t end) const {
  const uint64_t number = begin >> kPartShift;
  if (number >= kParts || (end - 1) >> kPartShift != number) return false;
  const uint32_t* const part = __atomic_load_n(&parts_[number], __ATOMIC_ACQUIRE);
  if (part == nullptr) return true;  // nobody's
  const uint32_t first = __atomic_load_n(&part[place_of(begin)], __ATOMIC_RELAXED);
  for (uint64_t at = (begin >> kGranuleShift) + 1; at <= (end - 1) >> kGranuleShift; ++at) {
    if (__atomic_load_n(&part[at & (kPartGranules - 1)], __ATOMIC_RELAXED) != first) return false;
  }
  return first < kFirstMixed;
}

void ShadowMemory::paint(uint64_t begin, uint64_t end, ObjectNumber object, ObjectNumber spare) {
  end = std::min(end, kParts << kPartShift);
  if (begin >= end) return;
  const uint64_t first_whole = (begin + kGranule - 1) / kGranule * kGranule;
  const uint64_t last_whole = end / kGranule * kGranule;
  if (begin < first_whole) paint_within(begin, std::min(first_whole, end), object, kFirstMixed);
  if (first_whole < last_whole) fill(first_whole, last_whole, object);
  if (last_whole < end && last_whole >= first_whole) paint_within(last_whole, end, object, spare);
}

}  // namespace culprit::objects
