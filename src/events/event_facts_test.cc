// Every event of the machines in ../shared/facts/hca-templates, against the raw code that
// stands there. Tables of Intel and AMD CPUs have codes with bits that belong to the kernel
// (user 16, interrupt 20, enable 22), which are masked as the files say; Arm and POWER
// files have "NAME 0xCODE" in their cells.

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <regex>
#include <set>

#include "base/test_folders.h"
#include "base/text.h"
#include "events/cpu_tables.h"
#include "events/event_request.h"
#include "events/pfm_events.h"

namespace culprit {
namespace {

const std::string kFolder = source_folder() + "/../shared/facts/hca-templates/";
constexpr uint64_t kBitsOfTheKernel = 0x510000;

std::string read(const std::string& file) {
  std::ifstream in(kFolder + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Row {
  std::string event;
  std::string raw;
};

/// The rows of a file's table whose columns are called "event" and "raw".
std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  size_t event_at = 0;
  size_t raw_at = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with("|") || line.starts_with("|---")) continue;
    const std::vector<std::string_view> cells = split(line, '|');
    if (event_at == 0) {
      for (size_t i = 0; i < cells.size(); ++i) {
        if (trim(cells[i]) == "event") event_at = i;
        if (trim(cells[i]) == "raw") raw_at = i;
      }
      continue;
    }
    rows.push_back({std::string(trim(cells.at(event_at))), std::string(trim(cells.at(raw_at)))});
  }
  return rows;
}

struct Codes {
  uint64_t config = 0;
  uint64_t config1 = 0;
};

/// "0x1d102c2", "0x5101c6 0x13", or "raw 0xad/0x40 c=1 i=1 e=1 MSR 0x3F7=0x7 (…)".
std::optional<Codes> codes_of(const std::string& raw) {
  std::smatch match;
  if (std::regex_match(raw, match, std::regex("0x([0-9a-f]+)(?: 0x([0-9a-f]+))?"))) {
    const uint64_t config1 = match[2].matched ? std::stoull(match[2], nullptr, 16) : 0;
    return Codes{std::stoull(match[1], nullptr, 16) & ~kBitsOfTheKernel, config1};
  }
  if (!std::regex_search(raw, match, std::regex("^raw 0x([0-9a-f]+)/0x([0-9a-f]+)"))) {
    return std::nullopt;
  }
  Codes codes{std::stoull(match[1], nullptr, 16) | std::stoull(match[2], nullptr, 16) << 8, 0};
  const auto add = [&](const char* pattern, unsigned shift) {
    if (std::regex_search(raw, match, std::regex(pattern))) {
      codes.config |= std::stoull(match[1]) << shift;
    }
  };
  add(" c=([0-9]+)", 24);
  add(" i=([0-9]+)", 23);
  add(" e=([0-9]+)", 18);
  if (std::regex_search(raw, match, std::regex("MSR 0x3F7=0x([0-9a-f]+)"))) {
    codes.config1 = std::stoull(match[1], nullptr, 16);
  }
  return codes;
}

/// Where the facts give libpfm4's code as it is, and we the maker's (pfm_corrections.cc;
/// facts: libpfm4_vs_intel_json.txt).
struct Corrected {
  const char* pmu;
  const char* event;
  uint64_t by_intel;
};
constexpr Corrected kCorrected[] = {
    {"ivb_ep", "mem_load_uops_llc_miss_retired:local_dram", 0x3d3},
    {"hsw_ep", "l2_rqsts:code_rd_hit", 0xc424},
};

/// This one's count mask is in the code only, not in its name.
std::string name_in_full(const Row& row) {
  return row.event == "OFFCORE_REQUESTS_OUTSTANDING.L3_MISS_DEMAND_DATA_RD" ? row.event + ":c=6"
                                                                            : row.event;
}

struct Template {
  const char* file;
  const char* pmu;
  size_t events;   // rows with a code, counted by grep -cE '\| (0x[0-9a-f]+( 0x[0-9a-f]+)?|raw
                   // 0x[^|]*) \|'
  size_t without;  // rows whose name does not encode: grep -c '| DOES NOT ENCODE |'
};

void PrintTo(const Template& machine, std::ostream* out) {
  *out << machine.file;
}

class EventFacts : public ::testing::TestWithParam<Template> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
    if (!encode_for("icx", "INST_RETIRED:ANY_P")) {
      GTEST_SKIP() << "this build or its libpfm4 has no x86 tables";
    }
  }
};

TEST_P(EventFacts, EveryRawCodeIsWhatWeBuild) {
  const Template& machine = GetParam();
  size_t events = 0;
  size_t without = 0;
  for (const Row& row : rows_of(read(machine.file))) {
    const Result<EventRequest> built = encode_for(machine.pmu, name_in_full(row));
    if (row.raw == "-") {
      if (row.event.find("(derived)") != std::string::npos) continue;
      EXPECT_FALSE(built) << row.event << " encodes after all";
      ++without;
      continue;
    }
    std::optional<Codes> expected = codes_of(row.raw);
    ASSERT_TRUE(expected) << row.event << " | " << row.raw;
    for (const Corrected& corrected : kCorrected) {
      if (machine.pmu == std::string_view(corrected.pmu) && row.event == corrected.event) {
        EXPECT_NE(expected->config, corrected.by_intel) << "the facts have been corrected, too";
        expected->config = corrected.by_intel;
      }
    }
    ASSERT_TRUE(built) << row.event << ": " << built.error().message;
    EXPECT_EQ(built->config, expected->config) << row.event;
    EXPECT_EQ(built->config1, expected->config1) << row.event;
    ++events;
  }
  EXPECT_EQ(events, machine.events);
  EXPECT_EQ(without, machine.without);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, EventFacts,
    ::testing::Values(
        Template{"gooda_hsw_ep.md", "hsw_ep", 63, 3}, Template{"gooda_ivb.md", "ivb", 58, 3},
        Template{"gooda_ivb_ep.md", "ivb_ep", 63, 1}, Template{"gooda_snb.md", "snb", 60, 0},
        Template{"gooda_snb_ep.md", "snb_ep", 61, 0}, Template{"gooda_wsm_ep.md", "wsm_dp", 44, 0},
        Template{"proposed_icx.md", "icx", 60, 0}, Template{"proposed_skx.md", "skx", 57, 0},
        Template{"proposed_spr.md", "spr", 61, 0},
        Template{"proposed_zen3.md", "amd64_fam19h_zen3", 37, 0},
        Template{"proposed_zen4.md", "amd64_fam19h_zen4", 48, 0}),
    [](const auto& machine) { return std::string(machine.param.pmu); });

struct Cells {
  const char* file;
  const char* cpu;
};

void PrintTo(const Cells& cells, std::ostream* out) {
  *out << cells.file;
}

class CellFacts : public ::testing::TestWithParam<Cells> {};

/// Names that the file abbreviates ("_DMISS_LMEM 0x30038") end with what it says.
bool is_called(std::string_view name, std::string_view written) {
  return written.starts_with('_') ? name.ends_with(written) : name == written;
}

TEST_P(CellFacts, EveryCodeIsInOurTable) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
  const CpuTable* table = find_cpu_table(GetParam().cpu);
  ASSERT_NE(table, nullptr);
  const std::string text = read(GetParam().file);
  std::set<std::string> met;
  const std::regex pair("([A-Z_][A-Z0-9_]{3,}) (0x[0-9a-f]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), pair), end; at != end; ++at) {
    const uint64_t code = std::stoull((*at)[2], nullptr, 16);
    bool is_known = false;
    for (const CpuEvent& event : table->events) {
      if (!is_called(event.name, (*at)[1].str()) || event.config != code) continue;
      is_known = true;
      met.emplace(event.name);
    }
    EXPECT_TRUE(is_known) << (*at)[0];
  }
  // The table has no event that the file lacks, but for what V1 has "as N1".
  for (const CpuEvent& event : table->events) {
    const CpuEvent* shared = find_cpu_event(*find_cpu_table("arm_n1"), event.name);
    const bool is_as_n1 = shared != nullptr && shared->config == event.config;
    EXPECT_TRUE(met.contains(std::string(event.name)) || is_as_n1) << event.name;
  }
  const std::regex without("PM_[A-Z_]+\\{[^}]*\\}[^|]*");
  for (std::sregex_iterator at(text.begin(), text.end(), without), end; at != end; ++at) {
    std::cout << GetParam().cpu << ": not covered, the facts have no code: " << at->str() << "\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, CellFacts,
                         ::testing::Values(Cells{"proposed_neoverse_n1.md", "arm_n1"},
                                           Cells{"proposed_neoverse_v1.md", "arm_v1"},
                                           Cells{"proposed_power9.md", "power9"}),
                         [](const auto& cells) { return std::string(cells.param.cpu); });

}  // namespace
}  // namespace culprit
