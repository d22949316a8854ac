#include "documents/documents.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "base/number.h"
#include "documents/function_document.h"
#include "documents/object_text.h"
#include "documents/source_document.h"
#include "documents/table_document.h"
#include "model/engine.h"
#include "print/json_parts.h"
#include "session/sampled_data.h"
#include "session/told_costs.h"

namespace culprit {

namespace {

const std::vector<RowLevel> kPlaces = {RowLevel::process, RowLevel::module, RowLevel::function};
/// Rows of the tree of calls that have less than this of everything are in their callers' rest.
constexpr double kLeastCallPercent = 0.02;
/// So many data objects and statements are listed with what is known of them.
constexpr size_t kListedRows = 30;
/// And of so many of the files that these are in, their text.
constexpr size_t kListedFiles = 10;
/// So many functions are on the first screen.
constexpr size_t kHottestFunctions = 14;

/// What is asked of a profile, and the command that records it for those that cannot be answered.
struct Offered {
  std::string_view name;
  bool (*is_there)(const Profile& profile);
  std::string_view filled_by;
};

/// Whether a PMU, in hardware or simulated, counted events whose costs a template can tell.
bool has_told_costs(const Profile& profile) {
  const bool has_pmu_events = std::ranges::any_of(profile.events, [&](const Event& event) {
    const std::string& engine = profile.strings.text(event.engine);
    return engine == word_of(Engine::pmu) || engine == word_of(Engine::simulate);
  });
  return has_pmu_events && has_costs(profile);
}

constexpr Offered kOffered[] = {
    {"why", [](const Profile& profile) { return !profile.events.empty(); },
     "culprit record PROGRAM"},
    {"places", [](const Profile& profile) { return !profile.histograms.empty(); },
     "culprit record PROGRAM"},
    {"hottest", [](const Profile& profile) { return !profile.histograms.empty(); },
     "culprit record PROGRAM"},
    {"costs", has_told_costs, "culprit record --engine timer+simulate PROGRAM"},
    {"calls", [](const Profile& profile) { return !profile.stack_counts.empty(); },
     "culprit record -g PROGRAM"},
    {"data",
     [](const Profile& profile) {
       return profile.objects.size() > 1 && !find_sampled_data(profile, {});
     },
     "culprit record --locality all PROGRAM"},
    {"locality", [](const Profile& profile) { return !profile.tenures.empty(); },
     "culprit record --locality all PROGRAM"},
    {"regions", [](const Profile& profile) { return !profile.region_values.empty(); },
     "culprit record --regions PROGRAM"},
    {"timeline", has_times, "culprit record PROGRAM"},
    {"scan", [](const Profile& profile) { return !scan::find_cells(profile).empty(); },
     "culprit scan init SOURCE && culprit scan run"},
};

std::optional<CostBranch> branch_of(std::string_view key) {
  for (auto i = static_cast<uint8_t>(kFirstStalled); i < static_cast<uint8_t>(CostBranch::general);
       ++i) {
    if (branch_key(static_cast<CostBranch>(i)) == key) return static_cast<CostBranch>(i);
  }
  return std::nullopt;
}

Error no_document() {
  return Error{"there is no such document", ErrorKind::not_found};
}

}  // namespace

std::string function_id(std::string_view module, std::string_view function) {
  // FNV-1a: an id must be the same wherever and whenever the page is made.
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = hash * 0x100000001b3;  // as if of a zero byte behind the text
  };
  add(module);
  add(function);
  return fmt::format("{:016x}", hash);
}

Result<std::string> Documents::make(std::string_view name) const {
  const TextStyle style;
  if (name == "index") return make_index();
  if (name == "places") return make_places();
  if (name == "hottest") return make_hottest();
  if (name == "costs") return make_costs("");
  if (name.starts_with("costs/")) return make_costs(name.substr(name.find('/') + 1));
  if (name.starts_with("function/"))
    return make_function(std::string(name.substr(name.find('/') + 1)));
  if (name == "why") {
    WhyQuestion question;
    question.why.show_events = true;
    question.why.advice_limit = 12;
    ASSIGN_OR_RETURN(const WhyAnswer answer, answer_why(view_, question));
    return print_why(answer.profile(), answer.cpu(), answer.why, Format::json, style);
  }
  if (name == "calls") {
    ReportQuestion question;
    question.report.by = {RowLevel::module, RowLevel::function};
    question.report.tree = Tree::callees;
    question.report.limit = 0;
    question.report.minimum_percent = kLeastCallPercent;
    ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view_, question));
    return calls_document(answer);
  }
  if (name == "data") return make_data("");
  if (name.starts_with("data/")) return make_data(name.substr(name.find('/') + 1));
  if (name == "locality") return make_locality("");
  if (name.starts_with("locality/")) return make_locality(name.substr(name.find('/') + 1));
  if (name.starts_with("source/")) return make_source(name.substr(name.find('/') + 1));
  if (name == "regions") {
    ASSIGN_OR_RETURN(const RegionsReport report, answer_regions(view_));
    return print_regions(view_.profile(), report, {}, Format::json, style);
  }
  if (name == "timeline") {
    TimelineOptions question{{RowLevel::process, RowLevel::thread}, {}, 0};
    if (!view_.profile().regions.empty()) question.by.push_back(RowLevel::region);
    ASSIGN_OR_RETURN(const Timeline timeline, answer_timeline(view_, question));
    return print_timeline(view_.profile(), timeline, Format::json, style);
  }
  if (name == "scan" || name.starts_with("scan/")) {
    ASSIGN_OR_RETURN(const ScanDocuments* documents, scan());
    return documents->make(name);
  }
  return no_document();
}

std::vector<std::string> Documents::list() const {
  std::vector<std::string> names{"index"};
  for (const Offered& offered : kOffered) {
    if (!offered.is_there(view_.profile())) continue;
    if (offered.name == "scan") {
      if (const auto documents = scan())
        std::ranges::copy((*documents)->list(), std::back_inserter(names));
      continue;
    }
    names.emplace_back(offered.name);
    const bool has_parts = offered.name == "data" || offered.name == "locality";
    for (size_t row = 0; has_parts && row < kListedRows; ++row) {
      names.push_back(fmt::format("{}/{}", offered.name, row));
    }
    for (size_t file = 0; offered.name == "locality" && file < kListedFiles; ++file) {
      names.push_back(fmt::format("source/{}", file));
    }
    if (offered.name != "costs") continue;
    for (auto i = static_cast<uint8_t>(kFirstStalled);
         i < static_cast<uint8_t>(CostBranch::general); ++i) {
      names.push_back(fmt::format("costs/{}", branch_key(static_cast<CostBranch>(i))));
    }
  }
  return names;
}

std::vector<std::string> Documents::list_scan_details() const {
  const Result<const ScanDocuments*> documents = scan();
  return documents ? (*documents)->list_details() : std::vector<std::string>();
}

std::string Documents::make_index() const {
  const Profile& profile = view_.profile();
  Json documents = Json::object();
  for (const Offered& offered : kOffered) {
    documents[std::string(offered.name)] = {{"is_there", offered.is_there(profile)},
                                            {"filled_by", offered.filled_by}};
  }
  const bool is_first_simulated =
      !profile.runs.empty() && is_simulated(profile, profile.runs.front());
  const Json index{{"schema", "culprit-web-index-1"},
                   {"name", printable(name_)},
                   {"runs", json_runs(profile)},
                   {"is_simulated", is_first_simulated},
                   {"machine", json_machine(profile.machine)},
                   {"clock", json_clock(profile.machine)},
                   {"documents", std::move(documents)},
                   {"ledger", json_ledger(profile.ledger)}};
  return dump_compact(index);
}

Result<std::string> Documents::make_places() const {
  ReportQuestion question;
  question.report.by = kPlaces;
  question.report.limit = 0;
  ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view_, question));
  return table_document(answer);
}

Result<std::string> Documents::make_hottest() const {
  ReportQuestion question;
  question.report.by = {RowLevel::module, RowLevel::function};
  question.report.limit = kHottestFunctions;
  ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view_, question));
  return table_document(answer);
}

Result<std::string> Documents::make_costs(std::string_view branch) const {
  ReportQuestion question;
  question.report.by = kPlaces;
  question.report.columns = Columns::hca;
  question.report.limit = 0;
  if (!branch.empty()) {
    question.costs.detail = branch_of(branch);
    if (!question.costs.detail) return no_document();
  }
  ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view_, question));
  return table_document(answer);
}

Result<std::string> Documents::make_data(std::string_view row) const {
  DataOptions question;
  question.limit = 0;
  if (!row.empty()) {
    question.row = find_number(row, 10);
    if (!question.row) return no_document();
  }
  ASSIGN_OR_RETURN(const DataReport report, answer_data(view_, question));
  return print_data(view_.profile(), report, Format::json, TextStyle());
}

Result<std::string> Documents::make_locality(std::string_view row) const {
  LocalityOptions question;
  question.limit = 0;
  if (!row.empty()) {
    ASSIGN_OR_RETURN(const LocalityCode* code, locality_code());
    const std::optional<uint64_t> number = find_number(row, 10);
    if (!number || *number >= code->parts.size()) return no_document();
    question.part = code->parts[*number];
  }
  ASSIGN_OR_RETURN(const LocalityReport report, answer_locality(view_, question));
  return print_locality(view_.profile(), report, Format::json, TextStyle());
}

Result<std::string> Documents::make_source(std::string_view file) const {
  ASSIGN_OR_RETURN(const LocalityCode* code, locality_code());
  const std::optional<uint64_t> number = find_number(file, 10);
  if (!number || *number >= code->files.size()) return no_document();
  return source_document(view_, code->files[*number]);
}

Result<const Documents::LocalityCode*> Documents::locality_code() const {
  const std::scoped_lock guard(lock_);
  if (locality_code_) return &*locality_code_;
  LocalityOptions question;
  question.limit = 0;
  ASSIGN_OR_RETURN(const LocalityReport report, answer_locality(view_, question));
  LocalityCode code;
  std::unordered_set<std::string> seen;
  for (const StatementRow& row : report.rows) {
    const CodeSpot& spot = row.spot;
    code.parts.push_back(spot.line != 0 ? fmt::format("{}:{}", spot.file, spot.line)
                                        : spot.function);
    std::string file = printable(spot.file);
    if (spot.line != 0 && seen.insert(file).second) code.files.push_back(std::move(file));
  }
  locality_code_ = std::move(code);
  return &*locality_code_;
}

Result<const ScanDocuments*> Documents::scan() const {
  const std::scoped_lock guard(lock_);
  if (scan_ != nullptr) return scan_.get();
  ASSIGN_OR_RETURN(ScanCells cells,
                   read_scan_cells(view_, scan::CostDetail::places, WhichCells::of_last_label));
  if (cells.cells.empty()) return no_document();
  scan_ = std::make_unique<const ScanDocuments>(view_, std::move(cells));
  return scan_.get();
}

Result<const Documents::Functions*> Documents::functions() const {
  const std::scoped_lock guard(lock_);
  if (functions_) return &*functions_;
  ReportQuestion question;
  question.report.by = {RowLevel::module, RowLevel::function};
  question.report.limit = 0;
  ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view_, question));
  Functions found;
  const std::vector<Value>& totals = answer.table.totals;
  for (const ReportRow& row : answer.table.rows) {
    ListedFunction one{"", row.module.value_or(""), row.function.value_or("")};
    one.id = function_id(one.module, one.function);
    for (size_t i = 0; i < row.values.size() && i < totals.size(); ++i) {
      if (totals[i].value > 0)
        one.share = std::max(one.share, row.values[i].value / totals[i].value);
    }
    found.emplace(one.id, std::move(one));
  }
  functions_ = std::move(found);
  return &*functions_;
}

Result<std::vector<ListedFunction>> Documents::list_functions() const {
  ASSIGN_OR_RETURN(const Functions* all, functions());
  std::vector<ListedFunction> listed;
  for (const auto& [id, one] : *all) listed.push_back(one);
  std::sort(listed.begin(), listed.end(), [](const ListedFunction& a, const ListedFunction& b) {
    return std::tie(b.share, a.id) < std::tie(a.share, b.id);
  });
  return listed;
}

Result<std::string> Documents::make_function(const std::string& id) const {
  ASSIGN_OR_RETURN(const Functions* all, functions());
  const auto found = all->find(id);
  if (found == all->end()) return no_document();
  AnnotateOptions question;
  question.function = found->second.function;
  question.module = found->second.module;
  ASSIGN_OR_RETURN(const Annotation annotation, answer_annotation(view_, question));
  return function_document(view_.profile(), annotation);
}

}  // namespace culprit
