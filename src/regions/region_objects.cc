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

std::string describe_place(const DataObject& object, const std::set<std::string>& places) {
  if (places.size() == 1 && object.blocks <= 1) return ": " + *places.begin();
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
  size_t matches = 0;
  ChosenObjects chosen{std::vector<bool>(profile.objects.size()), {}};
  std::vector<std::string> known;
  for (uint32_t row = 0; row < profile.objects.size(); ++row) {
    const std::string& name = names.name(ObjectId(row));
    known.push_back(name);
    if (name != words && !matches_pattern(name, words)) continue;
    chosen.rows[row] = true;
    if (++matches > kMostTold) continue;
    chosen.remarks.push_back(
        fmt::format("counts are of accesses to {}{}", printable(name),
                    describe_place(profile.objects[row], places[ObjectId(row)])));
  }
  if (matches > 1) {
    chosen.remarks.push_back(fmt::format("{} data objects match {}, and are counted together",
                                         format_thousands(matches), in_quotes(words)));
  }
  if (matches > 0) return chosen;
  const std::string nearest = nearest_word(words, known);
  return Error{
      fmt::format("no data object is called {}{} (culprit report --by object lists them)",
                  in_quotes(words),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest))),
      ErrorKind::not_found};
}

}  // namespace culprit
