#include "session/sampled_data.h"

#include <algorithm>

#include "locality/objects.h"
#include "model/engine.h"

namespace culprit {

std::optional<ReportQuestion> find_sampled_data(const Profile& profile,
                                                const DataOptions& question) {
  const bool is_counted = std::ranges::any_of(profile.events, [&](const Event& event) {
    return engine_of(profile, event) == Engine::simulate;
  });
  if (is_counted || !has_objects(profile)) return std::nullopt;
  const bool has_latencies = std::ranges::any_of(
      profile.sampled_accesses, [](const SampledAccess& one) { return one.timed != 0; });
  ReportQuestion report;
  report.report.columns = has_latencies ? Columns::latency : Columns::events;
  report.report.limit = question.limit;
  report.report.by = {RowLevel::object};
  if (!question.object.empty()) {
    report.report.by = {RowLevel::object, RowLevel::function, RowLevel::line};
    report.report.filters = {{RowLevel::object, question.object}};
  }
  return report;
}

}  // namespace culprit
