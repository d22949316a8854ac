#include "model/idle_time.h"

#include <string>

#include "base/number.h"

namespace culprit {
namespace {

constexpr const char* kIdle = "idle_ns";
constexpr const char* kCapacity = "idle_capacity_ns";

std::optional<uint64_t> find_entry(const Profile& profile, const char* key) {
  const auto entry = profile.environment.find(key);
  if (entry == profile.environment.end()) return std::nullopt;
  return find_number(entry->second, 10);
}

}  // namespace

void add_idle_time(Profile& profile, const IdleTime& time) {
  const IdleTime before = find_idle_time(profile).value_or(IdleTime{});
  profile.environment[kIdle] = std::to_string(before.idle_ns + time.idle_ns);
  profile.environment[kCapacity] = std::to_string(before.capacity_ns + time.capacity_ns);
}

void erase_idle_time(Profile& profile) {
  profile.environment.erase(kIdle);
  profile.environment.erase(kCapacity);
}

std::optional<IdleTime> find_idle_time(const Profile& profile) {
  const std::optional<uint64_t> idle = find_entry(profile, kIdle);
  const std::optional<uint64_t> capacity = find_entry(profile, kCapacity);
  if (!idle || !capacity || *capacity == 0 || *idle > *capacity) return std::nullopt;
  return IdleTime{*idle, *capacity};
}

}  // namespace culprit
