#include "locality/annotate_columns.h"

#include <fmt/format.h>
#include <map>
#include <tuple>

#include "attribute/code_index.h"
#include "locality/use.h"
#include "locality/use_columns.h"

namespace culprit {
namespace {

/// With room for errors.
const char* cells_for(const Caches& caches) {
  return caches.sampling.one_of == 1 ? "{:>7}  {:>7} {:>8}" : "{:>10} {:>10} {:>10}";
}

std::string cells_of(const Use& use, const Caches& caches) {
  if (use.accesses == 0 && use.levels[0].lines == 0) return "";
  return fmt::format(fmt::runtime(cells_for(caches)),
                     format_misses(use.misses[0], use.miss_variance[0], use.accesses, caches),
                     format_spatial(use.levels[0], caches), format_temporal(use.levels[0], caches));
}

}  // namespace

Result<void> add_locality_columns(const Profile& profile, const FactsLookup& facts,
                                  Annotation& annotation) {
  ASSIGN_OR_RETURN(const Caches caches, find_caches(profile));
  CodeIndex code(profile, facts);
  const UseEvents events = find_use_events(profile);
  std::map<uint64_t, uint32_t> rows;  // by link address
  std::vector<Use> uses;
  add_uses(
      profile, events,
      [&](ContextId, const Location& at, ObjectId) {
        if (code.module(at.image) != annotation.module) return kNoRow;
        const auto next = static_cast<uint32_t>(rows.size());
        return rows.try_emplace(code.link_address(at).value, next).first->second;
      },
      uses);
  uses.resize(rows.size());
  annotation.more_heading =
      fmt::format(fmt::runtime(cells_for(caches)), "L1miss", "spatial", "temporal");
  std::map<std::pair<std::string, uint32_t>, Use> lines;
  for (AnnotatedPlace& place : annotation.places) {
    for (AnnotatedBlock& block : place.blocks) {
      for (AnnotatedInstruction& one : block.instructions) {
        const auto found = rows.find(one.address);
        if (found == rows.end()) continue;
        one.more = cells_of(uses[found->second], caches);
        lines[{one.file, one.line}] += uses[found->second];
      }
    }
  }
  for (AnnotatedLine& line : annotation.lines) {
    const auto found = lines.find({line.file, line.line});
    if (found != lines.end()) line.more = cells_of(found->second, caches);
  }
  annotation.remarks.emplace_back(
      "spatial, temporal: of the lines that it brought into L1D (culprit locality has the rest)");
  if (const std::string words = describe_sampling(caches); !words.empty()) {
    annotation.remarks.push_back(words.substr(1));
  }
  return {};
}

}  // namespace culprit
