#include "snapshot/type_facts.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/number.h"
#include "base/thread_local_place.h"
#include "binary/debug_types.h"
#include "binary/source_statement.h"
#include "model/instance_names.h"

namespace culprit {
namespace {

/// Reading the types of more than this takes longer than anybody waits for.
constexpr uint64_t kMostDebugBytes = uint64_t{256} << 20;

/// "Order" of "std::__new_allocator<Order>::allocate(unsigned long, void const*)"; "" of others.
std::string find_allocated_by_name(std::string_view function) {
  constexpr std::string_view kAllocator = "allocator<";
  const size_t begin = function.find(kAllocator);
  if (begin == std::string_view::npos) return "";
  size_t at = begin + kAllocator.size();
  const size_t first = at;
  for (int depth = 1; at < function.size() && depth > 0; ++at) {
    depth += function[at] == '<' ? 1 : function[at] == '>' ? -1 : 0;
  }
  if (!function.substr(std::min(at, function.size())).starts_with("::allocate")) return "";
  return std::string(function.substr(first, at - 1 - first));
}

const std::string* find_line(const ImageFacts& facts, StringId file, uint32_t line) {
  for (const SourceFact& source : facts.sources) {
    if (source.file != file || line < source.first_line) continue;
    const size_t number = line - source.first_line;
    if (number < source.lines.size()) return &source.lines[number];
  }
  return nullptr;
}

/// What is known of one call that led to an allocation.
struct Hints {
  std::string type;
  std::string pointer;  // that got the block, else
};

class CallHints {
 public:
  explicit CallHints(const ImageFacts& facts) : facts_(facts) {}

  Hints find(FileOffset call) const {
    Hints hints;
    std::vector<std::pair<StringId, uint32_t>> lines;  // the innermost first
    if (const LineFact* const line = line_of(call)) lines.emplace_back(line->file, line->line);
    std::vector<const InlineFact*> inlines;
    for (const InlineFact& one : facts_.inlines) {
      if (call < one.begin) break;
      if (call < one.end) inlines.push_back(&one);
    }
    std::sort(inlines.begin(), inlines.end(),
              [](const auto* a, const auto* b) { return a->depth > b->depth; });
    for (const InlineFact* const one : inlines) {
      if (hints.type.empty()) hints.type = find_allocated_by_name(text(one->name));
      lines.emplace_back(one->call_file, one->call_line);
    }
    const auto after = std::upper_bound(
        facts_.functions.begin(), facts_.functions.end(), call,
        [](FileOffset a, const FunctionFact& function) { return a < function.begin; });
    if (hints.type.empty() && after != facts_.functions.begin()) {
      hints.type = find_allocated_by_name(text(std::prev(after)->name));
    }
    for (const auto& [file, number] : lines) {
      const std::string* const source = find_line(facts_, file, number);
      if (source == nullptr || !hints.type.empty()) continue;
      hints.type = find_allocated_type(*source);
      if (hints.pointer.empty()) hints.pointer = find_assigned(*source);
    }
    return hints;
  }

 private:
  [[nodiscard]] const std::string& text(StringId id) const { return facts_.strings.text(id); }
  [[nodiscard]] const LineFact* line_of(FileOffset at) const {
    const auto after =
        std::upper_bound(facts_.lines.begin(), facts_.lines.end(), at,
                         [](FileOffset a, const LineFact& l) { return a < l.offset; });
    return after == facts_.lines.begin() ? nullptr : &*std::prev(after);
  }

  const ImageFacts& facts_;
};

/// "cloud\tst.c:9" -> cloud, line 9. nullopt: several variables.
std::optional<WantedTypes::StackVariable> parse_stack_variable(const ImageFacts& facts,
                                                               const StackVariable& variable) {
  const std::string_view whole = variable.name;
  const size_t end = whole.find(kBeforePlace);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = whole.substr(0, end);
  const std::string_view place = whole.substr(end + 1);
  // "": compilers declare some themselves, as the iterators of a loop over a range.
  const std::optional<uint64_t> line =
      place.empty() ? 0 : find_number(place.substr(place.rfind(':') + 1), 10);
  const bool is_one = !name.empty() && name.find(kBetweenVariables) == std::string_view::npos;
  if (!is_one || !line || *line > UINT32_MAX) return std::nullopt;
  return WantedTypes::StackVariable{to_link_address(facts, variable.function), std::string(name),
                                    static_cast<uint32_t>(*line)};
}

/// Wants the types of variables of the stack; which ones, in the order in which they are wanted.
std::vector<const StackVariable*> find_named_on_stack(const ImageFacts& facts,
                                                      const WantedData& data, WantedTypes& wanted) {
  std::vector<std::pair<WantedTypes::StackVariable, const StackVariable*>> found;
  for (const StackVariable& one : data.stack_variables) {
    if (auto variable = parse_stack_variable(facts, one)) {
      found.emplace_back(*std::move(variable), &one);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.first.function < b.first.function;
  });
  std::vector<const StackVariable*> order;
  for (auto& [variable, of] : found) {
    wanted.stack_variables.push_back(std::move(variable));
    order.push_back(of);
  }
  return order;
}

/// What the members of some data have in common: its place, and what kind of data it is.
FieldFact make_fact(ImageFacts& facts, FileOffset place, bool is_call,
                    const std::string& variable = "") {
  FieldFact fact;
  fact.place = place;
  fact.is_call = is_call;
  fact.variable = facts.strings.intern(variable);
  return fact;
}

void add_fields(ImageFacts& facts, FieldFact fact, const TypeLayout& layout) {
  fact.type = facts.strings.intern(layout.name);
  fact.element_bytes = layout.size_bytes;
  if (layout.members.empty()) {
    fact.name = facts.strings.intern("");
    fact.member_type = fact.type;
    fact.size_bytes = layout.size_bytes;
    facts.fields.push_back(fact);
  }
  for (const TypeMember& member : layout.members) {
    fact.name = facts.strings.intern(member.name);
    fact.member_type = facts.strings.intern(member.type);
    fact.offset = member.offset;
    fact.size_bytes = member.size_bytes;
    facts.fields.push_back(fact);
  }
}

/// Places behind what the file holds (.bss) have addresses, too, as if the segment went on.
LinkAddress address_of_data(const ImageFacts& facts, FileOffset place) {
  if (place.value >= kThreadLocalPlace) return LinkAddress(place.value);
  const SegmentFact* best = nullptr;
  for (const SegmentFact& segment : facts.segments) {
    if (place < segment.begin) continue;
    if (place - segment.begin < segment.size_bytes) {
      return segment.link_address + (place - segment.begin);
    }
    if (best == nullptr || best->begin < segment.begin) best = &segment;
  }
  return best == nullptr ? LinkAddress(place.value) : best->link_address + (place - best->begin);
}

}  // namespace

void add_type_facts(ImageFacts& facts, const ElfSources& sources, const WantedData& wanted_data) {
  const std::vector<FileOffset>& allocations = wanted_data.allocations;
  const ElfFile& dwarf = sources.debug != nullptr ? sources.debug->elf : sources.binary;
  const uint64_t size_bytes = dwarf.debug_info_bytes();
  if (size_bytes == 0 || size_bytes > kMostDebugBytes) return;
  WantedTypes wanted;
  std::vector<std::pair<LinkAddress, FileOffset>> places;
  for (const FileOffset place : wanted_data.variables)
    places.emplace_back(address_of_data(facts, place), place);
  std::sort(places.begin(), places.end());
  for (const auto& [address, place] : places) wanted.variables.push_back(address);
  const std::vector<const StackVariable*> on_stack =
      find_named_on_stack(facts, wanted_data, wanted);
  if (places.empty() && on_stack.empty() && allocations.empty()) return;
  const CallHints calls(facts);
  std::vector<Hints> hints;
  for (const FileOffset call : allocations) {
    Hints one = calls.find(call);
    if (!one.type.empty()) {
      wanted.names.insert(one.type);
    } else if (!one.pointer.empty()) {
      wanted.pointers.push_back({to_link_address(facts, call), one.pointer});
    }
    hints.push_back(std::move(one));
  }
  const ReadingGuard guard(sources.rights);
  if (!guard.is_in_force()) return;
  Result<DebugTypes> types =
      DebugTypes::open(dwarf, sources.alt != nullptr ? &sources.alt->elf : nullptr);
  if (!types) return;
  const FoundTypes found = types->read(wanted);
  for (size_t i = 0; i < places.size(); ++i) {
    if (!found.variables[i]) continue;
    add_fields(facts, make_fact(facts, places[i].second, false), *found.variables[i]);
  }
  for (size_t i = 0; i < on_stack.size(); ++i) {
    const std::optional<TypeLayout>& layout = found.stack_variables[i];
    if (!layout) continue;
    const auto& [function, name] = *on_stack[i];
    add_fields(facts, make_fact(facts, function, false, name), *layout);
  }
  size_t pointer = 0;
  for (size_t i = 0; i < allocations.size(); ++i) {
    if (!hints[i].type.empty()) {
      const TypeLayout* const layout = found.find(hints[i].type);
      if (layout != nullptr) add_fields(facts, make_fact(facts, allocations[i], true), *layout);
    } else if (!hints[i].pointer.empty()) {
      const std::optional<TypeLayout>& layout = found.pointers[pointer++];
      if (layout) add_fields(facts, make_fact(facts, allocations[i], true), *layout);
    }
  }
  std::stable_sort(facts.fields.begin(), facts.fields.end(),
                   [](const FieldFact& a, const FieldFact& b) {
                     return std::tie(a.is_call, a.place, a.variable, a.offset) <
                            std::tie(b.is_call, b.place, b.variable, b.offset);
                   });
}

}  // namespace culprit
