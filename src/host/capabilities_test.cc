#include "host/capabilities.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdio.h>
#include <thread>

#include "host/capabilities_probe.h"
#include "host/describe_machine.h"

namespace culprit {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c = getc(pipe); c != EOF && c != '\n'; c = getc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

TEST(Machine, IsTheOneThatOtherToolsDescribe) {
  const Machine machine = describe_machine();
  EXPECT_EQ(machine.architecture, output_of("uname -m"));
  EXPECT_EQ(machine.kernel_release, output_of("uname -r"));
  EXPECT_EQ(std::to_string(machine.cpus_online), output_of("getconf _NPROCESSORS_ONLN"));
  EXPECT_FALSE(machine.cpu_model.empty());
  EXPECT_FALSE(machine.clock.has_value()) << "the clock is measured during a recording";
}

TEST(Machine, NamesTheHypervisorAsLscpuDoes) {
  std::string expected = output_of("LC_ALL=C lscpu | sed -n 's/^Hypervisor vendor: *//p'");
  if (expected.empty()) GTEST_SKIP() << "lscpu names no hypervisor here";
  std::transform(expected.begin(), expected.end(), expected.begin(), ::tolower);
  if (expected == "microsoft") expected = "hyper-v";
  EXPECT_EQ(describe_machine().virtualization, expected);
}

TEST(Capabilities, EachRowSaysWhatWorksOrWhyNot) {
  const std::vector<Capability> rows =
      probe_capabilities("/nonexistent/shim.so", "/nonexistent/plugin.so");
  EXPECT_EQ(rows.size(), 10U);
  for (const Capability& row : rows) EXPECT_FALSE(row.detail.empty()) << row.name;
  const auto timers = std::find_if(rows.begin(), rows.end(), [](const Capability& row) {
    return row.name == "timers in program";
  });
  ASSERT_NE(timers, rows.end());
  EXPECT_EQ(timers->available, Availability::no);
  EXPECT_EQ(timers->detail, "'/nonexistent/shim.so' is missing");
}

// An interrupt, the sample and the return: 0.3 us on bare metal, 5 to 20 us where each
// programming of the timer leaves to the hypervisor.
TEST(Capabilities, ASampleCostsMicroseconds) {
  if (try_event(ProbeEvent::cpu_clock, true, 0, -1) != 0) GTEST_SKIP() << "no cpu-clock here";
  const std::optional<double> cost_ns = measure_sample_cost_ns();
  ASSERT_TRUE(cost_ns.has_value());
  EXPECT_GT(*cost_ns, 100);
  EXPECT_LT(*cost_ns, 100'000);
}

// The timer has 1 ms; the kernel looks at its ticks, of which there are 100 to 1000 a second.
void expect_one_expiration_per_tick() {
  int reason = 0;
  const std::optional<double> resolution_ns = measure_cpu_timer_resolution_ns(&reason);
  if (reason != 0) GTEST_SKIP() << "timer_create: " << error_name(reason);
  ASSERT_TRUE(resolution_ns.has_value());
  EXPECT_GE(*resolution_ns, 0.9e6);
  EXPECT_LE(*resolution_ns, 12e6);
}

TEST(Capabilities, TimersOnCpuTimeExpireOncePerTick) {
  expect_one_expiration_per_tick();
}

// Ticks must find the measuring thread, although another wants its CPU.
TEST(Capabilities, TimersOnCpuTimeExpireBesideABusyThread) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  std::atomic<bool> is_done = false;
  std::thread busy([&] {
    while (!is_done) continue;
  });  // on the same CPU
  for (int round = 0; round < 15; ++round) expect_one_expiration_per_tick();
  is_done = true;
  busy.join();
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace culprit
