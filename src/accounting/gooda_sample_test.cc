// Culprit's trees against the numbers that Gooda published of a Westmere X5650 run: from its
// event columns, its branch columns. Gooda cuts every event's cycles to whole samples before
// it adds them up, so ours are larger, by less than one sample for each event.

#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "accounting/cost_tree.h"
#include "base/test_folders.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

const std::string kFolder = source_folder() + "/../shared/facts/gooda-sample/";

using Fields = std::vector<std::string>;

/// `[,,"a, b", 1, 2,],` → "", "", "a, b", "1", "2".
Fields split_line(const std::string& line) {
  Fields fields;
  std::string field;
  bool quoted = false;
  for (const char c : line.substr(1)) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == ']')) {
      fields.push_back(std::move(field));
      field.clear();
      if (c == ']') break;
    } else if (quoted || c != ' ') {
      field += c;
    }
  }
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  return fields;
}

/// One of Gooda's tables: what its columns are, and rows of samples.
struct Table {
  std::vector<std::string> names;
  std::vector<uint64_t> codes;
  std::vector<double> periods;
  std::vector<double> multiplex;
  std::vector<std::vector<double>> rows;

  [[nodiscard]] size_t find(const std::string& name) const {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }
  /// What one sample of unhalted cycles stands for: the unit of branch columns.
  [[nodiscard]] double sample_cycles() const { return periods[0] * multiplex[0]; }
};

bool is_number(const std::string& field) {
  return !field.empty() && field.find_first_not_of("0123456789") == field.npos;
}

Table read_table(const std::string& path) {
  Table table;
  std::ifstream file(path);
  std::string line;
  size_t columns = 0;
  while (std::getline(file, line)) {
    if (!line.starts_with("[,")) continue;
    const Fields fields = split_line(line);
    if (columns == 0) {
      const auto first = std::find(fields.begin(), fields.end(), "unhalted_core_cycles");
      table.names.assign(first, fields.end());
      columns = table.names.size();
      continue;
    }
    if (fields.size() < columns) continue;
    const auto values = fields.end() - static_cast<std::ptrdiff_t>(columns);
    const auto says = [&](const char* word) {
      return std::any_of(fields.begin(), values,
                         [&](const std::string& field) { return field.starts_with(word); });
    };
    std::vector<double> numbers;
    for (auto at = values; at != fields.end(); ++at) {
      numbers.push_back(std::strtod(at->c_str(), nullptr));
    }
    if (says("MSR")) {
      for (const double code : numbers) table.codes.push_back(static_cast<uint64_t>(code));
    } else if (says("Period")) {
      table.periods = numbers;
    } else if (says("Multiplex")) {
      table.multiplex = numbers;
    } else if (std::all_of(values, fields.end(), is_number) && !says("Penalty") &&
               !says("Cycles")) {
      table.rows.push_back(numbers);
    }
  }
  return table;
}

class GoodaSample : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
    table_ = read_table(kFolder + GetParam());
    Result<Template> cpu = read_template(source_folder() + "/data/templates/westmere-ep.toml");
    ASSERT_TRUE(cpu) << cpu.error().message;
    cpu_ = *std::move(cpu);
    ASSERT_GT(table_.rows.size(), 200u);
  }

  /// Counts of a row's events: samples x period x share of the time.
  RowAmounts amounts_of(const std::vector<double>& row) const {
    constexpr uint64_t kPolicyBits = 0x530000;
    RowAmounts amounts(cpu_.rows.size());
    for (size_t i = 0; i < cpu_.rows.size(); ++i) {
      for (size_t column = 0; column < table_.names.size(); ++column) {
        const uint64_t code = table_.codes[column] & ~kPolicyBits;
        if (code == 0 || code != (cpu_.rows[i].code & ~kPolicyBits)) continue;
        const double count = row[column] * table_.periods[column] * table_.multiplex[column];
        amounts[i] = RowAmount{{count, 0}, Provenance::sampled};
      }
    }
    return amounts;
  }

  /// Summed events below a node.
  static double count_events(const CostNode& node) {
    double events = node.row != nullptr && node.in_sum ? 1 : 0;
    for (const CostNode& part : node.parts) events += count_events(part);
    return events;
  }

  /// The node's cycles in samples are the column's, but for what Gooda cut off.
  void expect_column(const std::vector<double>& row, const CostNode& node, const char* column) {
    const double theirs = row[table_.find(column)];
    const double ours = node.cycles ? node.cycles->value / table_.sample_cycles() : 0;
    constexpr double kRounding = 0.01;
    EXPECT_GE(ours, theirs - kRounding) << column;
    EXPECT_LT(ours, theirs + count_events(node) + kRounding) << column;
  }

  static const CostNode& group(const CostNode& branch, const std::string& label) {
    for (const CostNode& part : branch.parts) {
      if (part.label == label) return part;
    }
    ADD_FAILURE() << "no group " << label;
    return branch;
  }

  Table table_;
  Template cpu_;
};

TEST_P(GoodaSample, BranchesAreGoodas) {
  for (const std::vector<double>& row : table_.rows) {
    const CostTree tree = make_cost_tree(cpu_, amounts_of(row));
    const CostNode& loads = *tree.find(CostBranch::load_latency);
    expect_column(row, loads, "load_latency");
    expect_column(row, group(loads, "DTLB"), "dtlb_latency");
    const CostNode& starvation = *tree.find(CostBranch::instruction_starvation);
    expect_column(row, starvation, "instruction_starvation");
    expect_column(row, group(starvation, "ITLB"), "itlb_latency");
    expect_column(row, *tree.find(CostBranch::bandwidth_saturation), "bandwidth_saturated");
    expect_column(row, *tree.find(CostBranch::store_resource_saturation),
                  "store_resources_saturated");
    expect_column(row, *tree.find(CostBranch::instruction_latency), "instruction_latency");
    expect_column(row, *tree.find(CostBranch::microcode_exceptions), "exception_handling");
    // This report's branch_misprediction was still without the wrong path.
    expect_column(row, group(*tree.find(CostBranch::branch_misprediction), "restart"),
                  "branch_misprediction");
  }
}

/// The wrong path: ours divides by the rate of issue of the node, Gooda by that of the whole
/// run, from samples that were not corrected for the share of the time they were counted in.
TEST_P(GoodaSample, WrongPathDiffersByTheRateOfIssue) {
  if (std::string(GetParam()).starts_with("asm")) return;  // the whole run is in the others
  const size_t issued = table_.find("uops_issued:any");
  const size_t issue_cycles = table_.find("uops_issued:any:c=1");
  const auto whole = std::max_element(table_.rows.begin(), table_.rows.end(),
                                      [](const auto& a, const auto& b) { return a[0] < b[0]; });
  const double their_rate = (*whole)[issued] / (*whole)[issue_cycles];
  size_t compared = 0;
  for (const std::vector<double>& row : table_.rows) {
    const double theirs = row[table_.find("Wrong_path_cycles")];
    if (theirs < 30) continue;
    const CostTree tree = make_cost_tree(cpu_, amounts_of(row));
    const CostNode& node = group(*tree.find(CostBranch::branch_misprediction), "wrong path");
    const double our_rate = row[issued] * table_.multiplex[issued] /
                            (row[issue_cycles] * table_.multiplex[issue_cycles]);
    const double ours = node.cycles->value / table_.sample_cycles() * our_rate / their_rate;
    EXPECT_NEAR(ours, theirs, 1 + 0.015 * theirs);
    ++compared;
  }
  EXPECT_GE(compared, 7u);
}

/// Ports: Gooda's column is 0 here, or the last port's; ours is the busiest one's.
TEST_P(GoodaSample, PortSaturationIsTheBusiestPort) {
  const size_t first_port = table_.find("port_saturation") + 1;
  for (const std::vector<double>& row : table_.rows) {
    double busiest = 0;
    for (size_t port = first_port; port < first_port + 6; ++port) {
      busiest = std::max(busiest, row[port] * table_.periods[port] * table_.multiplex[port]);
    }
    const CostTree tree = make_cost_tree(cpu_, amounts_of(row));
    EXPECT_NEAR(tree.find(CostBranch::port_saturation)->cycles->value, busiest, 1e-6 * busiest);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, GoodaSample,
                         ::testing::Values("process.csv", "function_hotspots.csv", "asm/0_asm.csv",
                                           "asm/1_asm.csv"),
                         [](const auto& test) {
                           std::string name = test.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace culprit
