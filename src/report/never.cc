#include "report/never.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "attribute/code_index.h"
#include "base/text.h"
#include "flow/executions.h"
#include "model/all_functions.h"
#include "model/counts.h"
#include "report/row_filter.h"

namespace culprit {
namespace {

/// Where instructions ran, by image; ascending.
using RanOffsets = std::vector<std::vector<FileOffset>>;

RanOffsets find_ran(const ExecutionEvents& executions) {
  const Profile& profile = executions.profile();
  RanOffsets ran(profile.images.size());
  for (const Histogram& histogram : profile.histograms) {
    for_each_count(profile, histogram, [&](const Location& at, size_t event, const Sum& sum) {
      const bool is_execution = std::ranges::count(executions.events, event) > 0;
      if (is_execution && sum.value > 0 && at.image.value < ran.size()) {
        ran[at.image.value].push_back(at.offset);
      }
    });
  }
  for (std::vector<FileOffset>& offsets : ran) {
    std::ranges::sort(offsets);
    const auto repeated = std::ranges::unique(offsets);
    offsets.erase(repeated.begin(), repeated.end());
  }
  return ran;
}

bool ran_within(const std::vector<FileOffset>& ran, FileOffset begin, FileOffset end) {
  const auto first = std::ranges::lower_bound(ran, begin);
  return first != ran.end() && *first < end;
}

using SourceLine = std::pair<std::string, uint32_t>;  // file, number

/// A function that ran, with its lines.
struct RanFunction {
  std::string module;
  std::string name;
  std::set<SourceLine> lines;
};

class LineCoverage {
 public:
  LineCoverage(CodeIndex& code, const RanOffsets& ran, const std::vector<Filter>& filters)
      : code_(code), ran_(ran), filters_(filters) {}

  NeverReport find() {
    report_.knows_all_functions = has_all_functions(code_.profile());
    for (uint32_t image = 0; image < code_.profile().images.size(); ++image) {
      const ImageFacts* const facts = code_.facts(ImageId{image});
      if (facts != nullptr) add_image(ImageId{image}, *facts);
    }
    for (const RanFunction& function : functions_) add_rows(function);
    for (const auto& [line, has_run] : lines_) {
      ++report_.lines;
      report_.never_lines += has_run ? 0 : 1;
    }
    std::ranges::stable_sort(report_.rows, [](const LinesNeverRun& a, const LinesNeverRun& b) {
      return a.never_lines > b.never_lines;
    });
    std::ranges::sort(report_.functions_never);
    return std::move(report_);
  }

 private:
  void add_image(ImageId image, const ImageFacts& facts) {
    const std::string module = code_.module(image);
    const std::vector<FileOffset>& ran = ran_[image.value];
    for (const FunctionFact& function : facts.functions) {
      const std::string& name = facts.strings.text(function.name);
      if (!is_wanted(module, name)) continue;
      if (ran_within(ran, function.begin, function.end)) {
        add_function(module, name, facts, function, ran);
      } else if (report_.knows_all_functions && !name.ends_with("@plt")) {
        report_.functions_never.emplace_back(module, name);
      }
    }
  }

  [[nodiscard]] bool is_wanted(const std::string& module, const std::string& function) const {
    ReportRow row;
    row.module = module;
    row.function = function;
    return passes(filters_, row);
  }

  /// A row of the line table holds up to the next one.
  void add_function(const std::string& module, const std::string& name, const ImageFacts& facts,
                    const FunctionFact& function, const std::vector<FileOffset>& ran) {
    ++report_.functions_ran;
    RanFunction& made = functions_.emplace_back(module, name);
    auto row = std::ranges::upper_bound(facts.lines, function.begin, {}, &LineFact::offset);
    if (row != facts.lines.begin()) --row;
    for (; row != facts.lines.end() && row->offset < function.end; ++row) {
      const auto next = row + 1;
      const FileOffset begin = std::max(row->offset, function.begin);
      const FileOffset end =
          next == facts.lines.end() ? function.end : std::min(next->offset, function.end);
      if (row->line == 0 || begin >= end) continue;
      const SourceLine line{facts.strings.text(row->file), row->line};
      made.lines.insert(line);
      lines_[line] |= ran_within(ran, begin, end);
    }
    report_.functions_without_lines += made.lines.empty() ? 1 : 0;
  }

  void add_rows(const RanFunction& function) {
    LinesNeverRun row{function.module, function.name, "", 0, {}, 0};
    const auto finish = [&] {
      if (row.never_lines > 0) report_.rows.push_back(row);
    };
    bool is_after_never = false;
    for (const SourceLine& line : function.lines) {
      if (line.first != row.file) {
        finish();
        row = {function.module, function.name, line.first, 0, {}, 0};
        is_after_never = false;
      }
      ++row.lines;
      const bool has_run = lines_.at(line);
      if (!has_run) {
        ++row.never_lines;
        if (is_after_never) {
          row.never.back().second = line.second;
        } else {
          row.never.emplace_back(line.second, line.second);
        }
      }
      is_after_never = !has_run;
    }
    finish();
  }

  CodeIndex& code_;
  const RanOffsets& ran_;
  const std::vector<Filter>& filters_;
  NeverReport report_;
  std::vector<RanFunction> functions_;
  std::map<SourceLine, bool> lines_;  // whether any of its code ran
};

}  // namespace

Result<NeverReport> find_never(const Profile& profile, const FactsLookup& facts,
                               const std::vector<Filter>& filters) {
  for (const Filter& filter : filters) {
    if (filter.level == RowLevel::module || filter.level == RowLevel::function) continue;
    return Error{
        fmt::format("--never takes --module and --function, not --{}", level_name(filter.level))};
  }
  const ExecutionEvents executions = find_executions(profile, facts);
  if (executions.source != ExecutionSource::counted) {
    return Error{
        "what never ran is known where every execution was counted: culprit record --engine "
        "simulate"};
  }
  CodeIndex code(profile, facts);
  NeverReport report = LineCoverage(code, find_ran(executions), filters).find();
  if (report.functions_ran == 0 && report.functions_never.empty()) {
    return Error{filters.empty() ? "no function of this profile has a name"
                                 : "nothing here matches " + describe_filters(filters),
                 ErrorKind::not_found};
  }
  return report;
}

}  // namespace culprit
