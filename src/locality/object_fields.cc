#include "locality/object_fields.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>

#include "model/counts.h"

namespace culprit {
namespace {

/// `variable`: of the stack, as its object is named; "": none of these.
std::span<const FieldFact> find_fields(const ImageFacts& facts, FileOffset place, bool is_call,
                                       const std::string& variable) {
  const auto key = [](const FieldFact& one) { return std::pair(one.is_call, one.place.value); };
  const auto wanted = std::pair(is_call, place.value);
  const auto [first, last] = std::equal_range(
      facts.fields.begin(), facts.fields.end(), wanted, [&](const auto& a, const auto& b) {
        if constexpr (std::is_same_v<std::decay_t<decltype(a)>, FieldFact>) {
          return key(a) < b;
        } else {
          return a < key(b);
        }
      });
  const auto begin = std::find_if(first, last, [&](const FieldFact& one) {
    return facts.strings.text(one.variable) == variable;
  });
  const auto end = std::find_if(
      begin, last, [&](const FieldFact& one) { return one.variable != begin->variable; });
  return {facts.fields.data() + (begin - facts.fields.begin()), static_cast<size_t>(end - begin)};
}

/// A damaged file may say anything: members must be parts of an element.
bool is_sound(std::span<const FieldFact> members) {
  return !members.empty() && std::all_of(members.begin(), members.end(), [&](const FieldFact& one) {
    return one.element_bytes == members.front().element_bytes && one.element_bytes > 0 &&
           one.offset < one.element_bytes && one.size_bytes <= one.element_bytes - one.offset;
  });
}

/// members.size(): none has it.
size_t member_with(std::span<const FieldFact> members, uint64_t offset) {
  for (size_t i = 0; i < members.size(); ++i) {
    if (offset >= members[i].offset && offset - members[i].offset < members[i].size_bytes) return i;
  }
  return members.size();
}

/// How many bytes each instruction loads or stores of the object at a time, where it is one number.
/// Units:  bytes, accesses [count] -> [bytes]
std::unordered_map<Location, uint64_t> find_widths(const Profile& profile, ObjectId object) {
  struct Moved {
    uint64_t bytes = 0;
    uint64_t accesses = 0;
  };
  std::unordered_map<Location, std::array<Moved, 2>> moved;  // by loads, by stores
  const auto role = [&](EventId event) {
    static constexpr std::string_view kNames[] = {"load-bytes", "store-bytes", "L1-dcache-loads",
                                                  "L1-dcache-stores"};
    if (event.value >= profile.events.size()) return std::size(kNames);
    const std::string& name = profile.strings.text(profile.events[event.value].name);
    return static_cast<size_t>(std::find(std::begin(kNames), std::end(kNames), name) -
                               std::begin(kNames));
  };
  for (const Histogram& histogram : profile.histograms) {
    for (const EventColumn& column : histogram.columns) {
      const size_t what = role(column.event);
      if (what >= 4) continue;
      for (size_t i = 0; i < std::min(histogram.objects.size(), histogram.offsets.size()); ++i) {
        if (histogram.objects[i] != object) continue;
        const Sum sum = use_internal::sum_at(profile, histogram, column, i);
        Moved& at = moved[{histogram.image, histogram.offsets[i]}][what % 2];
        (what < 2 ? at.bytes : at.accesses) += sum.value;
      }
    }
  }
  std::unordered_map<Location, uint64_t> widths;
  for (const auto& [location, both] : moved) {
    for (const Moved& one : both) {
      const bool is_one_number = one.accesses > 0 && one.bytes % one.accesses == 0;
      if (is_one_number) widths[location] = std::max(widths[location], one.bytes / one.accesses);
    }
  }
  return widths;
}

}  // namespace

const std::string& ObjectLayout::type() const {
  return facts->strings.text(members.front().type);
}

ObjectLayout find_layout(CodeIndex& code, ObjectId object) {
  const Profile& profile = code.profile();
  const DataObject* const row = names_row(object) ? find_row(profile.objects, object) : nullptr;
  if (row == nullptr) return {};
  const auto at = [&](const Location& place, bool is_call,
                      const std::string& variable) -> ObjectLayout {
    const ImageFacts* const facts = code.facts(place.image);
    if (facts == nullptr) return {};
    const std::span<const FieldFact> members = find_fields(*facts, place.offset, is_call, variable);
    return is_sound(members) ? ObjectLayout{facts, members} : ObjectLayout{};
  };
  if (row->kind == ObjectKind::global) return at(row->site, false, "");
  const std::string& name = profile.strings.text(row->name);
  if (row->kind == ObjectKind::stack && !name.empty()) {
    const ObjectLayout found = at(row->site, false, name);
    const bool has_room = found.is_known() && found.element_bytes() <= row->size_bytes;
    return has_room ? found : ObjectLayout{};
  }
  if (row->kind != ObjectKind::heap || row->blocks == 0) return {};
  for (const Location& call : stack_locations(profile, row->calls)) {
    const ObjectLayout found = at(call, true, "");
    if (!found.is_known()) continue;
    return found.element_bytes() <= row->total_bytes / row->blocks ? found : ObjectLayout{};
  }
  return {};
}

size_t find_member_at(std::span<const FieldFact> members, const SeenPlaces& seen) {
  const auto [offset, stride, span] = seen;
  const uint64_t element = members.front().element_bytes;
  const uint64_t step = std::gcd(stride, element);  // 0, or that of places in an element
  const size_t found = member_with(members, offset % element);
  if (found == members.size()) return found;
  if (seen.are_in_one(element)) {
    return member_with(members, offset % element + span) == found ? found : members.size();
  }
  const FieldFact& member = members[found];
  // All places that are a step apart, of the whole element, must be in the member.
  const uint64_t first = step == 0 ? offset % element : offset % step;
  const bool has_one_place = step == 0 || step == element;
  if (has_one_place) return found;
  const uint64_t last = first + (element - 1 - first) / step * step;
  const bool is_inside = first >= member.offset && last < member.offset + member.size_bytes;
  return is_inside ? found : members.size();
}

ObjectMembers find_members(CodeIndex& code, ObjectId object) {
  const ObjectLayout layout = find_layout(code, object);
  if (!layout.is_known() || !layout.is_struct()) return {};
  const std::span<const FieldFact> members = layout.members;
  const StringTable& strings = layout.facts->strings;
  ObjectMembers found_members;
  std::vector<FieldUse>& fields = found_members.fields;
  for (const FieldFact& member : members) {
    const std::string& name = strings.text(member.name);
    const std::string& type = strings.text(member.member_type);
    const bool is_padding = name.empty() && type.empty();
    fields.push_back({is_padding ? "[padding]" : name, type, member.offset, member.size_bytes,
                      is_padding, false, Use()});
  }
  const auto several = static_cast<uint32_t>(fields.size());
  found_members.several = several;
  fields.push_back({.name = "[several members]", .type = "", .use = Use()});
  found_members.unknown = static_cast<uint32_t>(fields.size());
  fields.push_back({.name = "[not known which]", .type = "", .use = Use()});
  const std::unordered_map<Location, uint64_t> widths = find_widths(code.profile(), object);
  std::map<std::pair<size_t, size_t>, uint32_t> spans;  // first and last member -> row
  // The member at whose place it is, or the row of all those into which its width reaches.
  const auto find_row_of = [&](const AccessOffset& seen) {
    const SeenPlaces places{seen.offset, seen.stride, seen.span};
    const size_t first = find_member_at(members, places);
    const auto width = widths.find(seen.location);
    if (first == members.size() || width == widths.end()) return static_cast<uint32_t>(first);
    const uint64_t element = layout.element_bytes();
    const uint64_t reach = places.are_in_one(element) ? places.span : 0;
    const uint64_t last_byte = seen.offset % element + reach + width->second - 1;
    const size_t last = member_with(members, last_byte);
    if (last == first || width->second == 0) return static_cast<uint32_t>(first);
    if (last == members.size()) return several;
    const auto [at, is_new] =
        spans.try_emplace({first, last}, static_cast<uint32_t>(fields.size()));
    if (is_new) {
      const FieldUse& from = fields[first];
      const FieldUse& to = fields[last];
      fields.push_back({from.name + " to " + to.name, "", from.offset,
                        to.offset + to.size_bytes - from.offset, false, true, Use()});
    }
    return at->second;
  };
  for (const AccessOffset& seen : code.profile().access_offsets) {
    if (seen.object != object) continue;
    const uint32_t found = find_row_of(seen);
    const auto [at, is_new] = found_members.row_of_instruction.try_emplace(seen.location, found);
    if (!is_new && at->second != found) at->second = several;
  }
  return found_members;
}

std::vector<FieldUse> find_field_uses(CodeIndex& code, ObjectId object, const UseEvents& events) {
  ObjectMembers members = find_members(code, object);
  std::vector<FieldUse>& fields = members.fields;
  std::vector<Use> uses(fields.size());
  if (fields.empty()) return {};
  add_uses(
      code.profile(), events,
      [&](ContextId, const Location& at, ObjectId of) {
        return of == object ? members.row_of(at) : kNoRow;
      },
      uses);
  for (size_t i = 0; i < fields.size(); ++i) fields[i].use = uses[i];
  const auto is_nothing = [](const FieldUse& one) {
    return one.size_bytes == 0 && one.use.accesses == 0 && one.use.levels[0].lines == 0;
  };
  std::erase_if(fields, is_nothing);
  std::stable_sort(fields.begin(), fields.end(), [](const FieldUse& a, const FieldUse& b) {
    const bool is_last = a.size_bytes == 0;
    if (is_last != (b.size_bytes == 0)) return !is_last;
    return a.offset < b.offset;
  });
  return fields;
}

}  // namespace culprit
