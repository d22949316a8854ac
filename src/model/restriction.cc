#include "model/restriction.h"

#include "model/merge.h"
#include "model/tables.h"

namespace culprit {

namespace {

/// Whether `id` is `wanted` or lies in it, by the rows' parents. Parents in a circle end it.
template <class IdType, class Row>
bool is_within(const std::vector<Row>& rows, IdType id, IdType wanted) {
  for (size_t steps = 0; id != wanted; ++steps) {
    if (!names_row(id) || id.value >= rows.size() || steps > rows.size()) return false;
    id = rows[id.value].parent;
    if (id.is_all()) return false;
  }
  return true;
}

}  // namespace

Restricted::Restricted(const Profile& profile, const Restriction& restriction)
    : contexts_(profile.contexts.size()),
      objects_(profile.objects.size()),
      object_(restriction.object) {
  for (size_t i = 0; i < contexts_.size(); ++i) {
    const Context& context = profile.contexts[i];
    contexts_[i] =
        (!restriction.process || context.process == *restriction.process) &&
        (!restriction.thread || context.thread == *restriction.thread) &&
        (!restriction.region || is_within(profile.regions, context.region, *restriction.region));
  }
  for (size_t i = 0; i < objects_.size(); ++i) {
    objects_[i] = !object_ || is_within(profile.objects, ObjectId(i), *object_);
  }
}

bool Restricted::allows(ContextId context) const {
  return context.value < contexts_.size() && contexts_[context.value];
}

bool Restricted::allows(ObjectId object) const {
  if (!object_ || object == *object_) return true;
  return names_row(object) && object.value < objects_.size() && objects_[object.value];
}

void restrict_counts(Profile& profile, const Restriction& restriction) {
  const Restricted restricted(profile, restriction);
  const auto is_out = [&]<class Row>(const Row& row) {
    if constexpr (requires { row.from_context; }) {
      if (!restricted.allows(row.from_context) && !restricted.allows(row.to_context)) return true;
    } else {
      if (!restricted.allows(row.context)) return true;
    }
    if constexpr (requires { row.object; }) return !restricted.allows(row.object);
    return restriction.object.has_value();
  };
  std::vector<HistogramRow> rows = flatten_histograms(profile.histograms);
  std::erase_if(rows, is_out);
  profile.histograms = group_histograms(rows);
  visit_flat_counts([&](std::string_view, auto& counts) { std::erase_if(counts, is_out); },
                    profile);
}

}  // namespace culprit
