#pragma once

// Typed row numbers: an EventId cannot be passed where an ImageId is meant.
// An id is the index of a row in its table of the Profile; kAll ("all", or
// "none") is the reserved value where a field may be left open.

#include <compare>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace culprit {

template <class Tag>
struct Id {
  static constexpr uint32_t kAllValue = 0xffffffff;

  uint32_t value = kAllValue;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t v) : value(v) {}
  constexpr explicit Id(size_t v) : value(static_cast<uint32_t>(v)) {}
  [[nodiscard]] constexpr bool is_all() const { return value == kAllValue; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using StringId = Id<struct StringTag>;
using RunId = Id<struct RunTag>;
using ProcessId = Id<struct ProcessTag>;
using ThreadId = Id<struct ThreadTag>;
using ContextId = Id<struct ContextTag>;
using EventId = Id<struct EventTag>;
using ImageId = Id<struct ImageTag>;
using StackId = Id<struct StackTag>;
using ObjectId = Id<struct ObjectTag>;
using ObjectRangeId = Id<struct ObjectRangeTag>;
using RegionId = Id<struct RegionTag>;

/// Three things may be said of the data object of a count:
///   ObjectId()      not recorded: it may be of any object, or of none
///   kNoAccess       the instruction accessed no memory there
///   kUnknownObject  it accessed memory that belongs to no object known by name
inline constexpr ObjectId kNoAccess(uint32_t{ObjectId::kAllValue - 1});
inline constexpr ObjectId kUnknownObject(uint32_t{0});

/// Whether the id is that of a row.
template <class Tag>
constexpr bool names_row(Id<Tag> id) {
  return !id.is_all() && !(std::is_same_v<Id<Tag>, ObjectId> && id.value == kNoAccess.value);
}

template <class T>
inline constexpr bool kIsId = false;
template <class Tag>
inline constexpr bool kIsId<Id<Tag>> = true;

}  // namespace culprit

template <class Tag>
struct std::hash<culprit::Id<Tag>> {
  size_t operator()(culprit::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.value); }
};
