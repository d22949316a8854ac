#include "top/top_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "annotate/annotation.h"
#include "base/names.h"
#include "model/counts.h"
#include "report/report.h"
#include "stats/counting.h"

namespace culprit {

namespace {

/// What turns samples and values of the first event into rates and shares.
class Rates {
 public:
  Rates(const LiveWindow& window, const std::vector<Event>& events) {
    const bool has_events = !events.empty();
    is_time_ = !has_events || events.front().unit == Unit::ns;
    if (has_events && !window.profile.histograms.empty()) {
      const Sum total = total_sums(window.profile).front();
      samples_ = total.samples;
      value_ = static_cast<double>(total.value) * events.front().scale;
    }
    // Time is shown in percent of one CPU.
    if (window.seconds > 0) per_second_ = (is_time_ ? 1e-7 : 1) / window.seconds;
  }

  void describe(TopTable& table) const {
    table.samples = samples_;
    table.is_time = is_time_;
    table.rate = value_ * per_second_;
  }

  void fill(TopRow& row, const Value& value) const {
    row.samples = value.samples;
    row.rate = value.value * per_second_;
    row.share = value_ > 0 ? value.value / value_ : 0;
    if (value.samples == 0) return;
    const Interval samples = poisson_interval(value.samples);
    const double each = row.rate / static_cast<double>(value.samples);
    row.rate95 = {samples.low * each, samples.high * each};
  }

 private:
  bool is_time_ = true;
  uint64_t samples_ = 0;
  double value_ = 0;
  double per_second_ = 0;
};

bool is_process(const Profile& profile, const Context& context, const TopProcess& wanted) {
  if (context.process.value >= profile.processes.size()) return false;
  const Process& process = profile.processes[context.process.value];
  return process.pid == wanted.pid && profile.strings.text(process.name) == wanted.name;
}

Result<std::vector<TopRow>> list_rows(const Profile& profile, const FactsLookup& names,
                                      const TopQuestion& question, const Rates& rates) {
  ReportOptions options;
  const bool is_of_processes = question.level == TopLevel::processes;
  options.by = is_of_processes ? std::vector{RowLevel::process}
                               : std::vector{RowLevel::function, RowLevel::module};
  options.limit = 0;
  ASSIGN_OR_RETURN(const ReportTable table, make_report(profile, names, options));
  std::vector<TopRow> rows;
  for (const ReportRow& one : table.rows) {
    TopRow row;
    if (is_of_processes) {
      row.process = {one.process.value_or(""), one.process_id.value_or(0)};
    } else {
      row.function = {one.function.value_or(""), one.module.value_or("")};
      if (row.function.name.empty() && one.address) {
        row.function.name = fmt::format("{:#x}", *one.address);
      }
    }
    if (!one.values.empty()) rates.fill(row, one.values.front());
    rows.push_back(std::move(row));
  }
  if (!question.by_name) return rows;
  std::stable_sort(rows.begin(), rows.end(), [](const TopRow& a, const TopRow& b) {
    const auto key = [](const TopRow& row) {
      return std::tie(row.process.name, row.process.pid, row.function.name, row.function.module);
    };
    return key(a) < key(b);
  });
  return rows;
}

Result<std::vector<TopRow>> list_instructions(const Profile& profile, const FactsLookup& code,
                                              const TopQuestion& question, const Rates& rates) {
  AnnotateOptions options;
  options.function = question.function->name;
  options.module = question.function->module;
  options.show_source = false;
  ASSIGN_OR_RETURN(const Annotation annotation, make_annotation(profile, code, options));
  std::vector<TopRow> rows;
  for (const AnnotatedPlace& place : annotation.places) {
    for (const AnnotatedBlock& block : place.blocks) {
      for (const AnnotatedInstruction& one : block.instructions) {
        TopRow row;
        row.address = one.address;
        row.text = one.text;
        if (one.line != 0) row.place = fmt::format("{}:{}", base_name(one.file), one.line);
        if (!one.values.empty()) rates.fill(row, one.values.front());
        rows.push_back(std::move(row));
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const TopRow& a, const TopRow& b) {
    return question.by_name || a.samples == b.samples ? a.address < b.address
                                                      : a.samples > b.samples;
  });
  return rows;
}

const FunctionFact* find_function_at(const ImageFacts& facts, FileOffset place) {
  const auto after =
      std::upper_bound(facts.functions.begin(), facts.functions.end(), place,
                       [](FileOffset at, const FunctionFact& one) { return at < one.begin; });
  if (after == facts.functions.begin() || place >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

}  // namespace

std::optional<Location> find_top_place(const LiveWindow& window, const FactsLookup& names,
                                       const TopFunction& function) {
  const Profile& profile = window.profile;
  std::optional<Location> found;
  uint64_t most = 0;
  for (const Histogram& histogram : profile.histograms) {
    if (histogram.image.value >= profile.images.size()) continue;
    if (profile.strings.text(profile.images[histogram.image.value].path) != function.module) {
      continue;
    }
    const ImageFacts* const facts = names(histogram.image);
    if (facts == nullptr) continue;
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      if (event != 0 || sum.samples <= most) return;
      const FunctionFact* const holder = find_function_at(*facts, at.offset);
      if (holder == nullptr || facts->strings.text(holder->name) != function.name) return;
      most = sum.samples;
      // The function keeps its place for as long as it is looked at, whatever has most.
      found = Location{at.image, holder->begin};
    });
  }
  return found;
}

Result<TopTable> make_top_table(LiveWindow window, const FactsLookup& names,
                                const FactsLookup& code, const TopQuestion& question) {
  TopTable table;
  table.question = question;
  table.seconds = window.seconds;
  Profile& profile = window.profile;
  const Rates rates(window, profile.events);
  rates.describe(table);
  if (!profile.events.empty()) {
    table.event = profile.strings.text(profile.events.front().name);
  }
  if (question.process) {
    keep_contexts(profile, [&](const Context& context) {
      return is_process(profile, context, *question.process);
    });
  }
  if (profile.histograms.empty()) {
    table.remark = "nothing was sampled in this time";
    return table;
  }
  if (question.level != TopLevel::instructions) {
    ASSIGN_OR_RETURN(table.rows, list_rows(profile, names, question, rates));
    return table;
  }
  const std::optional<Location> place = find_top_place(window, names, *question.function);
  if (!place) {
    table.remark = "the function was not sampled in this time, or has no name";
    return table;
  }
  std::erase_if(profile.histograms,
                [&](const Histogram& histogram) { return histogram.image != place->image; });
  const ImageFacts* const facts = code(place->image);
  if (facts == nullptr) {
    table.remark = "its code is being read ...";
    return table;
  }
  if (facts->code.empty()) {
    table.remark = facts->missing.empty() ? "its code is not known" : facts->missing;
    return table;
  }
  Result<std::vector<TopRow>> rows = list_instructions(profile, code, question, rates);
  if (rows) {
    table.rows = *std::move(rows);
  } else {
    table.remark = rows.error().message;
  }
  return table;
}

}  // namespace culprit
