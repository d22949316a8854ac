#include "locality/member_heat.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "locality/object_fields.h"

namespace culprit {
namespace {

/// Beside the member that a loop accesses most.
constexpr double kHot = 0.1;
/// Of a loop's accesses, or of all waits: what is not known may be of any member.
constexpr double kMuchUnknown = 0.25;
constexpr double kMostUnknown = 0.5;

/// What one loop does to the members, by their rows.
struct LoopUse {
  Use use;
  std::vector<uint64_t> accesses;

  /// Of its waits those for bytes that nobody uses, as far as its lines tell.
  [[nodiscard]] double waits_in_vain(uint32_t line_bytes) const {
    const double used = compute_spatial_percent(use.levels[0], line_bytes).value_or(0) / 100;
    return use.waits * std::max(0.0, 1 - used);
  }
};

std::map<uint32_t, LoopUse> find_loop_uses(const Profile& profile, const ObjectMembers& members,
                                           CodeLoops& loops, ObjectId object,
                                           const UseEvents& events) {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> rows;  // of uses, by loop and member
  std::vector<Use> uses;
  add_uses(
      profile, events,
      [&](ContextId, const Location& at, ObjectId of) {
        if (of != object) return kNoRow;
        const auto next = static_cast<uint32_t>(rows.size());
        return rows.try_emplace({loops.row_of(at), members.row_of(at)}, next).first->second;
      },
      uses);
  std::map<uint32_t, LoopUse> by_loop;
  for (const auto& [key, row] : rows) {
    LoopUse& loop = by_loop[key.first];
    loop.accesses.resize(members.fields.size());
    loop.accesses[key.second] += uses[row].accesses;
    loop.use += uses[row];
  }
  return by_loop;
}

/// Accesses to each member, alone or at once with others.
std::vector<double> find_member_accesses(const ObjectMembers& members, const LoopUse& loop) {
  std::vector<double> accesses(members.fields.size());
  for (size_t row = 0; row < members.fields.size(); ++row) {
    const FieldUse& field = members.fields[row];
    for (size_t i = 0; i < members.several; ++i) {
      const bool is_it = field.is_span ? field.covers(members.fields[i]) : i == row;
      if (is_it) accesses[i] += static_cast<double>(loop.accesses[row]);
    }
  }
  return accesses;
}

}  // namespace

MemberHeat compute_member_heat(CodeIndex& code, CodeLoops& loops, ObjectId object,
                               const UseEvents& events, uint32_t line_bytes) {
  const ObjectMembers members = find_members(code, object);
  if (members.fields.empty()) return {};
  std::vector<double> heat(members.several);  // members stand before the row of several
  double all = 0;
  double known = 0;
  std::map<uint32_t, std::vector<double>> accesses_of_loop;  // where they are known
  for (const auto& [row, loop] : find_loop_uses(code.profile(), members, loops, object, events)) {
    const double in_vain = loop.waits_in_vain(line_bytes);
    all += in_vain;
    std::vector<double> accesses = find_member_accesses(members, loop);
    const double most = accesses.empty() ? 0 : *std::max_element(accesses.begin(), accesses.end());
    const auto unknown =
        static_cast<double>(loop.accesses[members.several] + loop.accesses[members.unknown]);
    if (!(most > 0) || unknown > kMuchUnknown * most) continue;
    known += in_vain;
    for (size_t i = 0; i < heat.size(); ++i) heat[i] += in_vain * accesses[i] / most;
    accesses_of_loop[row] = std::move(accesses);
  }
  if (!(known > kMostUnknown * all)) return {};
  MemberHeat found;
  std::vector<bool> is_hot;
  for (size_t i = 0; i < heat.size(); ++i) {
    const FieldUse& member = members.fields[i];
    if (member.is_padding) found.padding_bytes += member.size_bytes;
    is_hot.push_back(heat[i] >= kHot * known);
    if (!is_hot.back()) {
      found.cold_bytes += member.size_bytes;
      continue;
    }
    found.hot += (found.hot.empty() ? "" : ", ") + printable(member.name);
    found.hot_bytes += member.size_bytes;
  }
  for (const auto& [loop, accesses] : accesses_of_loop) {
    double hot = 0;
    double cold = 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      double& most = is_hot[i] ? hot : cold;
      most = std::max(most, accesses[i]);
    }
    found.cold_parts[loop] = cold < hot ? cold / hot : 1;
  }
  return found;
}

}  // namespace culprit
