#include "collect/timer/posix_timer_check.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

class Preloadable : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(std::move(*made));
  }

  std::string write(const std::string& name, const std::string& content, mode_t mode = 0755) {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  std::string compile(const std::string& name, const std::string& options) {
    const std::string source = write(name + ".c", "int main(void) { return 0; }");
    const std::string path = folder_->path() + "/" + name;
    const std::string line = "cc -o " + path + " " + source + " " + options;
    EXPECT_EQ(std::system(line.c_str()), 0);
    return path;
  }

  /// "" if it passes.
  static std::string why_not(const std::vector<std::string>& command) {
    const Result<void> result = check_preloadable(command);
    return result ? "" : result.error().message;
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(Preloadable, DynamicProgramsAre) {
  EXPECT_EQ(why_not({compile("pie", "")}), "");
  EXPECT_EQ(why_not({compile("fixed", "-no-pie")}), "");
  EXPECT_EQ(why_not({"ls", "-l"}), "") << "found in PATH";
}

TEST_F(Preloadable, StaticProgramsAreNot) {
  const std::string path = compile("static", "-static");
  EXPECT_EQ(why_not({path}), "cannot profile '" + path + "' here: it is statically linked");
  EXPECT_NE(why_not({compile("pie", "-static-pie")}).find("statically linked"), std::string::npos);
}

TEST_F(Preloadable, ScriptsAreAsTheirInterpretersAre) {
  const std::string interpreter = compile("interpreter", "-static");
  const std::string script = write("script", "#! " + interpreter + " -x\nrest");
  EXPECT_EQ(why_not({script}),
            "cannot profile '" + interpreter + "' here: it is statically linked");
  EXPECT_NE(why_not({write("twice", "#!" + script + "\n")}), "") << "a script run by a script";
  EXPECT_NE(why_not({write("by_env", "#!/usr/bin/env " + interpreter + "\n")}), "");
  EXPECT_EQ(why_not({write("shell", "#!/bin/sh\nexit 0\n")}), "");
  EXPECT_EQ(why_not({write("itself", "#!" + folder_->path() + "/itself\n")}), "")
      << "an endless chain ends; the kernel says ELOOP";
}

TEST_F(Preloadable, ProgramsThatGainPrivilegesAreNot) {
  const std::string path = compile("privileged", "");
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a set-user-id program of another user";
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_EQ(why_not({path}), "");
  ASSERT_EQ(chmod(path.c_str(), 04755), 0);
  EXPECT_NE(why_not({path}).find("set-user-id"), std::string::npos);
}

// e_machine is the 16-bit number at byte 18 of the ELF header; 183 is EM_AARCH64, 62 EM_X86_64.
TEST_F(Preloadable, ProgramsOfOtherArchitecturesAreNot) {
  std::string elf = read_file(compile("other", "")).value_or("");
  ASSERT_GT(elf.size(), 64U);
  elf[18] = elf[18] == 62 ? static_cast<char>(183) : 62;
  EXPECT_NE(why_not({write("foreign", elf)}).find("another architecture"), std::string::npos);
}

TEST_F(Preloadable, HostileHeadersAreErrorsOrLeftToExec) {
  const std::string elf = read_file(compile("whole", "")).value_or("");
  ASSERT_GT(elf.size(), 4096U);
  EXPECT_NE(why_not({write("cut", elf.substr(0, 20))}), "") << "an ELF header is 64 bytes";
  EXPECT_NE(why_not({write("no_segments", elf.substr(0, 64))}), "");
  std::string far = elf;
  for (size_t i = 32; i < 40; ++i) far[i] = static_cast<char>(0xff);  // e_phoff
  EXPECT_NE(why_not({write("far", far)}), "");
  EXPECT_EQ(why_not({write("empty", "")}), "");
  EXPECT_EQ(why_not({write("bare", "#!")}), "");
  EXPECT_EQ(why_not({"/"}), "");
  EXPECT_EQ(why_not({"/nonexistent/program"}), "");
  EXPECT_EQ(why_not({}), "");
}

}  // namespace
}  // namespace culprit
