#include "locality/json_use.h"

#include <algorithm>
#include <cmath>

namespace culprit {
namespace {

Json json_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

/// Null of what was seen in too few sets.
Json json_error(const SampleError& error) {
  return json_number(error.half_width);
}

/// Of a level's numbers; null: they are exact.
Json json_errors(const LineUse& use, const Caches& caches) {
  if (caches.sampling.one_of == 1) return {};
  return {{"lines", json_error(estimate_lines_error(use, caches.sampling))},
          {"spatial_percent", json_error(estimate_spatial_error(use, caches))},
          {"temporal", json_error(estimate_temporal_error(use, caches))}};
}

Json json_edge_rows(const std::vector<EdgeRow>& rows, const Caches& caches) {
  Json list = Json::array();
  for (const EdgeRow& row : rows) {
    Json object = row.is_itself ? Json::object() : json_spot(row.spot);
    object["itself"] = row.is_itself;
    object["count"] = row.count;
    object["error"] = json_error(estimate_sum_error(row.groups, caches.sampling));
    list.push_back(std::move(object));
  }
  return list;
}

Json json_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(printable(text));
  return list;
}

bool is_recorded(size_t level, const Caches& caches) {
  const CacheLevel which = kTenureLevels[level];
  if (!caches.levels[level]) return false;
  return caches.all_levels || which == CacheLevel::l1d || which == CacheLevel::l1i;
}

}  // namespace

Json json_spot(const CodeSpot& spot) {
  Json object = {{"module", printable(spot.module)}};
  if (!spot.function.empty()) object["function"] = printable(spot.function);
  if (spot.line != 0) {
    object["file"] = printable(spot.file);
    object["line"] = spot.line;
    object["last_line"] = spot.last_line;
  }
  if (spot.column != 0) object["column"] = spot.column;
  if (spot.address) object["address"] = json_address(*spot.address);
  return object;
}

Json json_caches(const Caches& caches) {
  Json levels = Json::object();
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const auto& level = caches.levels[i];
    levels[level_word(kTenureLevels[i])] =
        level ? Json{{"size_bytes", level->size_bytes}, {"ways", level->ways}} : Json();
  }
  Json object = {{"machine", printable(caches.machine)},
                 {"line_bytes", caches.line_bytes},
                 {"recorded", caches.all_levels ? "all" : "l1"}};
  object["levels"] = std::move(levels);
  object["sampling"] = caches.sampling.one_of == 1
                           ? Json()
                           : Json{{"one_of", caches.sampling.one_of},
                                  {"random_groups", caches.sampling.random_groups}};
  return object;
}

Json json_cost_kind(const UseEvents& events) {
  const auto is = [&](UseEvents::Cost cost) { return events.cost == cost; };
  const bool is_modelled = is(UseEvents::Cost::modelled) || is(UseEvents::Cost::shared);
  const bool is_sampled =
      is(UseEvents::Cost::measured) ||
      (is(UseEvents::Cost::misses) && events.cost_event.provenance == Provenance::sampled);
  return {{"unit", is(UseEvents::Cost::misses) ? "L1D misses" : "cycles"},
          {"provenance", is_modelled  ? "modelled"
                         : is_sampled ? "sampled"
                                      : "counted"}};
}

Json json_misses(const std::array<uint64_t, kMissLevels>& misses) {
  return {{"L1D", misses[0]}, {"L2", misses[1]}, {"L3", misses[2]}};
}

Json json_miss_errors(const std::array<double, kMissLevels>& variance, const Caches& caches) {
  const auto is_zero = [](double one) { return !(one > 0); };
  const bool is_exact = std::all_of(variance.begin(), variance.end(), is_zero);
  if (caches.sampling.one_of == 1 && is_exact) return {};
  const auto error = [&](size_t level) {
    return is_zero(variance[level]) ? Json() : Json(kNormal95 * std::sqrt(variance[level]));
  };
  return {{"L1D", error(0)}, {"L2", error(1)}, {"L3", error(2)}};
}

Json json_levels(const std::array<LineUse, kTenureLevels.size()>& levels, const Caches& caches) {
  Json object = Json::object();
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const char* const word = level_word(kTenureLevels[i]);
    if (!is_recorded(i, caches)) {
      object[word] = Json();
      continue;
    }
    const LineUse& use = levels[i];
    object[word] = {
        {"lines", use.lines},
        {"bytes_touched", use.bytes_touched},
        {"bytes_accessed", use.bytes_accessed},
        {"touches", use.touches},
        {"lines_reused", use.lines_reused},
        {"lines_at_end", use.lines_at_end},
        {"lines_prefetched", use.lines_prefetched},
        {"lines_never_used", use.lines_never_used},
        {"lines_cut", use.lines_cut},
        {"spatial_percent", json_number(compute_spatial_percent(use, caches.line_bytes))},
        {"temporal", json_number(compute_temporal_use(use))},
        {"errors", json_errors(use, caches)}};
  }
  return object;
}

Json json_use(const Use& use, const UseEvents& events, const Caches& caches) {
  Json object = {{"cost", json_value(events.value_of(use))},
                 {"accesses", use.accesses},
                 {"accesses_error", kNormal95 * std::sqrt(use.access_variance)}};
  object["misses"] = events.has_misses ? json_misses(use.misses) : Json();
  object["miss_errors"] = events.has_misses ? json_miss_errors(use.miss_variance, caches) : Json();
  object["modelled_cycles"] = events.has_waits ? Json(use.cycles) : Json();
  object["waiting_cycles"] = events.has_waits ? Json(use.waits) : Json();
  object["levels"] = json_levels(use.levels, caches);
  return object;
}

Json json_kinds(const std::array<KindUse, kDataKinds>& kinds, const UseEvents& events,
                const Caches& caches) {
  static constexpr const char* kWords[kDataKinds] = {"integer_load", "integer_store", "float_load",
                                                     "float_store"};
  Json object = Json::object();
  for (size_t kind = 0; kind < kDataKinds; ++kind) {
    object[kWords[kind]] = {{"accesses", kinds[kind].accesses},
                            {"accesses_error", kNormal95 * std::sqrt(kinds[kind].access_variance)},
                            {"misses", json_misses(kinds[kind].misses)},
                            {"miss_errors", json_miss_errors(kinds[kind].miss_variance, caches)},
                            {"waiting_cycles", events.has_waits ? Json(kinds[kind].waits) : Json()},
                            {"levels", json_levels(kinds[kind].levels, caches)}};
  }
  return object;
}

Json json_edges(const std::array<LevelEdges, kTenureLevels.size()>& levels, const Caches& caches) {
  const auto rows = [&](const std::vector<EdgeRow>& list) { return json_edge_rows(list, caches); };
  Json object = Json::object();
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const LevelEdges& level = levels[i];
    object[level_word(kTenureLevels[i])] = {
        {"reused_by", rows(level.reused_by)},
        {"evicted_by_capacity", rows(level.evicted_by_capacity)},
        {"evicted_by_conflict", rows(level.evicted_by_conflict)},
        {"refetched_by", rows(level.refetched_by)},
        {"shared_same_bytes", rows(level.shared_same_bytes)},
        {"shared_other_bytes", rows(level.shared_other_bytes)},
        {"reuses_of", rows(level.reuses_of)},
        {"evicts", rows(level.evicts)},
        {"refetches", rows(level.refetches)},
        {"takes_from", rows(level.takes_from)}};
  }
  return object;
}

Json json_object(const ObjectWords& name) {
  return {{"name", printable(name.name)},
          {"kind", name.kind},
          {"named", name.is_named},
          {"place", printable(name.place)},
          {"kept_in", printable(name.kept_in)},
          {"caller", printable(name.caller)},
          {"type", printable(name.type)},
          {"size_bytes", name.size_bytes == 0 ? Json() : Json(name.size_bytes)},
          {"blocks", name.blocks == 0 ? Json() : Json(name.blocks)},
          {"total_bytes", name.total_bytes == 0 ? Json() : Json(name.total_bytes)}};
}

Json json_objects(const std::vector<ObjectRow>& rows, const UseEvents& events,
                  const Caches& caches) {
  Json list = Json::array();
  for (const ObjectRow& row : rows) {
    Json object = json_object(row.name);
    object["use"] = json_use(row.use, events, caches);
    list.push_back(std::move(object));
  }
  return list;
}

Json json_statements(const std::vector<StatementRow>& rows, const UseEvents& events,
                     const Caches& caches) {
  Json list = Json::array();
  for (const StatementRow& row : rows) {
    Json object = json_spot(row.spot);
    object["use"] = json_use(row.use, events, caches);
    list.push_back(std::move(object));
  }
  return list;
}

Json json_advice(const std::vector<LocalityAdvice>& advice) {
  Json list = Json::array();
  for (const LocalityAdvice& one : advice) {
    Json object = {{"kind", advice_word(one.kind)},
                   {"title", one.title},
                   {"reason", one.reason},
                   {"lines", json_texts(one.lines)},
                   {"objects", json_texts(one.objects)},
                   {"saved_cycles", one.saved_cycles},
                   {"share", one.share}};
    object["overlaps"] = one.overlaps ? Json(*one.overlaps) : Json();
    list.push_back(std::move(object));
  }
  return list;
}

void add_use_headings(CsvLine& line) {
  for (const char* word : {"cost", "cost error", "accesses", "L1D misses", "L2 misses", "L3 misses",
                           "modelled cycles", "waiting cycles"}) {
    line.add(word);
  }
  for (const CacheLevel level : kTenureLevels) {
    for (const char* word : {"lines", "bytes touched", "bytes accessed", "touches", "lines reused",
                             "lines at end", "lines prefetched", "lines never used"}) {
      line.add(std::string(level_word(level)) + " " + word);
    }
  }
}

void add_use(CsvLine& line, const Use& use, const UseEvents& events, const Caches& caches) {
  const Value cost = events.value_of(use);
  line.add(fmt::format("{}", cost.value));
  line.add(fmt::format("{:.6g}", cost.error));
  line.add(std::to_string(use.accesses));
  for (const uint64_t misses : use.misses)
    line.add(events.has_misses ? std::to_string(misses) : "");
  line.add(events.has_waits ? fmt::format("{}", use.cycles) : "");
  line.add(events.has_waits ? fmt::format("{}", use.waits) : "");
  for (size_t i = 0; i < kTenureLevels.size(); ++i) {
    const LineUse& level = use.levels[i];
    for (const uint64_t value :
         {level.lines, level.bytes_touched, level.bytes_accessed, level.touches, level.lines_reused,
          level.lines_at_end, level.lines_prefetched, level.lines_never_used}) {
      line.add(is_recorded(i, caches) ? std::to_string(value) : "");
    }
  }
}

}  // namespace culprit
