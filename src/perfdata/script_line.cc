#include "perfdata/script_line.h"

#include <algorithm>

#include "perfdata/script_words.h"

namespace culprit {

namespace {

constexpr std::string_view kBlanks = " \t\r";

/// "8777.765435:" in ns; perf prints 6 or (--ns) 9 decimals.
std::optional<uint64_t> find_time(std::string_view word) {
  if (!word.ends_with(':')) return std::nullopt;
  word.remove_suffix(1);
  const size_t point = word.find('.');
  if (point == word.npos) return std::nullopt;
  const std::string_view decimals = word.substr(point + 1);
  if (decimals.size() != 6 && decimals.size() != 9) return std::nullopt;
  const auto seconds = find_number(word.substr(0, point), 10);
  const auto fraction = find_number(decimals, 10);
  if (!seconds || !fraction || *seconds > UINT64_MAX / 2'000'000'000) return std::nullopt;
  return *seconds * 1'000'000'000 + *fraction * (decimals.size() == 6 ? 1000 : 1);
}

/// The last word of `text`, cut from its end.
std::string_view take_last_word(std::string_view& text) {
  const size_t end = text.find_last_not_of(kBlanks);
  if (end == text.npos) return text = {};
  const size_t before = text.find_last_of(kBlanks, end);
  const size_t begin = before == text.npos ? 0 : before + 1;
  const std::string_view word = text.substr(begin, end + 1 - begin);
  text = text.substr(0, begin);
  return word;
}

/// Comm, pid, tid and cpu from what is before the time.
bool read_task(std::string_view text, ScriptHead& head) {
  std::string_view word = take_last_word(text);
  if (word.starts_with('[') && word.ends_with(']') && word.size() > 2) {
    const auto cpu = find_id(word.substr(1, word.size() - 2));
    if (!cpu) return false;
    head.cpu = *cpu;
    word = take_last_word(text);
  }
  const size_t slash = word.find('/');
  // An idle task of a guest, and what belongs to no task, is -1.
  const auto find_task = [](std::string_view id) {
    return id == "-1" ? std::optional<uint32_t>(UINT32_MAX) : find_id(id);
  };
  const auto tid = find_task(slash == word.npos ? word : word.substr(slash + 1));
  if (!tid) return false;
  head.tid = *tid;
  if (slash != word.npos) {
    head.pid = find_task(word.substr(0, slash));
    if (!head.pid) return false;
  }
  head.comm = trim(text);
  return true;
}

/// Where the branch list begins; npos if there is none. Its entries alone have such marks.
size_t find_branch_list(std::string_view text) {
  for (size_t slash = text.find('/'); slash != text.npos; slash = text.find('/', slash + 1)) {
    const std::string_view marks = text.substr(slash, 5);
    const bool is_mark = marks.size() == 5 && marks[2] == '/' && marks[4] == '/' &&
                         std::string_view("PMN-").find(marks[1]) != std::string_view::npos &&
                         std::string_view("X-").find(marks[3]) != std::string_view::npos;
    if (!is_mark) continue;
    const size_t with_addresses = text.find(" 0x");
    if (with_addresses < slash) return with_addresses;
    // Entries of symbols: they follow the frame's dso, or nothing.
    const size_t after_dso = text.find(") ");
    return after_dso < slash ? after_dso + 1 : 0;
  }
  return text.npos;
}

/// Cuts a number off that perf prints into a column of 16: nothing else is so far to the right.
std::optional<std::string_view> take_column(std::string_view& text) {
  constexpr size_t kColumn = 16;
  const size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return std::nullopt;
  const size_t end = std::min(text.find(' ', begin), text.size());
  if (end < kColumn) return std::nullopt;
  const std::string_view word = text.substr(begin, end - begin);
  if (!find_number(word, 16)) return std::nullopt;
  text.remove_prefix(end);
  return word;
}

/// Words may be made of hexadecimal digits alone ("add"): an address is in its column, or long,
/// or has a dso.
bool begins_with_address(std::string_view text) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  if (!find_hex(word)) return false;
  std::string_view column = text;
  return word.size() >= 8 || take_column(column) || !parse_script_frame(text)->dso.empty();
}

/// data_src and what it means in words, "11868100242 |OP LOAD|LVL L1 hit|...|BLK  N/A   ".
void read_data_source(std::string_view& text, ScriptSample& sample) {
  const size_t words = text.find(" |OP ");
  if (words == text.npos) return;
  std::string_view before = text.substr(0, words);
  const auto first = find_hex(take_word(before));
  const auto second = find_hex(take_word(before));
  sample.data_address = second ? first.value_or(0) : 0;
  sample.data_source = second ? *second : first.value_or(0);
  const size_t last = text.rfind('|');
  text.remove_prefix(last + 1);
  // The last word of the list ends where columns of numbers begin.
  while (!text.empty()) {
    std::string_view rest = text;
    if (take_column(rest) && text.starts_with("  ")) return;
    take_word(text);
  }
}

/// Numbers before the ip: data address, weight, weight of the instruction. The last is the ip.
void read_columns(std::string_view& text, ScriptSample& sample) {
  const bool has_source = sample.data_source != 0;
  std::vector<std::string_view> columns;
  std::string_view before_last = text;
  std::string_view rest = text;
  while (columns.size() < 5) {
    const std::string_view here = rest;
    const auto column = take_column(rest);
    if (!column) break;
    before_last = here;
    columns.push_back(*column);
  }
  if (columns.size() < 2) return;
  text = before_last;
  columns.pop_back();
  if (!has_source) {
    sample.data_address = find_hex(columns.front()).value_or(0);
    columns.erase(columns.begin());
  }
  if (!columns.empty()) sample.weight = find_number(columns[0], 10).value_or(0);
  if (columns.size() > 1) sample.instruction_weight = find_number(columns[1], 10).value_or(0);
}

/// The place of a sample on its own line, with what stands around it.
void read_place(std::string_view text, ScriptSample& sample) {
  if (const size_t list = find_branch_list(text); list != text.npos) {
    sample.branches = trim(text.substr(list));
    text = text.substr(0, list);
  }
  read_data_source(text, sample);
  read_columns(text, sample);
  if (const size_t arrow = text.find(" => "); arrow != text.npos) {
    sample.target = parse_script_frame(text.substr(arrow + 4));
    if (sample.target) text = text.substr(0, arrow);
  }
  // Flags of a branch ("call", "jcc") or what a tracepoint says may stand before the ip.
  while (!trim(text).empty() && !begins_with_address(text)) {
    sample.has_trace_text = true;
    take_word(text);
  }
  sample.frame = parse_script_frame(text);
}

}  // namespace

std::optional<ScriptHead> find_script_head(std::string_view line) {
  // A comm has at most 15 letters: the time cannot be far.
  constexpr size_t kFarthest = 256;
  std::string_view rest = line;
  while (line.size() - rest.size() < kFarthest) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return std::nullopt;
    const auto time_ns = find_time(word);
    if (!time_ns) continue;
    ScriptHead head;
    head.time_ns = *time_ns;
    head.rest = rest;
    const auto before = static_cast<size_t>(word.data() - line.data());
    if (read_task(line.substr(0, before), head)) return head;
  }
  return std::nullopt;
}

namespace {

/// Where " (dso)" begins: after symbol and offset, or after [unknown], or, of a symbol
/// without an offset, with the last such bracket. npos: there is none.
size_t find_dso(std::string_view text) {
  for (size_t plus = text.find("+0x"); plus != text.npos; plus = text.find("+0x", plus + 1)) {
    const size_t end = text.find_first_not_of("0123456789abcdef", plus + 3);
    if (end != text.npos && text.substr(end).starts_with(" (")) return end;
  }
  constexpr std::string_view kUnknown = " [unknown] (";
  if (text.starts_with(kUnknown)) return kUnknown.size() - 2;
  // A deleted file has brackets of its own.
  return text.substr(0, text.rfind(" (deleted))")).rfind(" (");
}

size_t find_dso_end(std::string_view text) {
  constexpr std::string_view kDeleted = " (deleted)";
  const size_t deleted = text.rfind(" (deleted))");
  return deleted != text.npos ? deleted + kDeleted.size() : text.rfind(')');
}

}  // namespace

std::optional<ScriptFrame> parse_script_frame(std::string_view text) {
  ScriptFrame frame;
  const auto address = find_hex(take_word(text));
  if (!address) return std::nullopt;
  frame.address = *address;
  const size_t open = find_dso(text);
  const size_t close = find_dso_end(text);
  if (open != text.npos && close != text.npos && close > open + 1) {
    frame.dso = text.substr(open + 2, close - open - 2);
    text = text.substr(0, open);
  }
  frame.is_inlined = frame.dso == "inlined";
  if (const size_t plus = frame.dso.rfind("+0x"); plus != frame.dso.npos) {
    frame.dso_offset = find_hex(frame.dso.substr(plus + 1));
    if (frame.dso_offset) frame.dso = frame.dso.substr(0, plus);
  }
  if (frame.dso == "[unknown]" || frame.is_inlined) frame.dso = {};
  frame.symbol = trim(text);
  if (const size_t plus = frame.symbol.rfind("+0x"); plus != frame.symbol.npos) {
    frame.symbol_offset = find_hex(frame.symbol.substr(plus + 1));
    if (frame.symbol_offset) frame.symbol = frame.symbol.substr(0, plus);
  }
  if (frame.symbol == "[unknown]") frame.symbol = {};
  return frame;
}

std::optional<ScriptSample> parse_script_sample(std::string_view rest) {
  ScriptSample sample;
  std::string_view word = take_word(rest);
  if (const auto period = find_number(word, 10)) {
    sample.period = period;
    word = take_word(rest);
  }
  if (word.size() < 2 || !word.ends_with(':')) return std::nullopt;
  sample.event = word.substr(0, word.size() - 1);
  if (!trim(rest).empty()) read_place(rest, sample);
  return sample;
}

std::optional<std::vector<BranchEntry>> parse_script_branches(std::string_view text) {
  constexpr size_t kMostBranches = 4096;
  std::vector<BranchEntry> branches;
  const auto take_address = [&text](RunAddress& address) {
    const size_t end = std::min(text.find_first_of("/ ("), text.size());
    const auto value = find_hex(text.substr(0, end));
    text.remove_prefix(end);
    if (!value) return false;
    address = RunAddress(*value);
    if (skip(text, " (") || skip(text, "(")) {
      // The dso of the address is that of its mapping: not needed.
      const size_t close = std::min(text.find(")/"), text.size());
      text.remove_prefix(std::min(close + 1, text.size()));
    }
    return skip(text, "/");
  };
  for (text = trim(text); text.starts_with("0x"); text = trim(text)) {
    BranchEntry branch;
    if (!take_address(branch.from) || !take_address(branch.to)) return std::nullopt;
    std::string_view marks = take_word(text);
    branch.predicted = marks.starts_with('P');
    branch.mispredicted = marks.starts_with('M');
    // P/X/A/cycles: whether predicted, in a transaction, aborting; more in later perfs.
    for (int mark = 0; mark < 3 && !marks.empty(); ++mark) {
      marks.remove_prefix(std::min(marks.find('/'), marks.size() - 1) + 1);
    }
    branch.cycles = find_id(marks.substr(0, marks.find('/'))).value_or(0);
    if (branches.size() == kMostBranches) return std::nullopt;
    branches.push_back(branch);
  }
  if (branches.empty()) return std::nullopt;
  return branches;
}

}  // namespace culprit
