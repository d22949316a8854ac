#include "cli/open_epochs.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "base/file.h"
#include "base/heap.h"
#include "base/names.h"
#include "base/text.h"
#include "cli/complete_profile.h"
#include "cli/find_database.h"
#include "cli/terminal.h"
#include "daemon/control_socket.h"
#include "epochs/epoch_database.h"
#include "epochs/time_words.h"
#include "session/epoch_view.h"

namespace culprit {

namespace {

Result<EpochQuestion> make_question(const EpochChoice& choice) {
  EpochQuestion question;
  question.database = find_database(choice.database);
  question.epoch = choice.epoch;
  question.filters = choice.filters;
  const int64_t now_s = std::time(nullptr);
  for (const std::string& from : {choice.since, choice.from}) {
    if (from.empty()) continue;
    ASSIGN_OR_RETURN(question.span.from_s, parse_moment(from, now_s));
  }
  if (!choice.to.empty()) {
    ASSIGN_OR_RETURN(question.span.to_s, parse_moment(choice.to, now_s));
  }
  if (question.span.from_s >= question.span.to_s) {
    return Error{fmt::format("there is no time from {} to {}", format_moment(question.span.from_s),
                             format_moment(question.span.to_s))};
  }
  return question;
}

std::string join_filters(const std::vector<ContextFilter>& filters) {
  std::string words;
  for (const ContextFilter& filter : filters) {
    words += (words.empty() ? "" : ",") + format_filter(filter);
  }
  return words;
}

const char* describe_lack(ContextFilter::Field field) {
  switch (field) {
    case ContextFilter::Field::comm:
      return "has the name of a command";
    case ContextFilter::Field::cgroup:
      return "has a control group (those of culprit daemon have)";
    case ContextFilter::Field::label:
      break;
  }
  return "has a label (culprit daemon label KEY=VALUE gives one to what is counted from then on)";
}

/// Errors: the filters let nothing through, and whose counts there are
Result<void> check_filters(const Profile& profile, const std::vector<ContextFilter>& filters) {
  const bool is_empty = profile.histograms.empty() && profile.stack_counts.empty() &&
                        profile.counts.empty() && profile.region_values.empty();
  if (filters.empty() || !is_empty) return {};
  std::vector<std::string> names = list_names(profile, filters.front().field);
  constexpr size_t kShown = 8;
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  for (std::string& name : names) name = printable(name);
  const std::string where = shell_word(join_filters(filters));
  if (names.empty()) {
    return Error{fmt::format("nothing was counted for --where {}: no count of this profile {}",
                             where, describe_lack(filters.front().field))};
  }
  return Error{fmt::format("nothing was counted for --where {} (there are: {}{})", where,
                           fmt::join(names, ", "),
                           more == 0 ? "" : fmt::format(", and {} more", more))};
}

/// A daemon that runs writes what is new; without one, what it last wrote is all there is.
Result<ProfileView> open_newest(const EpochQuestion& question) {
  if (const Result<EpochDatabase> database = EpochDatabase::open(question.database)) {
    static_cast<void>(ask_daemon(database->socket_path(), "flush"));
  }
  const InterruptGuard guard;
  ProgressLine line;
  return open_epochs(question, {}, show_symbols(line, guard, false));
}

}  // namespace

Result<ProfileView> open_profile(const std::string& file, const EpochChoice& choice) {
  put_large_blocks_in_heap();
  std::optional<EpochQuestion> question = find_epoch_of(file, choice.filters);
  if (choice.is_chosen) {
    ASSIGN_OR_RETURN(question, make_question(choice));
  }
  ASSIGN_OR_RETURN(ProfileView view,
                   question ? open_newest(*question) : ProfileView::open(file, choice.filters));
  RETURN_IF_ERROR(check_filters(view.profile(), choice.filters));
  return view;
}

Result<ProfileView> open_compared(const std::string& file,
                                  const std::vector<ContextFilter>& filters) {
  const InterruptGuard guard;
  ProgressLine line;
  return open_by_path(file, filters, show_symbols(line, guard, false));
}

Result<EpochRuns> find_epoch_runs(const EpochChoice& choice, bool to_divides) {
  EpochChoice whole = choice;
  if (to_divides) whole.to.clear();
  ASSIGN_OR_RETURN(const EpochQuestion question, make_question(whole));
  ASSIGN_OR_RETURN(const EpochDatabase database, EpochDatabase::open(question.database));
  int64_t divided_at_s = INT64_MAX;
  if (to_divides && !choice.to.empty()) {
    ASSIGN_OR_RETURN(divided_at_s, parse_moment(choice.to, std::time(nullptr)));
  }
  std::vector<EpochFile> files = database.find(question.span);
  std::erase_if(files, [&](const EpochFile& file) {
    return file.path.find(question.epoch) == std::string::npos;
  });
  // Those that were cut short, by a start or by a command, are no runs beside the others.
  std::map<uint64_t, size_t> lengths;
  for (const EpochFile& file : files) {
    if (!file.is_current) ++lengths[file.name.length_s];
  }
  const auto usual =
      std::max_element(lengths.begin(), lengths.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  EpochRuns runs;
  for (const EpochFile& file : files) {
    const uint64_t length_s = file.name.length_s;
    const uint64_t usual_s = usual == lengths.end() ? 0 : usual->first;
    const uint64_t apart_s = length_s > usual_s ? length_s - usual_s : usual_s - length_s;
    constexpr uint64_t kTolerance = 20;  // one part in
    if (file.is_current || apart_s * kTolerance > usual_s) {
      ++runs.left_out;
      continue;
    }
    (file.name.start_s < divided_at_s ? runs.before : runs.after).push_back(base_name(file.path));
  }
  if (!runs.before.empty()) {
    const InterruptGuard guard;
    ProgressLine line;
    RETURN_IF_ERROR(open_epochs(question, {}, show_symbols(line, guard, false)));
  }
  const std::string where =
      fmt::format("of '{}', {} others left out", database.folder(), runs.left_out);
  if (!to_divides && runs.before.size() < 2) {
    return Error{fmt::format("fewer than two finished epochs of one length ({})", where)};
  }
  if (to_divides && (runs.before.empty() || runs.after.empty())) {
    return Error{fmt::format(
        "{} finished epochs of one length before --to, {} after it ({}): there is nothing to "
        "compare",
        runs.before.size(), runs.after.size(), where)};
  }
  return runs;
}

Result<ProfileView> open_epoch_run(const EpochChoice& choice, const std::string& name) {
  EpochChoice one;
  one.database = choice.database;
  one.epoch = name;
  one.filters = choice.filters;
  ASSIGN_OR_RETURN(const EpochQuestion question, make_question(one));
  return open_epochs(question, {}, {}, true);
}

Result<void> check_compared(const EpochChoice& choice, bool has_rows) {
  if (choice.filters.empty() || has_rows) return {};
  return Error{fmt::format("nothing was counted for --where {} in any of the runs",
                           shell_word(join_filters(choice.filters)))};
}

TextStyle style_of(size_t width, const std::string& file, const EpochChoice& choice) {
  TextStyle style = standard_output_style(width, choice.is_chosen ? "" : file);
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    style.selection +=
        fmt::format("{}{} {}", style.selection.empty() ? "" : " ", option, shell_word(value));
  };
  add("--db", choice.database);
  add("--since", choice.since);
  add("--from", choice.from);
  add("--until", choice.to);
  add("--epoch", choice.epoch);
  for (const ContextFilter& filter : choice.filters) {
    add("--where", format_filter(filter));
  }
  return style;
}

}  // namespace culprit
