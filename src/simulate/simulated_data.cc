// What a simulated run tells of data: its objects, and what became of cache lines.

#include <fmt/format.h>

#include "base/names.h"
#include "model/instance_names.h"
#include "model/ledger.h"
#include "simulate/simulated_profile.h"

namespace culprit {
namespace {

// The plugin's words for the model's.
constexpr CacheLevel kLevels[] = {CacheLevel::l1d, CacheLevel::l1i, CacheLevel::l2, CacheLevel::l3};
constexpr EdgeKind kEdges[] = {
    EdgeKind::reuse,           EdgeKind::eviction_capacity, EdgeKind::eviction_conflict,
    EdgeKind::sharing_true,    EdgeKind::sharing_false,     EdgeKind::refetch_capacity,
    EdgeKind::refetch_conflict};

std::optional<AccessKind> kind_of(simulate::LineUse use, bool is_float) {
  switch (use) {
    case simulate::LineUse::load:
      return is_float ? AccessKind::float_load : AccessKind::integer_load;
    case simulate::LineUse::store:
      return is_float ? AccessKind::float_store : AccessKind::integer_store;
    case simulate::LineUse::fetch:
      return AccessKind::fetch;
  }
  return std::nullopt;  // of a damaged file
}

}  // namespace

ObjectId SimulatedProfile::intern_object(const DataObject& object) {
  std::vector<DataObject>& rows = builder_.profile().objects;
  if (rows.empty()) rows.emplace_back();  // unknown
  DataObject key = object;
  key.blocks = key.total_bytes = 0;
  const auto [known, is_new] = object_ids_.try_emplace(key, ObjectId(rows.size()));
  if (is_new) {
    rows.push_back(object);
  } else {
    rows[known->second.value].blocks += object.blocks;
    rows[known->second.value].total_bytes += object.total_bytes;
  }
  return known->second;
}

DataObject SimulatedProfile::describe_object(const ProcessCounts& counts,
                                             const CountedObject& object,
                                             const std::vector<Place>& places,
                                             const LocateAny& locate) {
  using objects::Kind;
  const counts_file::Object& row = object.row;
  DataObject result;
  result.size_bytes = row.size_bytes;
  std::string name = object.name;
  const auto find_site = [&] {
    const Place& place = places[row.mapping];
    if (!place.has_file) return;
    const auto start = images_.locate(counts.pid, place.mapping, place.mapping.start, builder_);
    if (start) result.site = {start->image, FileOffset(row.place)};
  };
  switch (static_cast<Kind>(row.kind)) {
    case Kind::section:
      name = fmt::format("[{} of {}]", name, base_name(counts.paths[row.mapping]));
      [[fallthrough]];
    case Kind::variable:
    case Kind::thread_variable:
      result.kind = ObjectKind::global;
      find_site();
      break;
    case Kind::block:
      result.kind = ObjectKind::heap;
      if (counts.has_instances && row.place != 0 && row.is_folded == 0) {
        name = fmt::format("{}{}", kInstanceMark, row.place);
      } else if (!counts.has_sizes) {
        result.size_bytes = 0;  // there are several
      }
      break;
    case Kind::mapping:
      result.kind = ObjectKind::mapping;
      result.size_bytes = 0;
      break;
    case Kind::allocator:
      result.kind = ObjectKind::heap;
      name = kAllocatorObject;
      result.size_bytes = 0;
      break;
    case Kind::stack:
      result.kind = ObjectKind::stack;
      name = "[stack]";
      break;
    case Kind::frame:
      result.kind = ObjectKind::stack;
      find_site();
      break;
    case Kind::range:
      result.kind = ObjectKind::range;
      break;
    case Kind::other:
      name = kOtherObjects;
      break;
    case Kind::unknown:
      break;
  }
  result.name = builder_.intern(name);
  const bool is_range_of_blocks = result.kind == ObjectKind::range && !object.path.empty();
  if (result.kind != ObjectKind::heap && result.kind != ObjectKind::mapping &&
      !is_range_of_blocks) {
    return result;
  }
  result.blocks = row.blocks;
  result.total_bytes = row.total_bytes;
  for (size_t i = object.path.size(); i > 0; --i) {
    result.site = locate(object.path[i - 1]);
    result.calls = builder_.intern_stack({result.calls, result.site});
  }
  return result;
}

std::vector<ObjectId> SimulatedProfile::add_objects(const ProcessCounts& counts,
                                                    const std::vector<Place>& places,
                                                    const LocateAny& locate) {
  if (!counts.has_objects) return {};
  has_objects_ = true;
  std::vector<ObjectId> ids{kUnknownObject};
  if (builder_.profile().objects.empty()) builder_.profile().objects.emplace_back();
  for (size_t number = 1; number < counts.objects.size(); ++number) {
    const CountedObject& object = counts.objects[number];
    DataObject row = describe_object(counts, object, places, locate);
    if (object.row.parent != 0) row.parent = ids[object.row.parent];
    ids.push_back(intern_object(row));
    if (row.kind != ObjectKind::range) continue;
    builder_.profile().object_ranges.push_back(
        {ids.back(), ContextId(), RunAddress(object.row.place), object.row.size_bytes});
  }
  return ids;
}

void SimulatedProfile::add_offsets(const ProcessCounts& counts,
                                   const std::vector<ObjectId>& objects, const LocateAny& locate,
                                   ContextId context) {
  if (objects.empty()) return;
  for (uint32_t site = 0; site < counts.site_objects.size(); ++site) {
    const counts_file::SiteObject& row = counts.site_objects[site];
    if (row.instruction == 0 || row.samples == 0) continue;
    builder_.profile().access_offsets.push_back({context, locate(site), objects[row.object],
                                                 row.offset, row.stride, row.span, row.samples});
  }
}

void SimulatedProfile::add_tenures(const counting::Tenures& tenures, uint32_t weight,
                                   const LocateSite& locate, const FindContext& context_of) {
  Profile& profile = builder_.profile();
  uint64_t lost = 0;
  const auto object_at = [&](const SitePlace& place, simulate::Origin origin) {
    const bool is_code = has_objects_ && origin.use() == simulate::LineUse::fetch;
    return place.object.value_or(is_code ? kNoAccess : ObjectId());
  };
  // What a row's numbers are to be multiplied by; 0: it is damaged.
  const auto scale_of = [&](uint8_t stratum) -> uint64_t {
    if (stratum == simulate::SetSample::kCertain) return 1;
    return stratum <= simulate::kMostRandomGroups ? weight : 0;
  };
  for (const counting::TenureRow& row : tenures.rows) {
    const uint64_t scale = scale_of(row.stratum);
    lost += scale * row.sums.all_edges_rest();
    const auto at = locate(row.origin.site());
    const auto kind = kind_of(row.origin.use(), at ? at->is_float : false);
    if (!at || !kind || static_cast<size_t>(row.level) >= std::size(kLevels) || scale == 0) {
      profile.ledger.add(ledger::kDamagedRecords);
      continue;
    }
    Tenure tenure;
    tenure.context = context_of(row.origin.thread());
    tenure.location = at->location;
    tenure.object = object_at(*at, row.origin);
    tenure.level = kLevels[static_cast<size_t>(row.level)];
    tenure.kind = *kind;
    tenure.lines = scale * row.sums.lines;
    tenure.bytes_touched = scale * row.sums.bytes_touched;
    tenure.bytes_accessed = scale * row.sums.bytes_accessed;
    tenure.touches = scale * row.sums.touches;
    tenure.lines_reused = scale * row.sums.lines_reused;
    tenure.lines_at_end = scale * row.sums.lines_left_at_end;
    tenure.lines_prefetched = scale * row.sums.lines_prefetched;
    tenure.lines_never_used = scale * row.sums.lines_never_used;
    tenure.lines_cut = scale * row.sums.lines_cut;
    tenure.stratum = row.stratum;
    profile.tenures.push_back(tenure);
  }
  for (const counting::EdgeRow& row : tenures.edges) {
    const auto from = locate(row.key.from.site());
    const auto to = locate(row.key.to.site());
    if (!from || !to || static_cast<size_t>(row.key.kind) >= std::size(kEdges) ||
        static_cast<size_t>(row.level) >= std::size(kLevels) || scale_of(row.stratum) == 0) {
      profile.ledger.add(ledger::kDamagedRecords);
      continue;
    }
    profile.edges.push_back(
        {context_of(row.key.from.thread()), context_of(row.key.to.thread()), from->location,
         to->location, object_at(*from, row.key.from), kLevels[static_cast<size_t>(row.level)],
         kEdges[static_cast<size_t>(row.key.kind)], scale_of(row.stratum) * row.count,
         object_at(*to, row.key.to), row.stratum});
  }
  if (lost > 0) profile.ledger.add(ledger::kEdgesNotKept, lost);
}

}  // namespace culprit
