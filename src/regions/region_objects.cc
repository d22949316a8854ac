#include "regions/region_objects.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "attribute/object_names.h"
#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

std::string describe_place(const Profile& profile, ObjectId object) {
  std::set<std::string> places;  // of all processes
  for (const ObjectRange& range : profile.object_ranges) {
    if (range.object != object) continue;
    places.insert(
        fmt::format("{} bytes from {:#x}", format_thousands(range.size_bytes), range.start.value));
  }
  const DataObject& row = profile.objects[object.value];
  if (places.size() == 1 && row.blocks <= 1) return ": " + *places.begin();
  if (row.blocks == 0) return "";
  return fmt::format(": {} bytes in {} blocks", format_thousands(row.total_bytes),
                     format_thousands(row.blocks));
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
  ChosenObjects chosen{std::vector<bool>(profile.objects.size()), {}};
  std::vector<std::string> known;
  for (uint32_t row = 0; row < profile.objects.size(); ++row) {
    const std::string& name = names.name(ObjectId(row));
    known.push_back(name);
    if (name != words && !matches_pattern(name, words)) continue;
    chosen.rows[row] = true;
    chosen.remarks.push_back(fmt::format("counts are of accesses to {} alone{}", printable(name),
                                         describe_place(profile, ObjectId(row))));
  }
  if (!chosen.remarks.empty()) return chosen;
  const std::string nearest = nearest_word(words, known);
  return Error{
      fmt::format("no data object is called {}{} (culprit report --by object lists them)",
                  in_quotes(words),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest))),
      ErrorKind::not_found};
}

}  // namespace culprit
