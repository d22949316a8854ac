#include "stalls/event_bounds.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "base/program_files.h"
#include "flow/test_graph.h"
#include "stalls/test_profile.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

using namespace std::string_literals;

double share(const StallSummary& summary, const CauseCycles& cycles, StallCause cause) {
  return cycles[static_cast<size_t>(cause)] / summary.cycles;
}

std::vector<std::string> sources_of(const StallSummary& summary, StallCause cause) {
  return name_sources(summary.tallied.sources[static_cast<size_t>(cause)],
                      list_event_names(summary));
}

// fib, compiled for Arm, and what perf sampled of it on hardware (by `perf report` of
// tests/testing/Inputs/fib2-aarch64.perf_data of github.com/llvm/llvm-lnt, whose other inputs have
// the code): mispredictions have at most a third of the time; its memory is the stack only.
TEST(EventBounds, OfARecordingOfHardware) {
  MadeProfile fib("aarch64",
                  "\xf4\x4f\xbe\xa9"     // stp x20, x19, [sp, #-32]!
                  "\xfd\x7b\x01\xa9"     // stp x29, x30, [sp, #16]
                  "\xfd\x43\x00\x91"     // add x29, sp, #0x10
                  "\x13\x08\x00\x71"     // subs w19, w0, #0x2
                  "\xeb\x00\x00\x54"     // b.lt 2c
                  "\x00\x04\x00\x51"     // sub w0, w0, #0x1
                  "\xfa\xff\xff\x97"     // bl 0
                  "\xf4\x03\x00\x2a"     // mov w20, w0
                  "\xe0\x03\x13\x2a"     // mov w0, w19
                  "\xf7\xff\xff\x97"     // bl 0
                  "\x00\x00\x14\x0b"     // add w0, w0, w20
                  "\xfd\x7b\x41\xa9"     // ldp x29, x30, [sp, #16]
                  "\xf4\x4f\xc2\xa8"     // ldp x20, x19, [sp], #32
                  "\xc0\x03\x5f\xd6"s);  // ret
  fib.add("cycles", 0,
          {{0x0, {203, 57096398}},
           {0x4, {177, 49447441}},
           {0x2c, {160, 44700921}},
           {0x30, {114, 31442371}},
           {0x14, {86, 23795005}},
           {0x1c, {66, 18724187}},
           {0x28, {64, 17897987}}});
  fib.add("branch-misses", 0,
          {{0x14, {263, 549595}},
           {0x0, {192, 397785}},
           {0x30, {184, 382306}},
           {0x28, {166, 345627}},
           {0x2c, {44, 90601}},
           {0x4, {23, 48021}},
           {0x1c, {1, 2030}}});
  fib.add("cache-misses", 0, {{0x0, {53, 9306}}, {0x14, {41, 5142}}, {0x4, {27, 4246}}});
  const StallSummary summary = fib.summarize({});
  expect_to_close(summary);
  // By hand: 1,815,965 events in 873 samples of 2,080.18; of 873 the interval ends at 932.886
  // (R: qgamma(0.975, 874)); at most 40 cycles each; of 243,104,310 cycles.
  EXPECT_NEAR(share(summary, summary.tallied.high, StallCause::misprediction), 0.3193, 0.0005);
  EXPECT_EQ(sources_of(summary, StallCause::misprediction),
            std::vector<std::string>{"branch-misses"});
  for (const StallCause ruled_out :
       {StallCause::load_l2, StallCause::load_memory, StallCause::translation, StallCause::divider,
        StallCause::bandwidth, StallCause::store_buffer}) {
    EXPECT_EQ(share(summary, summary.tallied.high, ruled_out), 0);
  }
  // Nothing says how often it ran, so nothing bounds its chains.
  EXPECT_EQ(share(summary, summary.tallied.high, StallCause::chain), 1);
  ASSERT_EQ(summary.events.size(), 2u);
  EXPECT_EQ(summary.events[0].samples, 873u);
}

const std::string kChase =
    "\x48\x8b\x3f"  // mov (%rdi),%rdi
    "\x48\xff\xce"  // dec %rsi
    "\x75\xf8"      // jne 0
    "\xc3"s;        // ret
constexpr double kRounds = 1e6;
constexpr double kChaseCycles = 1e9;

MadeProfile make_chase(bool says_running_time = false) {
  MadeProfile chase("x86_64", kChase);
  if (says_running_time) chase.say_running_time();
  chase.add("cycles", 100'000, {{3, {10'000, 1'000'000'000}}});
  return chase;
}

void add_instructions(MadeProfile& profile) {
  profile.add("instructions", 1000,
              {{0, {1000, 1'000'000}}, {3, {1000, 1'000'000}}, {6, {1000, 1'000'000}}});
}

TemplateRow make_row(const std::string& event, const std::string& group, const std::string& label) {
  TemplateRow row;
  row.event = event;
  row.branch = CostBranch::load_latency;
  row.group = group;
  row.label = label;
  return row;
}

Template make_cpu() {
  Template cpu;
  cpu.name = "made";
  cpu.dispatch_width = 4;
  cpu.rows = {make_row("LOAD:L2_HIT", "", "L2"),
              make_row("LOAD:FB_HIT", "", "line already on its way"),
              make_row("LOAD:L3_HIT", "L3 hits", "L3"),
              make_row("LOAD:SNOOP", "L3 hits", "other core, modified"),
              make_row("LOAD:DRAM", "L3 misses", "local DRAM"),
              make_row("WALKS", "DTLB", "page walks")};
  return cpu;
}

// The load of three instructions comes from memory nine times of ten, and events say so.
TEST(EventBounds, NameTheCulprit) {
  MadeProfile chase = make_chase(true);
  add_instructions(chase);
  chase.add("load.dram", 1000, {{3, {900, 900'000}}});
  for (const char* none : {"load.l2_hit", "load.fb_hit", "load.l3_hit", "load.snoop", "walks"}) {
    chase.add(none, 1000, {});
  }
  const StallSummary summary = chase.summarize(make_cpu());
  expect_to_close(summary);
  EXPECT_EQ(summary.source, ExecutionSource::sampled);
  EXPECT_DOUBLE_EQ(summary.tallied.best.total(), 3 * kRounds / 4);
  // By hand, in millions of cycles. No sample stands for 3.67 periods at most, times the cost, of
  // each row that counts the way: L2 0.22, L3 1.8, another core 4.4, walks 1.5. What no event
  // counts each of 1.07 M rounds has once: second TLB 16, bandwidth 107, forwarding 53,
  // misprediction 43, chains 64, ports 26. Together 317 of 1,000. Memory: of 900 samples the
  // interval ends at 960.8 (R: qgamma(0.975, 901)), and 3.67 more of lines that were on their way.
  // The time itself is of 10,000 samples: 1.96 % of it may be chance.
  EXPECT_NEAR(share(summary, summary.tallied.low, StallCause::load_memory), 0.682 - 0.0196, 0.005);
  EXPECT_NEAR(share(summary, summary.tallied.high, StallCause::load_memory), 0.9644, 5e-4);
  EXPECT_NEAR(share(summary, summary.tallied.high, StallCause::load_l3), 2 * 3.67e3 * 250 / 1e9,
              1e-5);
  EXPECT_EQ(sources_of(summary, StallCause::load_memory),
            (std::vector<std::string>{"load.fb_hit", "load.dram"}));
  EXPECT_EQ(sources_of(summary, StallCause::translation),
            (std::vector<std::string>{"walks", "executions"}));
  EXPECT_EQ(sources_of(summary, StallCause::chain), std::vector<std::string>{"executions"});
}

// A row that the CPU has and nobody sampled may have had all of it.
TEST(EventBounds, NeedAllRowsThatCountAWay) {
  MadeProfile chase = make_chase();
  chase.add("load.l3_hit", 1000, {});
  const StallSummary summary = chase.summarize(make_cpu());
  expect_to_close(summary);
  EXPECT_EQ(share(summary, summary.tallied.high, StallCause::load_l3), 1);
}

// No sample, one for 1,000 misses: at most 3,668 of them, of 1,000 cycles each. Had a sample stood
// for 200,000 misses, nothing would be ruled out.
TEST(EventBounds, RuleOutWhatWasNotSampled) {
  for (const auto& [period, most] : std::map<uint64_t, double>{{1000, 0.0037}, {200'000, 0.7336}}) {
    MadeProfile chase = make_chase();
    chase.add("LLC-load-misses", period, {});
    const StallSummary summary = chase.summarize({});
    expect_to_close(summary);
    EXPECT_NEAR(share(summary, summary.tallied.high, StallCause::load_memory), most, 0.01 * most);
    // It says nothing of the other levels.
    EXPECT_EQ(share(summary, summary.tallied.high, StallCause::load_l2), 1);
  }
}

// In a frequency's first samples nothing is known of what one stands for.
TEST(EventBounds, AreNoneWithoutAPeriod) {
  MadeProfile chase = make_chase();
  chase.add("LLC-load-misses", 0, {});
  const StallSummary summary = chase.summarize({});
  EXPECT_EQ(share(summary, summary.tallied.high, StallCause::load_memory), 1);
  EXPECT_TRUE(summary.events.empty());
}

// Eight events on four counters: each was counted half of the time, so twice as many may have been.
TEST(EventBounds, AllowForSharedCounters) {
  MadeProfile chase = make_chase();
  add_instructions(chase);
  chase.add("LLC-load-misses", 1000, {{3, {100, 100'000}}});
  for (const char* other : {"r1", "r2", "r3", "r4", "r5"}) chase.add(other, 1000, {});
  const StallSummary summary = chase.summarize({});
  ASSERT_EQ(summary.events.size(), 1u);
  EXPECT_DOUBLE_EQ(summary.events[0].value, 200'000);
  EXPECT_EQ(summary.remarks.size(), 1u);
}

// What cache-misses are: L3's on Intel, so the nearer levels stay possible; L1's on Arm.
TEST(EventBounds, OfGenericEventsDependOnTheMachine) {
  for (const bool is_arm : {false, true}) {
    MadeProfile chase(is_arm ? "aarch64" : "x86_64",
                      is_arm ? "\x00\x00\x40\xf9"   // ldr x0, [x0]
                               "\x21\x04\x00\xf1"   // subs x1, x1, #1
                               "\xc1\xff\xff\x54"s  // b.ne 0
                             : kChase);
    chase.add("cycles", 100'000, {{is_arm ? 4u : 3u, {10'000, 1'000'000'000}}});
    chase.add("cache-misses", 1000, {});
    const StallSummary summary = chase.summarize({});
    EXPECT_LT(share(summary, summary.tallied.high, StallCause::load_memory), 0.004);
    EXPECT_EQ(share(summary, summary.tallied.high, StallCause::load_l3) < 0.004, is_arm);
    EXPECT_EQ(share(summary, summary.tallied.high, StallCause::load_l2) < 0.004, is_arm);
  }
}

// 40 instructions in a row, the misses of one of them.
TEST(EventBounds, ReachAsFarAsSamplesSkid) {
  FunctionGraph function;
  function.code = make_blocks(std::vector<std::pair<int, bool>>(40, {-2, true}));
  function.graph = make_flow_graph(function.code);
  FunctionFlow flow;
  flow.function = &function;
  EventRules rules;
  rules.events = {{0, "misses", 1, 1000, false, false}};
  rules.bounds = {{StallWay::misprediction, {{0, 40}}}};
  std::vector<BoundedInstruction> all(40, {{}, INFINITY});
  for (BoundedInstruction& one : all) one.features.may_mispredict = true;
  FunctionEvents events(rules, flow, false);
  events.add(20, 0, {1000, 1'000'000, 1e9});
  const auto most = [&](size_t instruction) {
    const auto bounds = events.find_bounds({instruction}, all);
    return bounds[static_cast<size_t>(StallCause::misprediction)]->most / 40 / 1000;
  };
  EXPECT_NEAR(most(20), 1064, 1);  // of 1,000: qgamma(0.975, 1001)
  EXPECT_NEAR(most(4), 1064, 1);
  EXPECT_NEAR(most(36), 1064, 1);
  EXPECT_NEAR(most(3), 3.67, 0.01);
  EXPECT_NEAR(most(37), 3.67, 0.01);
}

// What was counted of user code only says nothing of the kernel.
TEST(EventBounds, OfUserCodeAreNotOfTheKernel) {
  FunctionGraph function;
  function.code = make_blocks({{-2, true}});
  function.graph = make_flow_graph(function.code);
  FunctionFlow flow;
  flow.function = &function;
  EventRules rules;
  rules.events = {{0, "branch-misses:u", 1, 1000, true, false}};
  rules.bounds = {{StallWay::misprediction, {{0, 40}}}};
  std::vector<BoundedInstruction> all(1, {{}, INFINITY});
  all[0].features.may_mispredict = true;
  EXPECT_TRUE(FunctionEvents(rules, flow, false).find_bounds({0}, all)[kMisprediction]);
  EXPECT_FALSE(FunctionEvents(rules, flow, true).find_bounds({0}, all)[kMisprediction]);
}

// Rows are known by what templates call them: a label that none has would bound nothing for ever.
TEST(EventBounds, LookForRowsThatTemplatesHave) {
  const std::string folder = find_templates();
  std::set<std::string> known;
  for (const std::string& name : list_templates(folder)) {
    const Result<Template> cpu = find_template(name, folder);
    ASSERT_TRUE(cpu) << name;
    for (const TemplateRow& row : cpu->rows) {
      known.insert(std::string(branch_key(row.branch)) + "/" + row.group + "/" + row.label);
    }
  }
  for (const TemplateRowName& row : list_bounding_rows()) {
    EXPECT_TRUE(known.contains(std::string(branch_key(row.branch)) + "/" + std::string(row.group) +
                               "/" + std::string(row.label)))
        << row.group << "/" << row.label;
  }
}

}  // namespace
}  // namespace culprit
