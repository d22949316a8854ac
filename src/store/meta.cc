#include "store/meta.h"

#include <cmath>
#include <type_traits>

#include "base/text.h"
#include "store/table_rows.h"

namespace culprit {

namespace {

Error damaged(const Database& database, std::string_view key) {
  return Error{fmt::format("{} is damaged: '{}' in its table 'meta' makes no sense",
                           in_quotes(database.path()), key)};
}

}  // namespace

Result<void> write_meta(const Database& database, const Profile& profile, bool is_complete) {
  RETURN_IF_ERROR(database.execute("DELETE FROM meta"));
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO meta VALUES(?, ?, ?)"));
  Result<void> good;
  const auto put = [&](std::string_view section, std::string_view key, const auto& value) {
    if (!good) return;
    insert.bind(0, section);
    insert.bind(1, key);
    bind_field(insert, 2, value);
    good = insert.run();
  };
  put("file", "complete", is_complete);
  put("file", "creator", std::string("culprit"));
  const auto put_machine = [&](std::string_view key, const auto& value) {
    put("machine", key, value);
  };
  visit_fields(put_machine, profile.machine);
  if (profile.machine.clock) visit_fields(put_machine, *profile.machine.clock);
  for (const auto& [key, value] : profile.environment) put("environment", key, value);
  for (const auto& [key, amount] : profile.ledger.amounts()) put("ledger", key, amount);
  size_t number = 0;
  for (const std::string& note : profile.ledger.notes()) {
    put("note", std::to_string(number++), note);
  }
  return good;
}

Result<void> read_meta(const Database& database, Profile& profile) {
  ASSIGN_OR_RETURN(Statement query, database.prepare("SELECT section, key, value FROM meta"));
  ClockCalibration clock;
  bool has_clock = false;
  bool is_complete = false;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) break;
    const std::string section(query.text(0).value_or(""));
    const std::string key(query.text(1).value_or(""));
    bool good = true;
    const auto take = [&](std::string_view name, auto& field) {
      if (name == key) good = take_field(query, 2, field);
    };
    if (section == "file") {
      take("complete", is_complete);
    } else if (section == "machine") {
      visit_fields(take, profile.machine);
      visit_fields(take, clock);
      has_clock = has_clock || key == "clock_hertz";
    } else if (section == "environment") {
      good = take_field(query, 2, profile.environment[key]);
    } else if (section == "ledger") {
      uint64_t amount = 0;
      good = take_field(query, 2, amount);
      profile.ledger.set(key, amount);
    } else if (section == "note") {
      std::string note;
      good = take_field(query, 2, note);
      profile.ledger.note(std::move(note));
    }
    if (!good) return damaged(database, printable(key));
  }
  if (has_clock) {
    const bool is_finite = std::isfinite(clock.hertz) && std::isfinite(clock.low_hertz) &&
                           std::isfinite(clock.high_hertz);
    if (!is_finite) return damaged(database, "clock_hertz");
    profile.machine.clock = clock;
  }
  if (!is_complete && profile.ledger.amount(ledger::kInterrupted) == 0) {
    profile.ledger.add(ledger::kInterrupted);
  }
  return {};
}

}  // namespace culprit
