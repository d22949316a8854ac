#include "pipeline/static_events.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "model/counts.h"
#include "pipeline/test_code.h"

namespace culprit {
namespace {

using namespace std::string_literals;

const StaticCpu kSkylake{"skylake-avx512", 4};

StaticModel model_of(const TestCode& test, const StaticCpu& cpu = kSkylake) {
  Result<StaticModel> model =
      with_static_events(test.profile, test.lookup(), {&test.profile, {{0, 1}}}, cpu);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  return model ? *std::move(model) : StaticModel();
}

struct Value {
  double value = -1;  // -1: there is no such event
  double variance = 0;
};

Value total_of(const Profile& profile, const std::string& name) {
  const Sums totals = total_sums(profile);
  for (size_t event = 0; event < profile.events.size(); ++event) {
    if (profile.strings.text(profile.events[event].name) != name) continue;
    const double scale = profile.events[event].scale;
    EXPECT_EQ(profile.events[event].provenance, Provenance::modelled);
    return {static_cast<double>(totals[event].value) * scale,
            totals[event].variance * scale * scale};
  }
  return {};
}

// addsd %xmm1,%xmm0; dec %ecx; jne 0; ret
const std::string kAdds = "\xf2\x0f\x58\xc1\xff\xc9\x75\xf8\xc3"s;

// A chain of 4 cycles (recurrence_test.cc) less 2 uops / 4 of dispatch, a thousand times.
TEST(StaticEvents, ChainsAreWhatTheyHaveAboveTheThroughput) {
  const StaticModel model =
      model_of(make_code("x86_64", kAdds, {{0, 1000}, {4, 1000}, {6, 1000}, {8, 1}}));
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:chain-cycles").value, 3500);
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:chain-cycles").variance, 0);
  EXPECT_DOUBLE_EQ(model.modelled_share, 1);
  EXPECT_DOUBLE_EQ(model.looped_share, 3000.0 / 3001);
}

// llvm-mca-19 -mcpu=skylake-avx512, resource pressure per iteration of four imul and dec, jne:
// SKXPort1 4.00.
TEST(StaticEvents, PortsAreBusyWithTheirInstructions) {
  const std::string code =
      "\x48\x0f\xaf\xc6\x48\x0f\xaf\xde\x48\x0f\xaf\xfe\x4c\x0f\xaf\xc6\xff\xc9\x75\xec"s;
  std::map<uint64_t, uint64_t> executions;
  for (const uint64_t at : {0u, 4u, 8u, 12u, 16u, 18u}) executions[at] = 250;
  const StaticModel model = model_of(make_code("x86_64", code, executions));
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:busy-SKXPort1").value, 1000);
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:chain-cycles").value, 0);  // looked for
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:calls").value, -1);
}

// Samples fall on some of a block's instructions; its runs are the mean over all of them.
// 3 samples worth 100 each on a block of three: 100 runs, with a standard error of 1 in sqrt(3).
TEST(StaticEvents, SampledExecutionsAreThoseOfBlocks) {
  const StaticModel model = model_of(make_code("x86_64", kAdds, {{0, 100}, {6, 200}}, 1));
  const Value chain = total_of(model.profile, "static:chain-cycles");
  EXPECT_DOUBLE_EQ(chain.value, 350);
  // Variances of 100^2 and 200^2 / 1 sample each, over 3 instructions, x 3.5 cycles.
  EXPECT_NEAR(chain.variance, (100.0 * 100 + 200.0 * 200) / 9 * 3.5 * 3.5, 1e-6);
}

TEST(StaticEvents, CallsAreCounted) {
  const StaticModel model =
      model_of(make_code("x86_64", "\xe8\0\0\0\0\xff\xd0\xc3"s, {{0, 7}, {5, 7}, {7, 7}}));
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:calls").value, 14);
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:chain-cycles").value, -1);  // no loop
}

TEST(StaticEvents, OwnCountsStay) {
  const TestCode test = make_code("x86_64", kAdds, {{0, 1000}, {4, 1000}, {6, 1000}, {8, 1}});
  const StaticModel model = model_of(test);
  EXPECT_EQ(total_sums(model.profile)[0].value, total_sums(test.profile)[0].value);
}

TEST(StaticEvents, WhatIsNotKnownIsNotModelled) {
  TestCode test = make_code("x86_64", kAdds, {{0, 1000}});
  test.facts.code.clear();
  EXPECT_EQ(model_of(test).modelled_share, 0);
  EXPECT_EQ(model_of(test).profile.events.size(), 1u);
  test.facts.functions.clear();
  EXPECT_EQ(model_of(test).modelled_share, 0);
}

TEST(StaticEvents, UnknownCpusAreErrors) {
  const TestCode test = make_code("x86_64", kAdds, {{0, 1000}});
  EXPECT_FALSE(with_static_events(test.profile, test.lookup(), {&test.profile, {{0, 1}}},
                                  {"no-such-cpu", 4}));
}

// A program of 32 bits on a CPU whose template names a scheduling model.
TEST(StaticEvents, CodeOfOtherArchitecturesIsNotModelled) {
  const StaticModel model = model_of(make_code("i686", kAdds, {{0, 1000}}));
  EXPECT_EQ(model.modelled_share, 0);
  EXPECT_EQ(model.profile.events.size(), 1u);
}

TEST(StaticEvents, SumsSaturate) {
  const uint64_t most = UINT64_MAX;
  const StaticModel model = model_of(make_code("x86_64", kAdds, {{0, most}, {4, most}, {6, most}}));
  EXPECT_DOUBLE_EQ(total_of(model.profile, "static:chain-cycles").value, 0x1p64 / 64);
}

// Any bytes, counts at any of them: it ends, and nothing is negative or more than all of it.
TEST(StaticEvents, OfRandomCodeEnd) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::string bytes(std::uniform_int_distribution<size_t>(1, 400)(random), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::map<uint64_t, uint64_t> executions;
    for (size_t i = 0; i < 20; ++i) executions[random() % (bytes.size() + 3)] = random();
    const char* const target = round % 2 == 0 ? "x86_64" : "aarch64";
    const char* const cpu = round % 2 == 0 ? "znver4" : "neoverse-v1";
    const StaticModel model = model_of(make_code(target, bytes, executions), {cpu, 6});
    EXPECT_GE(model.modelled_share, 0);
    EXPECT_LE(model.modelled_share, 1 + 1e-9);
    EXPECT_LE(model.looped_share, model.modelled_share + 1e-9);
    EXPECT_TRUE(std::isfinite(total_of(model.profile, "static:chain-cycles").value));
  }
}

}  // namespace
}  // namespace culprit
