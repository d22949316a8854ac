#pragma once

// Golden files: texts that a test compares with, by their path from src/. CULPRIT_UPDATE_GOLDEN=1
// rewrites them; read the difference before committing it.

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

#include "base/test_folders.h"

namespace culprit {

inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = source_folder() + "/src/" + name;
  if (std::getenv("CULPRIT_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " is missing";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str()) << "differs from " << path;
}

}  // namespace culprit
