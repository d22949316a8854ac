#include "session/answers.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "branches/branch_events.h"
#include "counts/print_counts.h"
#include "exports/exports.h"
#include "flow/flow_events.h"
#include "locality/annotate_columns.h"
#include "print/header_text.h"
#include "session/choose_template.h"
#include "session/latency_view.h"
#include "session/local_advice.h"
#include "session/report_parts.h"
#include "session/shared_accesses.h"
#include "session/stall_verdict.h"
#include "session/waits_view.h"
#include "stalls/annotate_stalls.h"

namespace culprit {
namespace {

/// Everything about code: advice names functions and lines.
constexpr FactParts kPartsForAdvice{FactPart::functions, FactPart::lines, FactPart::inlines};
/// The statement that allocates data says where it keeps them.
constexpr FactParts kPartsForLocality = kPartsForAdvice | FactPart::sources;

FactParts needed_parts(ExportFormat format) {
  FactParts parts{FactPart::functions, FactPart::inlines};
  if (format != ExportFormat::collapsed) parts |= FactPart::lines;
  const bool has_calls = format == ExportFormat::dot || format == ExportFormat::callgrind;
  // How long the last instruction of a straight run is.
  const bool has_bytes = format == ExportFormat::autofdo;
  if (has_calls || has_bytes) parts |= FactPart::code;
  return parts;
}

Result<ReportAnswer> answer_costs(const ProfileView& view, const ReportQuestion& question) {
  const FactParts parts = needed_parts(question.report);
  ASSIGN_OR_RETURN(const AccountingView accounting,
                   AccountingView::make(view, question.cpu, parts));
  ASSIGN_OR_RETURN(CostReport costs,
                   make_cost_report(accounting.profile(), view.facts(parts), accounting.cpu(),
                                    question.report, question.costs));
  // Text shows the parts of a branch as shares; its own cycles stand beside those of everything.
  if (question.costs.detail) {
    costs.table.options.events = {std::string(branch_words(*question.costs.detail))};
  }
  return ReportAnswer{&view.profile(), std::make_unique<Profile>(std::move(costs.head)),
                      std::move(costs.table), std::nullopt, std::nullopt};
}

Result<ReportAnswer> answer_executions(const ProfileView& view, const ReportQuestion& question) {
  const FactsLookup facts = view.facts(needed_parts(question.report));
  ASSIGN_OR_RETURN(Profile executions, with_branch_events(view.profile(), facts));
  ASSIGN_OR_RETURN(ReportTable table, make_report(executions, facts, question.report));
  return ReportAnswer{&view.profile(), std::make_unique<Profile>(std::move(executions)),
                      std::move(table), std::nullopt, std::nullopt};
}

Result<ReportAnswer> answer_frequency(const ProfileView& view, const ReportQuestion& question) {
  const FactsLookup facts = view.facts(needed_parts(question.report));
  ASSIGN_OR_RETURN(FlowProfile flow, with_flow_events(view.profile(), facts));
  ASSIGN_OR_RETURN(ReportTable table, make_report(flow.profile, facts, question.report));
  return ReportAnswer{&view.profile(), std::make_unique<Profile>(std::move(flow.profile)),
                      std::move(table), std::nullopt, std::nullopt};
}

/// Time off the CPU is a profile of its own, whose first event it is.
Result<ReportAnswer> answer_waits(const ProfileView& view, const ReportQuestion& question) {
  ASSIGN_OR_RETURN(Profile waits, with_waits_only(view.profile()));
  ReportOptions options = question.report;
  options.columns = Columns::events;
  constexpr double kLeastPercent = 0.1;  // else calls that never wait would fill the tree
  if (options.tree != Tree::none && options.limit != 0 && options.minimum_percent == 0) {
    options.minimum_percent = kLeastPercent;
  }
  const FactsLookup facts = view.facts(needed_parts(options));
  ASSIGN_OR_RETURN(ReportTable table, make_report(waits, facts, options));
  return ReportAnswer{&view.profile(), std::make_unique<Profile>(std::move(waits)),
                      std::move(table), std::nullopt, std::nullopt};
}

/// The mean of what each sample had, where the variance of the sum is the sum of their squares.
std::optional<Estimate> mean_of(const Value& sum) {
  if (sum.samples == 0) return std::nullopt;
  const auto count = static_cast<double>(sum.samples);
  const double mean = sum.value / count;
  if (sum.samples == 1) return Estimate{mean, mean};  // how they spread is not known
  const double squares = sum.error * sum.error - sum.value * mean;
  return Estimate{mean, std::sqrt(std::max(squares, 0.0) / (count * (count - 1)))};
}

/// Latencies of accesses are a profile of their own, whose first event they are.
Result<ReportAnswer> answer_latency(const ProfileView& view, const ReportQuestion& question) {
  ASSIGN_OR_RETURN(Profile latencies, with_latencies_only(view.profile()));
  ReportOptions options = question.report;
  options.columns = Columns::events;
  if (options.tree != Tree::none) {
    return Error{"latencies are told without callers: --columns latency has no --tree"};
  }
  const FactsLookup facts = view.facts(needed_parts(options));
  ASSIGN_OR_RETURN(ReportTable table, make_report(latencies, facts, options));
  table.shown_events.clear();  // of objects: all that there are
  for (size_t event = 0; event < latencies.events.size(); ++event) {
    table.shown_events.push_back({event, std::string(kLatencyHeadings[event])});
  }
  std::stable_sort(table.shown_events.begin() + 1, table.shown_events.end(),
                   [&](const ShownEvent& one, const ShownEvent& other) {
                     return table.totals[one.event].value > table.totals[other.event].value;
                   });
  table.derived.push_back({"mean_latency_cycles", "mean", DerivedColumn::Form::ratio,
                           [](const std::vector<Value>& values) { return mean_of(values[0]); }});
  return ReportAnswer{&view.profile(), std::make_unique<Profile>(std::move(latencies)),
                      std::move(table), std::nullopt, std::nullopt};
}

/// The part is a function, else a module.
Result<WhyReport> explain_part(const AccountingView& accounting, const FactsLookup& facts,
                               const WhyQuestion& question) {
  const Profile& profile = accounting.profile();
  const Template& cpu = accounting.cpu();
  WhyOptions options = question.why;
  if (!question.region.empty()) options.filters.push_back({RowLevel::region, question.region});
  if (!question.object.empty()) {
    if (!has_objects(profile)) {
      return Error{"this profile has no data objects: culprit record --objects site PROGRAM"};
    }
    options.filters.push_back({RowLevel::object, question.object});
  }
  if (question.part.empty()) {
    Result<WhyReport> of_region = make_why(profile, facts, cpu, options);
    if (!of_region && !question.object.empty()) {
      return Error{fmt::format("no data object here is '{}'{} (culprit data lists them)",
                               question.object, question.region.empty() ? "" : " in that region"),
                   ErrorKind::not_found};
    }
    if (of_region || question.region.empty()) return of_region;
    return Error{fmt::format("no region here is '{}' (culprit report --by region lists them)",
                             question.region),
                 ErrorKind::not_found};
  }
  if (profile.histograms.empty()) {
    return Error{"counts of whole runs have no parts: --in needs a recording"};
  }
  options.filters.push_back({RowLevel::function, question.part});
  Result<WhyReport> of_function = make_why(profile, facts, cpu, options);
  if (of_function) return of_function;
  options.filters.back() = {RowLevel::module, question.part};
  Result<WhyReport> of_module = make_why(profile, facts, cpu, options);
  if (of_module) return of_module;
  return Error{fmt::format("no function and no module here is '{}' (culprit report lists them)",
                           question.part),
               ErrorKind::not_found};
}

Result<std::string> export_addresses(const ProfileView& view, Format format) {
  ReportQuestion question;
  question.report.by = {RowLevel::process,  RowLevel::thread, RowLevel::module,
                        RowLevel::function, RowLevel::line,   RowLevel::instruction};
  question.report.limit = 0;
  ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view, question));
  return print_report(answer.shown(), answer.table, format, {});
}

}  // namespace

Result<Timeline> answer_timeline(const ProfileView& view, const TimelineOptions& question) {
  ReportOptions names;
  names.by = question.by;
  names.filters = question.filters;
  return make_timeline(view.profile(), view.facts(needed_parts(names)), question);
}

Result<ReportAnswer> answer_report(const ProfileView& view, const ReportQuestion& question) {
  if (question.by_time) {
    const ReportOptions& report = question.report;
    if (report.tree != Tree::none || report.columns != Columns::events || !report.sort.empty()) {
      return Error{"--by time has neither a --tree nor --columns nor a --sort of its own"};
    }
    ReportAnswer answer{&view.profile(), nullptr, {}, std::nullopt, std::nullopt};
    ASSIGN_OR_RETURN(answer.timeline,
                     answer_timeline(view, {report.by, report.filters, report.limit}));
    return answer;
  }
  if (is_counts_only(view.profile())) {
    if (question.report.columns != Columns::events) {
      return Error{question.report.columns == Columns::hca
                       ? "counts of whole runs have no rows by code, so no --columns hca: culprit "
                         "why shows the tree of their cycles"
                       : "counts of whole runs have no rows by code, so no --columns: culprit "
                         "record tells what is where"};
    }
    ASSIGN_OR_RETURN(ReportTable table, make_report(view.profile(), view.facts({}), {}));
    return ReportAnswer{&view.profile(), nullptr, std::move(table),
                        make_count_table(view.profile(), {}), std::nullopt};
  }
  if (question.report.columns == Columns::hca) return answer_costs(view, question);
  if (question.report.columns == Columns::waits) return answer_waits(view, question);
  if (question.report.columns == Columns::latency) return answer_latency(view, question);
  if (question.report.columns == Columns::frequency) return answer_frequency(view, question);
  if (question.report.columns == Columns::executions) return answer_executions(view, question);
  const FactsLookup facts = view.facts(needed_parts(question.report));
  ReportAnswer answer{&view.profile(), nullptr, {}, std::nullopt, std::nullopt};
  if (!asks_for_objects(question.report)) {
    if (std::optional<Profile> exact = with_exact_accesses(view.profile())) {
      answer.made = std::make_unique<Profile>(*std::move(exact));
    }
  }
  ASSIGN_OR_RETURN(answer.table, make_report(answer.shown(), facts, question.report));
  return answer;
}

Result<NeverReport> answer_never(const ProfileView& view, const std::vector<Filter>& filters) {
  return find_never(view.profile(),
                    view.facts({FactPart::functions, FactPart::lines, FactPart::inlines}), filters);
}

std::string print_answer(const ReportAnswer& answer, Format format, const TextStyle& style) {
  if (answer.timeline) return print_timeline(answer.shown(), *answer.timeline, format, style);
  if (!answer.counts || format == Format::json) {
    return print_report(answer.shown(), answer.table, format, style);
  }
  if (format == Format::csv) return print_counts_csv(*answer.counts, ",");
  return print_counts_text(*answer.counts) + "\n" +
         print_next("culprit record", "where in the program these are", style);
}

Result<Annotation> answer_annotation(const ProfileView& view, const AnnotateOptions& question) {
  // Blocks come with the decoded text.
  const FactParts parts{FactPart::functions, FactPart::lines, FactPart::inlines, FactPart::code,
                        FactPart::sources};
  const FactsLookup facts = view.facts(parts);
  ASSIGN_OR_RETURN(Annotation annotation, make_annotation(view.profile(), facts, question));
  if (question.show_assembly) {
    ASSIGN_OR_RETURN(const Template cpu, choose_template(view.profile(), ""));
    add_stalls(view.profile(), facts, cpu, annotation);
  }
  if (question.with_locality) {
    RETURN_IF_ERROR(add_locality_columns(view.profile(), facts, annotation));
  }
  return annotation;
}

Result<LocalityReport> answer_locality(const ProfileView& view, const LocalityOptions& question) {
  return make_locality(view.profile(), view.facts(kPartsForLocality), question);
}

Result<DataReport> answer_data(const ProfileView& view, const DataOptions& question) {
  return make_data(view.profile(), view.facts(kPartsForLocality), question);
}

namespace {

/// By the template, the model and what was recorded of lines, not by stalls.
Result<WhyAnswer> explain(const ProfileView& view, const WhyQuestion& question) {
  ASSIGN_OR_RETURN(AccountingView accounting,
                   AccountingView::make(view, question.cpu, kPartsForAdvice));
  WhyAnswer answer;
  answer.accounting = std::make_unique<AccountingView>(std::move(accounting));
  ASSIGN_OR_RETURN(answer.why, explain_part(*answer.accounting,
                                            view.facts(question.object.empty() ? kPartsForAdvice
                                                                               : kPartsForLocality),
                                            question));
  const bool is_of_code = question.region.empty() && question.object.empty();
  if (is_of_code) {
    add_loops(view.profile(), view.facts(kPartsForAdvice | FactPart::code), answer.why);
  }
  if (!view.profile().tenures.empty() && is_of_code) {
    // Parts without locality of their own have no pieces of advice, which is no error here.
    const Result<LocalityReport> locality = answer_locality(view, {.part = question.part});
    if (locality) add_local_advice(locality->advice, answer.why);
  }
  return answer;
}

Result<StallSummary> summarize_stalls(const ProfileView& view, const std::string& cpu_name,
                                      const std::string& part) {
  ASSIGN_OR_RETURN(const Template cpu, choose_template(view.profile(), cpu_name));
  return make_stall_summary(
      view.profile(),
      view.facts({FactPart::functions, FactPart::lines, FactPart::inlines, FactPart::code}), cpu,
      part);
}

}  // namespace

Result<WhyAnswer> answer_why(const ProfileView& view, const WhyQuestion& question) {
  ASSIGN_OR_RETURN(WhyAnswer answer, explain(view, question));
  const bool is_of_code = question.region.empty() && question.object.empty();
  if (!is_of_code || !lacks_explanation(answer.why)) return answer;
  const Result<StallSummary> stalls = summarize_stalls(view, question.cpu, question.part);
  if (!stalls) return answer;  // a part whose instructions say nothing is no error here
  const std::string remark = describe_unexplained(*stalls);
  if (!remark.empty()) answer.why.remarks.insert(answer.why.remarks.begin(), remark);
  return answer;
}

Result<StallSummary> answer_stalls(const ProfileView& view, const std::string& cpu_name,
                                   const std::string& part) {
  WhyQuestion question;
  question.part = part;
  question.cpu = cpu_name;
  ASSIGN_OR_RETURN(StallSummary summary, summarize_stalls(view, cpu_name, part));
  // Loops have no tree of costs.
  const Result<WhyAnswer> why = explain(view, question);
  if (why) summary.verdict = compare_with_verdict(why->why, summary);
  return summary;
}

Result<RegionsReport> answer_regions(const ProfileView& view, const RegionsQuestion& question) {
  const FactsLookup facts =
      view.facts({FactPart::functions, FactPart::lines, FactPart::inlines, FactPart::sources});
  CodeIndex code(view.profile(), facts);
  return make_regions_report(view.profile(), code, question);
}

Result<std::string> answer_export(const ProfileView& view, const ExportQuestion& question) {
  if (question.to == ExportFormat::json) return export_addresses(view, Format::json);
  if (question.to == ExportFormat::csv) return export_addresses(view, Format::csv);
  const Profile& profile = view.profile();
  const FactsLookup facts = view.facts(needed_parts(question.to));
  switch (question.to) {
    case ExportFormat::collapsed:
      return export_collapsed(profile, facts);
    case ExportFormat::pprof:
      return export_pprof(profile, facts);
    case ExportFormat::callgrind:
      return export_callgrind(profile, facts);
    case ExportFormat::autofdo:
      return export_autofdo(profile, facts, question.image);
    case ExportFormat::bolt:
      return export_bolt(profile, facts, question.image);
    case ExportFormat::dot:
    case ExportFormat::json:
    case ExportFormat::csv:
    case ExportFormat::html:  // of `documents`, which asks the questions above
      break;
  }
  if (!question.function.empty()) {
    return export_dot(profile, facts, question.function, question.image);
  }
  return export_call_graph(profile, facts,
                           {question.image, question.limit, question.minimum_percent});
}

Result<std::string> print_counts_tree(const Profile& counts, const std::string& wanted,
                                      Format format, const TextStyle& style) {
  ASSIGN_OR_RETURN(const Template cpu, choose_template(counts, wanted));
  const auto no_facts = [](ImageId) -> const ImageFacts* { return nullptr; };
  ASSIGN_OR_RETURN(const WhyReport why, make_why(counts, no_facts, cpu, {}));
  return print_why(counts, cpu, why, format, style);
}

}  // namespace culprit
