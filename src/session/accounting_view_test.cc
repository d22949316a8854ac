#include "session/accounting_view.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "base/test_folders.h"
#include "code/costs/cost_model.h"
#include "templates/find_template.h"

namespace culprit {
namespace {

// A name that LLVM does not know would leave branches uncovered, or end a report with an error.
TEST(AccountingView, LlvmKnowsTheCpusOfTemplates) {
  const std::string folder = source_folder() + "/data/templates";
  size_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Result<Template> cpu = find_template(entry.path().stem().string(), folder);
    ASSERT_TRUE(cpu) << entry.path();
    if (cpu->llvm_cpu.empty()) {
      EXPECT_TRUE(cpu->is_simulated || cpu->name == "power9") << cpu->name;
      continue;
    }
    const bool is_arm = !cpu->cpuid.empty() && cpu->cpuid.front().starts_with("0x");
    std::string problem;
    EXPECT_NE(CostModel::make(is_arm ? "aarch64" : "x86_64", cpu->llvm_cpu, problem), nullptr)
        << cpu->name << ": " << problem;
    ++checked;
  }
  EXPECT_GE(checked, 15u);
}

}  // namespace
}  // namespace culprit
