// Profile → DataReport: uses by data object, and of one its statements, fields and edges.

#include <algorithm>
#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "locality/data.h"
#include "locality/object_fields.h"
#include "locality/part_edges.h"
#include "locality/use_order.h"

namespace culprit {
namespace {

/// Rows of objects: those of the table, and one for accesses of which no object was recorded.
uint32_t row_of(const Profile& profile, ObjectId object) {
  if (object.value == kNoAccess.value) return kNoRow;
  const auto rows = static_cast<uint32_t>(profile.objects.size());
  return names_row(object) && object.value < rows ? object.value : rows;
}
ObjectId object_of(const Profile& profile, uint32_t row) {
  return row < profile.objects.size() ? ObjectId(row) : ObjectId();
}

bool is_named(const ObjectWords& name, const std::string& wanted) {
  const size_t kept_by_caller = name.name.find(": ");
  if (kept_by_caller != std::string::npos) {
    const std::string inner = name.name.substr(kept_by_caller + 2);
    const std::string outer = name.name.substr(0, kept_by_caller);
    if (outer == wanted || inner == wanted || matches_pattern(inner, wanted)) return true;
  }
  if (name.kind == "stack") {  // "words in parse text.c:9": words, words in parse
    const size_t end = std::min(name.name.find(" in "), name.name.size());
    if (wanted.size() >= end && name.name.starts_with(wanted + " ")) return true;
  }
  return name.name == wanted || matches_pattern(name.name, wanted) || name.place == wanted ||
         name.kept_in == wanted || is_called(name.name, wanted);
}

/// Objects of that name; the one that costs most first.
Result<std::vector<uint32_t>> find_objects(const Profile& profile, ObjectDescriber& names,
                                           const std::vector<Use>& uses,
                                           const std::vector<uint32_t>& order,
                                           const std::string& wanted) {
  std::vector<uint32_t> found;
  std::vector<std::string> known;
  for (const uint32_t row : order) {
    if (row >= uses.size()) continue;
    const ObjectWords name = names.describe(object_of(profile, row));
    if (is_named(name, wanted)) found.push_back(row);
    known.push_back(name.name);
  }
  if (!found.empty()) return found;
  const std::string nearest = nearest_word(wanted, known);
  return Error{
      fmt::format("no data object here is '{}'{} (culprit data lists them)", printable(wanted),
                  nearest.empty() ? "" : fmt::format(" (did you mean {}?)", printable(nearest))),
      ErrorKind::not_found};
}

class ObjectAsked {
 public:
  ObjectAsked(const Profile& profile, CodeIndex& code, ObjectDescriber& names,
              const DataReport& report)
      : profile_(profile), code_(code), names_(names), report_(report) {}

  ObjectPart make(const std::vector<uint32_t>& rows, const std::vector<Use>& uses) {
    const ObjectId object = object_of(profile_, rows.front());
    ObjectPart part;
    part.name = names_.describe(object);
    part.use = uses[rows.front()];
    for (size_t i = 1; i < rows.size(); ++i) {
      const ObjectWords other = names_.describe(object_of(profile_, rows[i]));
      part.others.push_back(other.place.empty() ? other.name : other.name + " of " + other.place);
    }
    const auto is_it = [&](ObjectId one) { return row_of(profile_, one) == rows.front(); };
    part.kinds =
        split_by_kind(profile_, report_.events,
                      [&](ContextId, const Location&, ObjectId one) { return is_it(one); });
    add_statements(is_it, part);
    add_fields(object, part);
    PartEdges edges(code_, true);
    for (const Edge& edge : profile_.edges) {
      const bool is_its_line = is_it(edge.object);
      edges.add(edge, is_its_line, false);
    }
    edges.finish(part.levels);
    return part;
  }

 private:
  void add_statements(const auto& is_it, ObjectPart& part) {
    Statements statements(code_, LocalityBy::statement);
    std::vector<Use> uses;
    add_uses(
        profile_, report_.events,
        [&](ContextId, const Location& at, ObjectId one) {
          return is_it(one) ? statements.row_of(at) : kNoRow;
        },
        uses);
    for (const uint32_t row : order_by_cost(uses, report_.events)) {
      if (report_.options.limit != 0 && part.statements.size() >= report_.options.limit) break;
      part.statements.push_back({statements.spot(row), uses[row]});
    }
  }

  void add_fields(ObjectId object, ObjectPart& part) {
    for (const FieldUse& field : find_field_uses(code_, object, report_.events)) {
      ObjectRow row;
      row.name.name = field.name;
      row.name.is_named = field.size_bytes != 0;
      row.name.kind = "field";
      row.name.place = field.size_bytes == 0 ? "" : fmt::format("offset {}", field.offset);
      row.name.type = field.type;
      row.name.size_bytes = field.size_bytes;
      row.use = field.use;
      part.fields.push_back(std::move(row));
    }
  }

  const Profile& profile_;
  CodeIndex& code_;
  ObjectDescriber& names_;
  const DataReport& report_;
};

}  // namespace

Result<DataReport> make_data(const Profile& profile, const FactsLookup& facts,
                             const DataOptions& options) {
  if (!has_objects(profile)) {
    return Error{
        "this profile has no data objects: they were not recorded. Which data is accessed, and "
        "what becomes of its lines, is recorded by\n"
        "         culprit record --locality all PROGRAM\n"
        "and what samples of events with data addresses tell of it by\n"
        "         culprit record --data -e EVENT PROGRAM, or perf mem record PROGRAM"};
  }
  DataReport report;
  report.options = options;
  const Result<Caches> caches = find_caches(profile);
  report.has_locality = caches.has_value();
  if (caches) {
    report.caches = *caches;
  } else {
    report.remarks.emplace_back(
        "spatial and temporal use were not recorded: record --locality all tells them");
  }
  CodeIndex code(profile, facts);
  LoopScales scales(profile, code);
  report.events = find_use_events(profile, false);
  scales.share_out(report.events);
  if (report.events.cost == UseEvents::Cost::shared) {
    report.measured_cycles = scales.measured_cycles();
  }
  ObjectDescriber names(code);
  std::vector<Use> uses(profile.objects.size() + 1);
  add_uses(
      profile, report.events,
      [&](ContextId, const Location&, ObjectId object) { return row_of(profile, object); }, uses);
  for (uint32_t row = 0; row < uses.size(); ++row) {
    report.totals += uses[row];
    if (uses[row].accesses == 0) continue;
    if (names.is_named(object_of(profile, row))) report.named += uses[row];
  }
  report.totals.access_variance = 0;
  const std::vector<uint32_t> order = order_by_cost(uses, report.events);
  std::vector<uint32_t> asked;
  if (options.row) {
    if (*options.row >= order.size()) {
      return Error{fmt::format("there are only {} data objects", order.size()),
                   ErrorKind::not_found};
    }
    asked = {order[*options.row]};
  } else if (!options.object.empty()) {
    ASSIGN_OR_RETURN(asked, find_objects(profile, names, uses, order, options.object));
  }
  if (!asked.empty()) {
    report.part = ObjectAsked(profile, code, names, report).make(asked, uses);
    report.events.scale = nullptr;
    return report;
  }
  for (const uint32_t row : order) {
    if (options.limit != 0 && report.rows.size() >= options.limit) {
      report.rest += uses[row];
      ++report.rest_rows;
    } else {
      report.rows.push_back({names.describe(object_of(profile, row)), uses[row]});
    }
  }
  if (report.has_locality) {
    report.advice = make_locality_advice(profile, code, report.caches, scales);
  }
  report.events.scale = nullptr;  // `scales` ends here
  return report;
}

std::string print_data(const Profile& profile, const DataReport& report, Format format,
                       const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_data_text(profile, report, style);
    case Format::json:
      return print_data_json(profile, report);
    case Format::csv:
      return print_data_csv(report);
  }
  return "";
}

}  // namespace culprit
