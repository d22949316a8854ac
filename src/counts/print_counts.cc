#include "counts/print_counts.h"

#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "model/event_names.h"
#include <nlohmann/json.hpp>

namespace culprit {

namespace {

constexpr int kValueColumns = 18;
constexpr int kEventColumns = 24;
constexpr int kRateColumns = 24;

std::string value_text(const CountRow& row) {
  if (!row.value) return "not counted";
  if (row.unit == Unit::ns) return fmt::format("{:.3f} ms", *row.value * 1e-6);
  if (*row.value < 1000 && *row.value != std::floor(*row.value)) {
    return fmt::format("{:.2f}", *row.value);
  }
  return format_thousands(static_cast<uint64_t>(std::llround(*row.value)));
}

/// "+-1.3 %" of a value; "" where the error is 0 or cannot be told.
std::string error_text(const std::optional<double>& value,
                       const std::optional<Interval>& interval) {
  if (!value || !interval || *value <= 0 || interval->high <= interval->low) return "";
  const double half = std::max(interval->high - *value, *value - interval->low);
  const double percent = 100 * half / *value;
  return percent < 99.5 ? fmt::format("+-{:.2g} %", percent) : fmt::format("+-{:.0f} %", percent);
}

std::string rate_text(const CountRow& row) {
  if (!row.rate) return "";
  const CountRate& rate = *row.rate;
  if (rate.unit.starts_with('/')) return format_si(rate.value) + rate.unit;
  return fmt::format("{:.2f} {}", rate.value, rate.unit);
}

std::string sharing_text(const CountRow& row) {
  if (!row.value || row.counted_ratio >= 1) return "";
  const char* const why_unknown = row.is_one_reading ? "one reading" : "too short";
  const std::string unknown = row.interval95 ? "" : fmt::format(", error unknown: {}", why_unknown);
  return fmt::format("counted {:.1f} % of the time{}", 100 * row.counted_ratio, unknown);
}

std::string thread_text(const CountRow& row) {
  return row.thread_id ? fmt::format("{} ({})", printable(row.thread_name), *row.thread_id) : "";
}

std::string row_text(const CountRow& row) {
  const std::string thread = thread_text(row);
  std::string line = fmt::format("{:>{}}  {:<{}}", value_text(row), kValueColumns,
                                 printable(row.event), kEventColumns);
  if (!thread.empty()) line += fmt::format("  {:<20}", thread);
  if (!row.value) return line + "  " + printable(row.reason.substr(0, row.reason.find('\n')));
  line += fmt::format("  {:<{}}  {:<10}  {}", rate_text(row), kRateColumns,
                      error_text(row.value, row.interval95), sharing_text(row));
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// For programs: all digits that a double is sure of.
std::string number_text(double value) {
  return fmt::format("{:.15g}", value);
}

std::string csv_line(const CountRow& row, const std::string& separator) {
  const auto field = [&](const std::string& raw) {
    const std::string text = disarm_formula(raw);
    if (text.size() == raw.size() && text.find(separator) == text.npos &&
        text.find_first_of("\"\n") == text.npos)
      return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
  };
  const std::vector<std::string> fields = {
      row.value ? number_text(*row.value) : "<not counted>",
      unit_name(row.unit),
      field(printable(row.event)),
      fmt::format("{:.2f}", 100 * row.counted_ratio),
      row.interval95 ? number_text(row.interval95->low) : "",
      row.interval95 ? number_text(row.interval95->high) : "",
      row.rate ? fmt::format("{:.6g}", row.rate->value) : "",
      row.rate ? field(row.rate->unit) : "",
      field(thread_text(row)),
      field(printable(row.reason.substr(0, row.reason.find('\n'))))};
  return fmt::format("{}\n", fmt::join(fields, separator));
}

using Json = nlohmann::ordered_json;

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json row_json(const CountRow& row) {
  Json json{{"event", printable(row.event)},
            {"unit", unit_name(row.unit)},
            {"value", row.value ? Json(*row.value) : Json(nullptr)},
            {"interval95", interval_json(row.interval95)},
            {"counted_ratio", row.counted_ratio},
            {"rate", nullptr},
            {"thread", nullptr},
            {"reason", printable(row.reason)}};
  if (row.rate) json["rate"] = {{"value", row.rate->value}, {"unit", row.rate->unit}};
  if (row.thread_id) {
    json["thread"] = {{"id", *row.thread_id}, {"name", printable(row.thread_name)}};
  }
  return json;
}

Json rows_json(const std::vector<CountRow>& rows) {
  Json json = Json::array();
  for (const CountRow& row : rows) json.push_back(row_json(row));
  return json;
}

}  // namespace

std::string print_counts_text(const CountTable& table) {
  std::string text = fmt::format(
      "\n {}{}\n\n", printable(table.command),
      table.repetitions > 1 ? fmt::format("   {} runs, +- holds 95 %", table.repetitions) : "");
  for (const CountRow& row : table.rows) text += row_text(row) + "\n";
  const std::string elapsed = fmt::format("{:.6f} s", table.elapsed_s);
  text += fmt::format("\n{:>{}}  elapsed   {}", elapsed, kValueColumns,
                      error_text(table.elapsed_s, table.elapsed95_s));
  text.erase(text.find_last_not_of(' ') + 1);
  if (table.cpu_s) {
    text +=
        fmt::format("\n{:>{}}  of CPU time", fmt::format("{:.6f} s", *table.cpu_s), kValueColumns);
  }
  text += "\n";
  for (const std::string& line : table.ledger) text += fmt::format("\n {}\n", printable(line));
  return text;
}

std::string print_counts_csv(const CountTable& table, const std::string& separator) {
  std::string text;
  for (const CountRow& row : table.rows) text += csv_line(row, separator);
  return text;
}

std::string print_counts_json(const CountTable& table, bool one_line) {
  Json json{{"schema", "culprit-stat-1"},
            {"command", printable(table.command)},
            {"repetitions", table.repetitions},
            {"elapsed_s", table.elapsed_s},
            {"elapsed95_s", interval_json(table.elapsed95_s)},
            {"cpu_s", table.cpu_s ? Json(*table.cpu_s) : Json(nullptr)},
            {"counts", rows_json(table.rows)}};
  json["ledger"] = Json::array();
  for (const std::string& line : table.ledger) json["ledger"].push_back(printable(line));
  return json.dump(one_line ? -1 : 1) + "\n";
}

std::string print_interval_text(const std::vector<CountRow>& rows, double end_s) {
  std::string text;
  for (const CountRow& row : rows) text += fmt::format("{:>12.6f}", end_s) + row_text(row) + "\n";
  return text;
}

std::string print_interval_csv(const std::vector<CountRow>& rows, double end_s,
                               const std::string& separator) {
  std::string text;
  for (const CountRow& row : rows) {
    text += fmt::format("{:.6f}{}", end_s, separator) + csv_line(row, separator);
  }
  return text;
}

std::string print_interval_json(const std::vector<CountRow>& rows, double end_s) {
  const Json json{
      {"schema", "culprit-stat-interval-1"}, {"end_s", end_s}, {"counts", rows_json(rows)}};
  return json.dump() + "\n";
}

}  // namespace culprit
