// Trees and columns of costs of the profile in test_profile.h (1,000 samples of 1 ms, 2 GHz: 2 G
// cycles) with two hardware events added; expected numbers by hand.

#include "why/why.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "accounting/test_template.h"
#include "attribute/test_profile.h"
#include "base/names.h"
#include "model/engine.h"
#include "model/event_names.h"
#include "model/idle_time.h"
#include "model/random_profile.h"
#include "why/cost_columns.h"

namespace culprit {
namespace {

constexpr uint64_t kLocalDram = 0x1d3;

/// 1,000 loads from DRAM in grind and 3,000 in the kernel's clear_page, one sample in 100; and
/// of port 0, 600 M cycles in grind and 100 M in clear_page.
TestProfile costly_profile() {
  TestProfile test = make_test_profile();
  Profile& p = test.profile;
  const auto add_event = [&](const char* name, uint64_t code, uint64_t period) {
    Event event;
    event.name = p.strings.intern(name);
    event.engine = p.strings.intern("pmu");
    event.provenance = Provenance::sampled;
    event.encoding = p.strings.intern(format_event_code({4, code, 0, 0}));
    event.period = period;
    p.events.push_back(event);
    return EventId(p.events.size() - 1);
  };
  const EventId dram = add_event("LOCAL_DRAM", kLocalDram, 100);
  const EventId port = add_event("PORT_0", 0x1a1, 1'000'000);
  for (Histogram& histogram : p.histograms) {
    const size_t rows = histogram.offsets.size();
    for (const auto& [event, of_grind, of_kernel] :
         {std::tuple{dram, 1000u, 3000u}, std::tuple{port, 600'000'000u, 100'000'000u}}) {
      EventColumn column{event, std::vector<uint64_t>(rows), std::vector<uint64_t>(rows), {}};
      for (size_t row = 0; row < rows; ++row) {
        const bool in_grind = histogram.image == ImageId(0u) &&
                              histogram.context == ContextId(0u) &&
                              histogram.offsets[row] == FileOffset(0x210);
        const bool in_kernel = histogram.image == ImageId(2u);
        const uint64_t value = in_grind ? of_grind : in_kernel ? of_kernel : 0;
        column.value[row] = value;
        column.samples[row] = value / p.events[event.value].period;
      }
      histogram.columns.push_back(column);
    }
  }
  return test;
}

class Why : public ::testing::Test {
 protected:
  WhyReport why(const WhyOptions& options = {}) {
    Result<WhyReport> report = make_why(test_.profile, test_.lookup(), cpu_, options);
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    return report ? *std::move(report) : WhyReport{};
  }
  CostReport columns(ReportOptions options = {}) {
    Result<CostReport> report =
        make_cost_report(test_.profile, test_.lookup(), cpu_, options, CostColumns{});
    EXPECT_TRUE(report) << (report ? "" : report.error().message);
    return report ? *std::move(report) : CostReport{};
  }
  static double cycles(const WhyReport& report, CostBranch branch) {
    const CostNode* node = report.tree.find(branch);
    return node->cycles ? node->cycles->value : -1;
  }

  TestProfile test_ = costly_profile();
  Template cpu_ = made_template();
};

TEST_F(Why, OfEverything) {
  const WhyReport all = why();
  EXPECT_DOUBLE_EQ(cycles(all, CostBranch::unhalted), 2e9);
  EXPECT_DOUBLE_EQ(cycles(all, CostBranch::load_latency), 4000 * 200);
  // 10 and 30 samples, each of 100 events: errors of Poisson counts.
  EXPECT_NEAR(all.tree.find(CostBranch::load_latency)->cycles->standard_error,
              std::sqrt(40) * 100 * 200, 1);
  EXPECT_EQ(cycles(all, CostBranch::branch_misprediction), -1);
  // A program's wall and CPU time do not tell what the CPUs did besides.
  EXPECT_FALSE(all.halted);
}

// 2 CPUs for 0.6 s, idle for 0.2 s of 1.2 s, at 2 GHz.
TEST_F(Why, WhatTheCpusDidNotRunStandsAboveTheTreeWhereItWasMeasured) {
  add_idle_time(test_.profile, {200'000'000, 1'200'000'000});
  const WhyReport all = why();
  ASSERT_TRUE(all.halted);
  EXPECT_NEAR(*all.halted->total_cycles, 2.4e9, 1);
  EXPECT_NEAR(*all.halted->cycles, 0.4e9, 1);
  EXPECT_NEAR(all.halted->ratio(), 1.0 / 6, 1e-9);
  const std::string text = print_why(test_.profile, cpu_, all, Format::text, {});
  EXPECT_NE(text.find("2.40 G               = total: all CPUs, 1.20 s\n"
                      " 400 M               =   halted: 16.7 % of all, 200 ms idle\n"
                      "2.00 G  100.0 %"),
            std::string::npos)
      << text;
}

// Linux counts msr/tsc/ on each CPU: 3 G TSC cycles of 2 CPUs, 2 G unhalted cycles.
TEST_F(Why, TscCyclesThatWereCountedAreTheTotal) {
  Event tsc;
  tsc.name = test_.profile.strings.intern("msr/tsc/");
  test_.profile.events.push_back(tsc);
  Count count;
  count.event = EventId(test_.profile.events.size() - 1);
  count.value = 3'000'000'000;
  test_.profile.counts.push_back(count);
  const WhyReport all = why();
  ASSERT_TRUE(all.halted);
  EXPECT_DOUBLE_EQ(*all.halted->total_cycles, 3e9);
  EXPECT_DOUBLE_EQ(*all.halted->cycles, 1e9);
  EXPECT_TRUE(all.other_events.empty());
}

TEST_F(Why, OfAPart) {
  WhyOptions options;
  options.filters = {{RowLevel::function, "grind"}};
  const WhyReport part = why(options);
  // grind: 500 samples in mill with 150 of weigh, which is inlined, and 100 of another program's.
  EXPECT_DOUBLE_EQ(cycles(part, CostBranch::unhalted), 750 * 2e6);
  EXPECT_DOUBLE_EQ(cycles(part, CostBranch::load_latency), 1000 * 200);
  EXPECT_DOUBLE_EQ(part.everything->value, 2e9);
  EXPECT_FALSE(part.halted);
  options.filters = {{RowLevel::function, "weigh"}};
  EXPECT_DOUBLE_EQ(cycles(why(options), CostBranch::unhalted), 150 * 2e6);
  options.filters = {{RowLevel::function, "absent"}};
  EXPECT_FALSE(make_why(test_.profile, test_.lookup(), cpu_, options));
}

TEST_F(Why, AdviceSaysWhereMostOfItIs) {
  for (TemplateRow& row : cpu_.rows) {
    if (row.event == "LOCAL_DRAM") row.penalty.value = 200'000;  // 40 % of the cycles
  }
  const WhyReport all = why();
  // Two repairs, since two functions have some of it; and what the kernel does there, 120 samples.
  ASSERT_EQ(all.advice.size(), 3u);
  EXPECT_NEAR(all.advice[0].unhalted, 0.3, 1e-9);
  EXPECT_EQ(all.advice[0].function, "clear_page");
  EXPECT_DOUBLE_EQ(all.advice[0].share, 0.75);
  EXPECT_EQ(all.advice[1].kernel, "fresh_memory");
  EXPECT_NEAR(all.advice[1].at_most, 0.12, 1e-9);
  EXPECT_NEAR(all.advice[2].unhalted, 0.1, 1e-9);
  EXPECT_EQ(all.advice[2].function, "grind");
  const std::string text = print_why(test_.profile, cpu_, all, Format::text, {});
  EXPECT_NE(text.find("clear_page (75 %)"), std::string::npos) << text;
  EXPECT_NE(text.find("Something is slow. Make it fast."), std::string::npos);
}

// 4,000 loads from DRAM in fifty functions: 0.8 % of the cycles in each.
TEST_F(Why, WhatNoPlaceHasMuchOfIsOfTheWholeProgram) {
  constexpr uint64_t kFunctions = 50;
  for (TemplateRow& row : cpu_.rows) {
    if (row.event == "LOCAL_DRAM") row.penalty.value = 200'000;  // 40 % of the cycles
  }
  std::vector<FunctionFact>& functions = test_.facts[ImageId(0u)].functions;
  StringTable& names = test_.facts[ImageId(0u)].strings;
  Histogram& grind = test_.profile.histograms.front();
  const EventId spread = grind.columns[grind.columns.size() - 2].event;
  for (Histogram& one : test_.profile.histograms) {
    EventColumn& dram = one.columns[one.columns.size() - 2];
    std::ranges::fill(dram.value, 0);
    std::ranges::fill(dram.samples, 0);
  }
  for (uint64_t i = 0; i < kFunctions; ++i) {
    const FileOffset begin(0x10000 + 16 * i);
    functions.push_back({begin,
                         FileOffset(begin.value + 16),
                         names.intern("part_" + std::to_string(i)),
                         {},
                         {},
                         0});
    grind.offsets.push_back(begin);
    for (EventColumn& column : grind.columns) {
      const uint64_t loads = column.event == spread ? 80 : 0;
      column.value.push_back(loads);
      if (!column.samples.empty()) column.samples.push_back(loads);
      if (!column.variance.empty()) column.variance.push_back(0);
    }
  }
  const WhyReport all = why();
  ASSERT_FALSE(all.advice.empty());
  EXPECT_EQ(all.advice[0].function, "");
  EXPECT_NEAR(all.advice[0].unhalted, 0.4, 1e-9);
  EXPECT_NEAR(all.advice[0].at_most, 0.4, 1e-9);
  EXPECT_NE(all.advice[0].here.find("part_0 has most of it, 0.8 % of the cycles"),
            std::string::npos)
      << all.advice[0].here;
}

// libc's 80 samples are in its getc.
TEST_F(Why, ALibrarysWorkTakesThePlaceOfWhatItWaitsFor) {
  ImageFacts& libc = test_.facts[ImageId(1u)];
  libc.functions = {{FileOffset(0), FileOffset(0x100), libc.strings.intern("getc"), {}, {}, 0}};
  const WhyReport all = why();
  ASSERT_EQ(all.library.size(), 1u);
  EXPECT_NEAR(all.library[0].share.value, 0.08, 1e-12);
  const auto of_getc = std::ranges::count(all.advice, "getc", &PlacedAdvice::function);
  EXPECT_EQ(of_getc, 1);
  const auto one = std::ranges::find(all.advice, "stream_characters", &PlacedAdvice::library);
  ASSERT_NE(one, all.advice.end());
  EXPECT_NEAR(one->at_most, 0.08, 1e-12);
  EXPECT_NE(one->advice.find("getc_unlocked"), std::string::npos);
  WhyOptions part;
  part.filters = {{RowLevel::function, "grind"}};
  EXPECT_TRUE(why(part).library.empty());
}

TEST_F(Why, OfNothingNamesNoCulprit) {
  for (Histogram& histogram : test_.profile.histograms) {
    for (EventColumn& column : histogram.columns) {
      std::fill(column.samples.begin(), column.samples.end(), 0);
      std::fill(column.value.begin(), column.value.end(), 0);
    }
  }
  const WhyReport nothing = why();
  EXPECT_EQ(nothing.tree.unhalted.cycles->value, 0);
  const std::string text = print_why(test_.profile, cpu_, nothing, Format::text, {});
  EXPECT_EQ(text.find("<=="), std::string::npos) << text;
  EXPECT_NE(text.find("culprit doctor"), std::string::npos);
}

TEST_F(Why, ExecutionsWithoutCyclesAreOneSentence) {
  test_.profile.events.clear();
  test_.profile.histograms.clear();
  mark_simulated(test_.profile.strings, test_.profile.runs.front());
  cpu_.is_simulated = true;
  const std::string text = print_why(test_.profile, cpu_, why(), Format::text, {});
  EXPECT_EQ(text.find("branch misprediction"), std::string::npos) << text;
  EXPECT_NE(text.find("Verdict none: no cycles were counted"), std::string::npos) << text;
  EXPECT_NE(text.find("Basis   executions that were counted; no costs"), std::string::npos);
  EXPECT_NE(text.find("Missing all branches: the simulated run"), std::string::npos) << text;
  EXPECT_NE(text.find("culprit record --engine timer+simulate"), std::string::npos) << text;
}

TEST_F(Why, TheNextCommandNamesTheFile) {
  TextStyle style;
  style.file = "my run.culprit";
  const std::string text = print_why(test_.profile, cpu_, why(), Format::text, style);
  EXPECT_NE(text.find("culprit report 'my run.culprit'"), std::string::npos) << text;
}

TEST_F(Why, CountsOfWholeRunsHaveNoFunctionsToShow) {
  test_.profile.histograms.clear();
  test_.profile.events[1].encoding =
      test_.profile.strings.intern(format_event_code({4, 0x3c, 0, 0}));
  test_.profile.counts = {{ContextId(), EventId(1u), 0, 0, 1000, 1, 1}};
  const std::string text = print_why(test_.profile, cpu_, why(), Format::text, {});
  EXPECT_NE(text.find("culprit record --template auto"), std::string::npos) << text;
}

TEST_F(Why, ColumnsAddUpButForTheBusiestPort) {
  const CostReport report = columns();
  const auto column = [&](const std::string& name) {
    const auto& names = report.table.event_names;
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const size_t loads = column("load latency");
  const size_t ports = column("port saturation");
  ASSERT_LT(loads, report.table.events.size());
  ASSERT_LT(ports, report.table.events.size());
  EXPECT_EQ(column("branch misprediction"), report.table.events.size());  // not recorded: no column
  double sum = 0;
  for (const ReportRow& row : report.table.rows) sum += row.values[loads].value;
  EXPECT_DOUBLE_EQ(sum, 800'000);
  EXPECT_DOUBLE_EQ(report.table.totals[loads].value, 800'000);
  EXPECT_DOUBLE_EQ(report.table.totals[ports].value, 700e6);
  const auto grind = std::find_if(
      report.table.rows.begin(), report.table.rows.end(),
      [&](const ReportRow& row) { return row.function == "grind" && row.values[loads].value > 0; });
  ASSERT_NE(grind, report.table.rows.end());
  EXPECT_DOUBLE_EQ(grind->values[loads].value, 200'000);
  EXPECT_DOUBLE_EQ(grind->values[0].value, 600 * 2e6);  // both programs' grind: one name
}

TEST_F(Why, TheRestOfACutTableIsItsRowsTogether) {
  ReportOptions options;
  const CostReport whole = columns(options);
  options.limit = 2;
  const CostReport cut = columns(options);
  ASSERT_EQ(cut.table.rows.size(), 2u);
  EXPECT_EQ(cut.table.rest_rows, whole.table.rows.size() - 2);
  for (size_t column = 0; column < cut.table.events.size(); ++column) {
    double rest = 0;
    for (size_t row = 2; row < whole.table.rows.size(); ++row) {
      rest += whole.table.rows[row].values[column].value;
    }
    if (cut.table.event_names[column] == "port saturation") continue;  // one port: also a sum
    EXPECT_NEAR(cut.table.rest[column].value, rest, 1e-6 * rest + 1e-9);
  }
}

TEST_F(Why, TwoProfilesStandSideBySide) {
  const WhyReport a = why();
  const WhySide side{&test_.profile, &cpu_, &a, "run.culprit"};
  const std::string text = print_why_both(side, side, Format::text, {});
  EXPECT_NE(text.find("1.00   unhalted cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("A lacks"), std::string::npos);
}

TEST_F(Why, TextFitsTheWidth) {
  for (const size_t width : {60u, 80u, 120u}) {
    TextStyle style;
    style.width = width;
    WhyOptions options;
    options.show_events = true;
    const std::string text = print_why(test_.profile, cpu_, why(options), Format::text, style);
    size_t start = 0;
    while (start < text.size()) {
      const size_t end = text.find('\n', start);
      EXPECT_LE(count_columns(text.substr(start, end - start)), std::max<size_t>(width, 80));
      start = end + 1;
    }
  }
}

/// Whatever a profile holds, there is an answer or an error.
TEST(WhyOfAnything, EndsWithAnAnswerOrAnError) {
  const Template cpu = made_template();
  size_t answers = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    RandomProfile random(seed);
    for (uint32_t size = 0; size < 1 + seed % 4; ++size) random.grow();
    const Profile& profile = random.profile();
    const auto no_facts = [](ImageId) -> const ImageFacts* { return nullptr; };
    const Result<WhyReport> why = make_why(profile, no_facts, cpu, {});
    if (why) {
      ++answers;
      for (const Format format : {Format::text, Format::json, Format::csv}) {
        EXPECT_FALSE(print_why(profile, cpu, *why, format, {}).empty());
      }
    }
    const Result<CostReport> costs =
        make_cost_report(profile, no_facts, cpu, ReportOptions{}, CostColumns{});
    if (costs) {
      EXPECT_FALSE(print_report(costs->head, costs->table, Format::text, {}).empty());
    }
  }
  EXPECT_GT(answers, 10u);
}

}  // namespace
}  // namespace culprit
