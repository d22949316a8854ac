#include "regions/region_objects.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "attribute/object_names.h"
#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

constexpr size_t kMostTold = 5;  // objects that match

/// Where each object's ranges are, of all processes.
using Places = std::map<ObjectId, std::set<std::string>>;

Places find_places(const Profile& profile) {
  Places places;
  for (const ObjectRange& range : profile.object_ranges) {
    places[range.object].insert(
        fmt::format("{} bytes from {:#x}", format_thousands(range.size_bytes), range.start.value));
  }
  return places;
}

/// Rows of one name: to users they are one object.
struct Object {
  std::set<std::string> places;
  uint64_t blocks = 0;
  uint64_t total_bytes = 0;
};

std::string describe_place(const Object& object) {
  if (object.places.size() == 1 && object.blocks <= 1) return ": " + *object.places.begin();
  if (object.blocks == 0) return "";
  return fmt::format(": {} bytes in {} blocks", format_thousands(object.total_bytes),
                     format_thousands(object.blocks));
}

}  // namespace

Result<ChosenObjects> find_region_objects(CodeIndex& code, const std::string& words) {
  const Profile& profile = code.profile();
  const bool has_objects = std::ranges::any_of(
      profile.histograms, [](const Histogram& histogram) { return !histogram.objects.empty(); });
  if (!has_objects) {
    return Error{
        "this profile has no counts by data object\nculprit record --regions --engine simulate "
        "--range NAME (or --objects site) COMMAND... has"};
  }
  ObjectNames names(code);
  Places places = find_places(profile);
  ChosenObjects chosen{std::vector<bool>(profile.objects.size()), {}};
  std::vector<std::string> known;
  std::vector<std::string> matching;  // names, in the order of their first rows
  std::map<std::string, Object> objects;
  for (uint32_t row = 0; row < profile.objects.size(); ++row) {
    const std::string& name = names.name(ObjectId(row));
    known.push_back(name);
    if (name != words && !matches_pattern(name, words)) continue;
    chosen.rows[row] = true;
    const auto [at, is_new] = objects.try_emplace(name);
    if (is_new) matching.push_back(name);
    at->second.places.merge(places[ObjectId(row)]);
    at->second.blocks += profile.objects[row].blocks;
    at->second.total_bytes += profile.objects[row].total_bytes;
  }
  for (size_t i = 0; i < std::min(matching.size(), kMostTold); ++i) {
    chosen.remarks.push_back(fmt::format("counts are of accesses to {}{}", printable(matching[i]),
                                         describe_place(objects[matching[i]])));
  }
  if (matching.size() > 1) {
    chosen.remarks.push_back(fmt::format("{} data objects match {}, and are counted together",
                                         format_thousands(matching.size()), in_quotes(words)));
  }
  if (!matching.empty()) return chosen;
  const std::string nearest = nearest_word(words, known);
  return Error{
      fmt::format("no data object is called {}{} (culprit report --by object lists them)",
                  in_quotes(words),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest))),
      ErrorKind::not_found};
}

}  // namespace culprit
