#pragma once

// What the JSON and the CSV of locality's answers share. Heavy: includes the JSON library.

#include <array>

#include "locality/advice.h"
#include "locality/caches.h"
#include "locality/locality.h"
#include "locality/statements.h"
#include "locality/use.h"
#include "print/csv.h"
#include "print/json_parts.h"

namespace culprit {

Json json_spot(const CodeSpot& spot);
Json json_caches(const Caches& caches);
/// What the numbers called "cost" are.
Json json_cost_kind(const UseEvents& events);
Json json_misses(const std::array<uint64_t, kMissLevels>& misses);
/// Half-widths of their 95 % intervals; null: they are exact. One that is null: no drawn set has
/// seen any.
Json json_miss_errors(const std::array<double, kMissLevels>& variance, const Caches& caches);
/// Levels that the machine does not have, or that were not recorded, are null.
Json json_levels(const std::array<LineUse, kTenureLevels.size()>& levels, const Caches& caches);
Json json_use(const Use& use, const UseEvents& events, const Caches& caches);

Json json_kinds(const std::array<KindUse, kDataKinds>& kinds, const UseEvents& events,
                const Caches& caches);
Json json_edges(const std::array<LevelEdges, kTenureLevels.size()>& levels, const Caches& caches);
Json json_object(const ObjectWords& name);
Json json_objects(const std::vector<ObjectRow>& rows, const UseEvents& events,
                  const Caches& caches);
Json json_statements(const std::vector<StatementRow>& rows, const UseEvents& events,
                     const Caches& caches);
Json json_advice(const std::vector<LocalityAdvice>& advice);

void add_use_headings(CsvLine& line);
void add_use(CsvLine& line, const Use& use, const UseEvents& events, const Caches& caches);

}  // namespace culprit
