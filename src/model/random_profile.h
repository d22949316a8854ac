#pragma once

// For tests: profiles that grow at random and use every noun of the model, also those
// that no collector fills yet.

#include <gtest/gtest.h>
#include <random>
#include <string>

#include "model/merge.h"
#include "model/tables.h"

namespace culprit {

class RandomProfile {
 public:
  explicit RandomProfile(uint32_t seed) : random_(seed) {
    profile_.machine = {"x86_64",
                        "AMD \"EPYC\"",
                        "AuthenticAMD-25-11-1",
                        "6.1.0",
                        2,
                        true,
                        "kvm",
                        ClockCalibration{3.55e9, 3.5e9, 3.6e9, 17}};
    profile_.environment["frequency"] = "999";
    profile_.environment["odd key\n"] = std::string("nul\0 and \xff", 9);
  }

  Profile& profile() { return profile_; }

  /// Adds rows to every table, and counts that refer to all rows there are.
  void grow() {
    for (size_t i = 0; i < 20; ++i) profile_.strings.intern("text " + std::to_string(random_()));
    grow_tables();
    for (size_t i = 0; i < 60; ++i) grow_counts();
    profile_.ledger.add(ledger::kLostSamples, number(9));
    profile_.ledger.note("note " + std::to_string(number(5)));
  }

 private:
  uint64_t number(uint64_t below) { return random_() % below; }

  /// A number of full length now and then: 0, -1 and the extremes must survive.
  uint64_t wild() {
    switch (number(4)) {
      case 0:
        return number(10);
      case 1:
        return (uint64_t{random_()} << 32) | random_();
      case 2:
        return ~uint64_t{0};
      default:
        return random_();
    }
  }
  int64_t wild_signed() { return static_cast<int64_t>(wild()); }

  /// A row, or "all".
  template <class IdType>
  IdType maybe() {
    const size_t rows = TableSizes(profile_).of(IdType());
    return rows == 0 || number(3) == 0 ? IdType() : IdType(number(rows));
  }

  // Names of images repeat, so that some of them are the same.
  void set(const Field&, std::string& field) {
    field = number(2) == 0 ? "" : "0123abc" + std::to_string(number(4));
  }
  void set(const Field&, double& field) { field = 0.1 * static_cast<double>(number(100)); }
  template <class T>
  void set(const Field& role, std::optional<T>& field) {
    if (number(2) == 0) set(role, field.emplace());
  }
  template <class Tag>
  void set(const Field&, Id<Tag>& field) {
    field = maybe<Id<Tag>>();
  }
  template <class Tag>
  void set(const NeededId&, Id<Tag>& field) {
    field = Id<Tag>(number(TableSizes(profile_).of(Id<Tag>())));
  }
  // Counts meet each other at few places.
  template <class Tag>
  void set(const Field&, Address<Tag>& field) {
    field = Address<Tag>(number(20) == 0 ? wild() : number(40) * 16);
  }
  template <class T>
    requires std::is_enum_v<T>
  void set(const Field&, T& field) {
    field = static_cast<T>(number(static_cast<uint64_t>(kLastOf<T>) + 1));
  }
  template <std::integral T>
  void set(const Field&, T& field) {
    field = static_cast<T>(wild());
  }
  void set(const Total&, uint64_t& field) { field = number(1000); }
  // Variances are whole numbers: their sums are exact in any order.
  void set(const Variance&, double& field) {
    field = number(4) == 0 ? 0 : static_cast<double>(number(99));
  }

  template <class Row>
  Row row() {
    Row row;
    visit_fields([&](const auto& role, auto& field) { set(role, field); }, row);
    return row;
  }

  void grow_tables() {
    visit_tables(
        [&]<class Row>(const auto&, std::vector<Row>& rows) { rows.push_back(row<Row>()); },
        profile_);
    for (int i = 0; i < 2; ++i) {
      profile_.runs.back().labels.emplace(maybe<StringId>(), maybe<StringId>());
    }
    for (Event& event : profile_.events) {
      // Cells of sampled events that have no variance have one of fractions: see above.
      if (event.provenance == Provenance::sampled) event.provenance = Provenance::counted;
    }
  }

  void grow_counts() {
    HistogramRow first = row<HistogramRow>();
    if (number(4) == 0) first.object = kNoAccess;
    HistogramRow second = row<HistogramRow>();
    if (number(2) == 0) second.object = first.object;
    second.context = first.context;
    second.location = {first.location.image, first.location.offset + 4 * number(2)};
    for (Histogram& one : make_histograms({first, second}, profile_.events)) {
      profile_.histograms.push_back(std::move(one));
    }
    visit_flat_counts(
        [&]<class Row>(std::string_view, std::vector<Row>& rows) { rows.push_back(row<Row>()); },
        profile_);
    FallThrough& range = profile_.fall_throughs.back();
    if (range.to < range.from) std::swap(range.from, range.to);
  }

  std::mt19937 random_;
  Profile profile_;
};

/// Adds the counts of `from` to those of `to`, in the order they come.
inline void append_counts_of(const Profile& from, Profile& to) {
  visit_counts([](std::string_view, const auto& source,
                  auto& target) { target.insert(target.end(), source.begin(), source.end()); },
               from, to);
}

inline std::vector<std::string> texts_of(const StringTable& strings) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < strings.size(); ++i) texts.push_back(strings.text(StringId(i)));
  return texts;
}

/// Every field of both; the ledger too.
inline void expect_equal(const Profile& got, const Profile& want) {
  EXPECT_EQ(got.machine, want.machine);
  EXPECT_EQ(got.environment, want.environment);
  EXPECT_EQ(texts_of(got.strings), texts_of(want.strings));
  visit_tables([](const auto& table, const auto& ours,
                  const auto& theirs) { EXPECT_TRUE(ours == theirs) << table.name; },
               got, want);
  visit_counts([](std::string_view name, const auto& ours,
                  const auto& theirs) { EXPECT_TRUE(ours == theirs) << name; },
               got, want);
  EXPECT_EQ(got.ledger, want.ledger);
}

}  // namespace culprit
