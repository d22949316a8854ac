// What is sent to the kernel, beside what perf sends for the same words: `perf record -vv`
// prints its attr even where this machine then refuses the event.

#include "collect/perf/perf_attr.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "base/text.h"
#include "events/pmu_catalog.h"

namespace culprit {
namespace {

/// The first attr that perf prints: its fields by name. Empty: there is no perf.
std::map<std::string, std::string> read_attr_of_perf(const std::string& options) {
  const std::string command = "perf record -vv -o /dev/null " + options + " true 2>&1";
  std::map<std::string, std::string> fields;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return fields;
  std::string text;
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  ::pclose(pipe);
  const size_t start = text.find("perf_event_attr:");
  if (start == text.npos) return fields;
  for (const std::string_view line : split(std::string_view(text).substr(start), '\n')) {
    if (line.starts_with("-----")) break;
    const size_t name = line.find_first_not_of(' ');
    const size_t end = line.find("  ", name == line.npos ? 0 : name);
    if (name != 2 || end == line.npos) continue;
    const size_t value = line.find_first_not_of(' ', end);
    if (value == line.npos) continue;
    fields[std::string(line.substr(name, end - name))] = std::string(line.substr(value));
  }
  return fields;
}

/// "IP|TID" of a sample_type, in perf's order and words.
std::string name_bits(uint64_t bits) {
  const std::pair<uint64_t, const char*> names[] = {{PERF_SAMPLE_IP, "IP"},
                                                    {PERF_SAMPLE_TID, "TID"},
                                                    {PERF_SAMPLE_TIME, "TIME"},
                                                    {PERF_SAMPLE_ADDR, "ADDR"},
                                                    {PERF_SAMPLE_CALLCHAIN, "CALLCHAIN"},
                                                    {PERF_SAMPLE_PERIOD, "PERIOD"},
                                                    {PERF_SAMPLE_BRANCH_STACK, "BRANCH_STACK"},
                                                    {PERF_SAMPLE_DATA_SRC, "DATA_SRC"},
                                                    {PERF_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT"}};
  std::string text;
  for (const auto& [bit, name] : names) {
    if ((bits & bit) == 0) continue;
    text += (text.empty() ? "" : "|") + std::string(name);
    bits &= ~bit;
  }
  return bits == 0 ? text : text + fmt::format("|{:#x}", bits);
}

struct Case {
  const char* event;
  const char* perf_options;
  uint64_t period;
  uint64_t frequency_hz;
  bool stacks = false;
  bool branches = false;
  bool memory = false;
};

class PerfAttr : public ::testing::TestWithParam<Case> {};

TEST_P(PerfAttr, IsWhatPerfSends) {
  const Case& asked = GetParam();
  const auto perf = read_attr_of_perf(fmt::format("-e '{}' {}", asked.event, asked.perf_options));
  if (perf.empty()) GTEST_SKIP() << "no perf here that prints what it sends";
  const Result<PmuCatalog> catalog = read_pmu_catalog();
  ASSERT_TRUE(catalog.has_value()) << catalog.error().message;
  const std::vector<std::string> words{asked.event};
  const auto groups = parse_events(words, *catalog);
  ASSERT_TRUE(groups.has_value()) << groups.error().message;

  SamplingSetup setup;  // per task, as perf without -a
  setup.stacks = asked.stacks;
  setup.branches = asked.branches;
  setup.memory = asked.memory;
  const SampledEvent event{(*groups)[0].members[0], asked.period, asked.frequency_hz};
  const perf_event_attr ours = make_sampling_attr(event, setup, PerfFeatures(), true, true);

  const auto number = [&](const char* field) {
    const auto found = perf.find(field);
    return found == perf.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 0);
  };
  EXPECT_EQ(ours.type, number("type"));
  EXPECT_EQ(ours.config, number("config"));
  EXPECT_EQ(ours.sample_period, number("{ sample_period, sample_freq }"));
  EXPECT_EQ(ours.freq, number("freq"));
  EXPECT_EQ(ours.exclude_user, number("exclude_user"));
  EXPECT_EQ(ours.exclude_kernel, number("exclude_kernel"));
  EXPECT_EQ(ours.exclude_hv, number("exclude_hv"));
  EXPECT_EQ(ours.exclude_guest, number("exclude_guest"));
  EXPECT_EQ(ours.exclude_host, number("exclude_host"));
  EXPECT_EQ(ours.precise_ip, number("precise_ip"));
  EXPECT_EQ(ours.inherit, number("inherit"));
  EXPECT_EQ(ours.disabled, number("disabled"));
  EXPECT_EQ(ours.mmap2, number("mmap2"));
  EXPECT_EQ(ours.comm_exec, number("comm_exec"));
  EXPECT_EQ(ours.branch_sample_type == PERF_SAMPLE_BRANCH_ANY ? "ANY" : "",
            perf.contains("branch_sample_type") ? perf.at("branch_sample_type") : "");
  // perf leaves the period out of samples where it is fixed; ours always carry it.
  uint64_t sample_type = ours.sample_type;
  if (asked.period != 0) sample_type &= ~uint64_t{PERF_SAMPLE_PERIOD};
  // Nor does it have the stack pointer, which tells stacks from other memory.
  if (asked.memory) sample_type &= ~uint64_t{PERF_SAMPLE_REGS_USER};
  EXPECT_EQ(name_bits(sample_type), perf.at("sample_type"));
  EXPECT_EQ(ours.mmap_data, number("mmap_data"));
}

INSTANTIATE_TEST_SUITE_P(
    Requests, PerfAttr,
    ::testing::Values(Case{"cycles:u", "-c 100003", 100'003, 0}, Case{"cycles", "-F 999", 0, 999},
                      Case{"instructions:k", "-F 4999", 0, 4999},
                      Case{"cycles:upp", "-c 1000003", 1'000'003, 0},
                      Case{"instructions:p", "-F 999", 0, 999},
                      Case{"branches:u", "-b -c 10007", 10'007, 0, false, true},
                      Case{"page-faults", "-c 1 -d -W", 1, 0, false, false, true},
                      Case{"cycles:u", "-g -F 999", 0, 999, true},
                      Case{"context-switches", "-c 1", 1, 0}, Case{"r1c2:u", "-c 5", 5, 0},
                      Case{"cache-misses:uH", "-c 5", 5, 0}));

}  // namespace
}  // namespace culprit
