#include "base/exec_command.h"

#include <cerrno>
#include <elf.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

/// Runs it in a child: its status, or the number of the error.
int run(const std::vector<std::string>& words) {
  const ExecCommand command(words);
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(command.exec(environ));
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

class ExecCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made) << made.error().message;
    folder_.emplace(*std::move(made));
  }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_->path() + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), 0700);
    return path;
  }

  std::optional<TemporaryFolder> folder_;
};

TEST_F(ExecCommandTest, AScriptWithoutAFirstLineIsTheShells) {
  const std::string script = write("script", "exit $(($1 + $2))\n");
  EXPECT_EQ(run({script, "40", "2"}), 42);
}

/// Such a file is what a cross-compiler makes: its bytes have a ">" somewhere.
TEST_F(ExecCommandTest, AProgramForAnotherMachineIsNoScript) {
  const std::string made = folder_->path() + "/made";
  const std::string program = write("program", std::string(ELFMAG) + "\n>" + made + "\n");
  EXPECT_EQ(run({program}), ENOEXEC);
  EXPECT_FALSE(file_exists(made));
}

TEST_F(ExecCommandTest, ProgramsAreFoundInPath) {
  EXPECT_EQ(run({"sh", "-c", "exit 7"}), 7);
  EXPECT_EQ(find_program("no-such-program"), "");
  EXPECT_EQ(run({"no-such-program"}), ENOENT);
  EXPECT_EQ(run({folder_->path() + "/nothing"}), ENOENT);
}

}  // namespace
}  // namespace culprit
