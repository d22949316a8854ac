// The profile of test_two_runs.h; expected numbers by hand.

#include "report/measured_cycles.h"

#include <cmath>
#include <gtest/gtest.h>

#include "accounting/test_template.h"
#include "why/dispatch.h"
#include "why/test_two_runs.h"
#include "why/why.h"

namespace culprit {
namespace {

TEST(MeasuredCycles, AreTheModelsTheKernelsAndTheUnexplained) {
  const TestProfile test = two_runs();
  Template cpu = made_template();
  EXPECT_FALSE(make_why(test.profile, test.lookup(), cpu, {})->measured);  // of another core
  cpu.is_simulated = true;
  const Result<WhyReport> why = make_why(test.profile, test.lookup(), cpu, {});
  ASSERT_TRUE(why);
  ASSERT_TRUE(why->measured);
  EXPECT_DOUBLE_EQ(why->measured->measured.value, 2e9);
  EXPECT_DOUBLE_EQ(why->measured->kernel.value, 120 * 2e6);
  EXPECT_DOUBLE_EQ(why->measured->modelled.value, 1.5e9);
  EXPECT_DOUBLE_EQ(why->measured->unexplained.value, 2e9 - 0.24e9 - 1.5e9);
  EXPECT_NEAR(why->measured->unexplained.standard_error, std::sqrt(880) * 2e6, 1);
  const std::string text = print_why(test.profile, cpu, *why, Format::text, {});
  EXPECT_NE(text.find(" 260 M   13.0 %  5.8     unexplained"), std::string::npos) << text;
}

// A second on four CPUs: 0.4 CPUs are a tenth.
TEST(MeasuredCycles, SayThatOthersHadTheCpusMeanwhile) {
  TestProfile test = two_runs();
  test.profile.machine.cpus_online = 4;
  culprit::Run& run = test.profile.runs.front();
  run.duration_ns = 1'000'000'000;
  Template cpu = made_template();
  cpu.is_simulated = true;
  const auto say = [&](int64_t programs_ns, int64_t stolen_ns) {
    run.others = {programs_ns, stolen_ns};
    const Result<WhyReport> why = make_why(test.profile, test.lookup(), cpu, {});
    EXPECT_TRUE(why);
    return why ? print_why(test.profile, cpu, *why, Format::text, {}) : "";
  };
  EXPECT_EQ(say(350'000'000, 40'000'000).find("CPUs busy"), std::string::npos);
  EXPECT_NE(say(1'500'000'000, 20'000'000).find("others kept 1.5 of 4 CPUs busy: "),
            std::string::npos);
  EXPECT_NE(say(100'000'000, 2'000'000'000).find("others kept 2.1 of 4 CPUs busy (most of it"),
            std::string::npos);
}

// One second, of which the program ran for 0.1: others that used 1.2 of 2 CPUs had both for 0.2 s
// at least, those that used 1.9 for 0.9 s.
TEST(MeasuredCycles, DoNotCallItWaitingThatOthersHadTheCpus) {
  TestProfile test = two_runs();
  test.profile.machine.cpus_online = 2;
  culprit::Run& run = test.profile.runs.front();
  run.duration_ns = 1'000'000'000;
  run.cpu_time_ns = 100'000'000;
  Template cpu = made_template();
  cpu.is_simulated = true;
  const auto says_idle = [&](int64_t programs_ns) {
    run.others = {programs_ns, 0};
    const Result<WhyReport> why = make_why(test.profile, test.lookup(), cpu, {});
    EXPECT_TRUE(why);
    return why && print_why(test.profile, cpu, *why, Format::text, {}).find("it ran for 10 %") !=
                      std::string::npos;
  };
  EXPECT_TRUE(says_idle(1'200'000'000));
  EXPECT_FALSE(says_idle(1'900'000'000));
}

ModelFit fit_of(uint64_t modelled, double error = 0) {
  TestProfile test = two_runs(modelled);
  EventColumn& cycles = test.profile.histograms.front().columns.back();
  cycles.variance.assign(cycles.value.size(), 0);
  cycles.variance.front() = error * error;
  Template cpu = made_template();
  cpu.is_simulated = true;
  const Result<WhyReport> why = make_why(test.profile, test.lookup(), cpu, {});
  EXPECT_TRUE(why);
  return why && why->measured ? why->measured->fit : ModelFit{};
}

// mill's grind, with what is inlined into it: 650 samples are 1.3 G cycles, of which 51.0 M are a
// standard error: up to 1.725 G are within 25 % and what chance explains. The other 230 samples of
// user code were not modelled.
TEST(MeasuredCycles, FitFunctionByFunction) {
  const ModelFit within = fit_of(1'724'000'000);
  EXPECT_DOUBLE_EQ(within.fitting, 1.3e9);
  EXPECT_DOUBLE_EQ(within.judged, 1.5e9);  // and sort's 100 samples
  EXPECT_DOUBLE_EQ(within.together, 0.26e9);
  EXPECT_FALSE(within.together_fits);
  EXPECT_DOUBLE_EQ(within.missing, 0.46e9);
  EXPECT_DOUBLE_EQ(within.excess, 0.424e9);
  EXPECT_DOUBLE_EQ(fit_of(1'726'000'000).fitting, 0);
  // With 60 M of the windows' own, 78.7 M are a standard error of both: up to 1.779 G are within.
  EXPECT_DOUBLE_EQ(fit_of(1'778'000'000, 60e6).fitting, 1.3e9);
  EXPECT_DOUBLE_EQ(fit_of(1'780'000'000, 60e6).fitting, 0);
  EXPECT_DOUBLE_EQ(fit_of(500'000'000).missing, 1.26e9);
}

// Of 2 G measured cycles 0.5 G are modelled.
TEST(MeasuredCycles, LackWhatThreadsFightForWhereTheyDoNotTakeTurns) {
  Template cpu = made_template();
  cpu.is_simulated = true;
  const auto says_so = [&](uint64_t taken, bool in_turns) {
    TestProfile test = two_runs(500'000'000);
    add_simulated(test.profile, "other-core-modified-stores", Unit::events, taken);
    if (in_turns) test.profile.environment["simulate.deterministic"] = "on";
    const Result<WhyReport> why = make_why(test.profile, test.lookup(), cpu, {});
    EXPECT_TRUE(why);
    return why && print_why(test.profile, cpu, *why, Format::text, {}).find("--deterministic") !=
                      std::string::npos;
  };
  EXPECT_TRUE(says_so(5000, false));
  EXPECT_FALSE(says_so(5000, true));
  EXPECT_FALSE(says_so(500, false));
}

// 500 samples in one variant of memmove, 1 G cycles modelled in the other: 500 x 2 M measured. 200
// samples are in code that was not executed in any variant.
TEST(MeasuredCycles, TakeVariantsOfOneFunctionTogether) {
  const TestProfile test = two_runs();
  ReportOptions by;
  by.by = {RowLevel::module, RowLevel::function};
  Result<ReportTable> table = make_report(test.profile, test.lookup(), by);
  ASSERT_TRUE(table);
  const std::optional<TwoRuns> runs = find_two_runs(test.profile);
  ASSERT_TRUE(runs && runs->cycles);
  table->rows.clear();
  const auto add = [&](const char* module, const char* function, uint64_t samples,
                       double instructions, double cycles) {
    ReportRow& row = table->rows.emplace_back();
    row.module = module;
    row.function = function;
    row.values.resize(test.profile.events.size());
    row.values[runs->time] = {samples, 1e6 * double(samples), 1e6 * std::sqrt(double(samples))};
    row.values[runs->instructions].value = instructions;
    row.values[*runs->cycles].value = cycles;
  };
  add("/lib/libc.so.6", "__memmove_avx512_unaligned_erms", 500, 0, 0);
  add("/lib/libcrypto.so.3", "sha256_block_data_order", 200, 0, 0);
  add("/lib/libc.so.6", "__memcpy_avx_unaligned_erms", 0, 1e8, 1e9);
  const std::optional<MeasuredCycles> measured = find_measured_cycles(test.profile, *table);
  ASSERT_TRUE(measured);
  EXPECT_DOUBLE_EQ(measured->fit.judged, 1.4e9);
  EXPECT_DOUBLE_EQ(measured->fit.fitting, 1e9);
  EXPECT_DOUBLE_EQ(measured->fit.missing, 0.4e9);
  EXPECT_DOUBLE_EQ(measured->fit.excess, 0);
  EXPECT_EQ(measured->other.variants, 500U);
  EXPECT_EQ(measured->other.families, std::vector<std::string>{"memmove"});
  EXPECT_EQ(measured->other.not_executed, 200U);
  const std::vector<std::string> advice = advise_on_dispatch(*measured);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_TRUE(advice[0].starts_with("20 % of the samples are in functions of libcrypto.so.3"));
  EXPECT_NE(advice[0].find("OPENSSL_ia32cap="), std::string::npos);
  Template cpu = made_template();
  cpu.is_simulated = true;
  const std::string basis = describe_basis(test.profile, cpu, CostTree(), measured);
  EXPECT_TRUE(
      basis.starts_with("1,000 samples, of them 50.0 % in variants of memmove that only "
                        "this CPU chooses, taken together with those that were simulated "
                        "and 20.0 % in functions that were not simulated; "))
      << basis;
}

TEST(MeasuredCycles, NeedBothRunsAndAClock) {
  EXPECT_FALSE(find_two_runs(make_test_profile().profile));
  TestProfile test = two_runs();
  EXPECT_TRUE(find_two_runs(test.profile));
  test.profile.machine.clock.reset();
  EXPECT_FALSE(find_two_runs(test.profile));
}

TEST(MeasuredCycles, PerInstructionStandBesideExecutions) {
  const TestProfile test = two_runs();
  const Result<ReportTable> table = make_report(test.profile, test.lookup(), {});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->derived.size(), 1u);
  const auto cpi = [&](const std::string& function) -> std::optional<Estimate> {
    for (const ReportRow& row : table->rows) {
      if (row.function == function) return table->derived[0].compute(row.values);
    }
    return std::nullopt;
  };
  // 500 samples of mill's and 100 of sort's are in functions of that name.
  ASSERT_TRUE(cpi("grind"));
  EXPECT_DOUBLE_EQ(cpi("grind")->value, 600 * 2e6 / 400e6);
  EXPECT_FALSE(cpi("clear_page"));  // nothing of it was simulated
  const std::string text = print_report(test.profile, *table, Format::text, {});
  EXPECT_NE(text.find("~CPI"), std::string::npos) << text;
  EXPECT_NE(text.find("=executed"), std::string::npos);
}

}  // namespace
}  // namespace culprit
