#include "simulate/counts_folder.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "simulate/counts/counts_writer.h"
#include "simulate/image_accounts.h"

namespace culprit {
namespace {

using counting::ImageState;
using counting::OwnImage;

/// What a plugin does when a program begins in this process.
struct BegunImage {
  OwnImage row;
  counting::CountsWriter writer;

  explicit BegunImage(const CountsFolder& folder, bool has_file = true) {
    EXPECT_TRUE(row.open(folder.path()));
    EXPECT_TRUE(row.add("/bin/program"));
    if (!has_file) return;
    EXPECT_TRUE(writer.create(folder.path(), row.number()));
    row.set_state(ImageState::counting);
  }
};

class CountsFolderTest : public testing::Test {
 protected:
  CountsFolderTest() : made_(CountsFolder::make()) {}
  void SetUp() override { ASSERT_TRUE(made_.has_value()) << made_.error().message; }
  CountsFolder& folder() { return *made_; }

  std::vector<uint32_t> ended(bool all = false) {
    std::vector<uint32_t> numbers;
    for (const CountsFolder::File& file : folder().take_ended(all)) numbers.push_back(file.image);
    return numbers;
  }

 private:
  Result<CountsFolder> made_;
};

using Numbers = std::vector<uint32_t>;

// The number of a file that was removed must not come again: the file of the third image was taken
// for an old one of the second's, and removed while it was written to.
TEST_F(CountsFolderTest, EachImageOfAProcessEndsTheOneBefore) {
  const BegunImage first(folder());
  EXPECT_EQ(ended(), Numbers());
  const BegunImage second(folder());
  EXPECT_EQ(ended(), Numbers{0});
  EXPECT_EQ(ended(), Numbers());
  const BegunImage third(folder());
  EXPECT_EQ(ended(), Numbers{1});
  EXPECT_EQ(ended(), Numbers());
  const BegunImage fourth(folder());
  const BegunImage fifth(folder());
  EXPECT_EQ(ended(), (Numbers{2, 3}));
  EXPECT_EQ(folder().living().size(), 1u);
  EXPECT_EQ(ended(true), Numbers{4});
  EXPECT_EQ(folder().count_images(), 5u);
}

TEST_F(CountsFolderTest, AnImageThatHasNoFileYetEndsTheOneBeforeIt) {
  const BegunImage first(folder());
  const BegunImage second(folder(), false);
  EXPECT_EQ(ended(), Numbers{0});
  EXPECT_TRUE(folder().living().empty());
  EXPECT_FALSE(folder().has_ended(1));
}

TEST_F(CountsFolderTest, AProcessThatNobodyHasWaitedForHasEnded) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const BegunImage image(folder());
    ::close(ready[1]);  // still open in the parent
    ::pause();
    ::_exit(0);
  }
  while (folder().count_images() == 0) ::usleep(1000);
  while (folder().take_ended(false).empty() && folder().living().empty()) ::usleep(1000);
  EXPECT_EQ(ended(), Numbers());
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // it stays a zombie
  EXPECT_EQ(ended(), Numbers{0});
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(folder().has_ended(0));
}

TEST_F(CountsFolderTest, AccountsSayWhatWasNotReadBack) {
  BegunImage whole(folder());
  whole.row.add_instructions(100);
  BegunImage lost(folder());
  lost.row.add_instructions(70);
  BegunImage unread(folder());
  unread.row.add_instructions(5);
  BegunImage uncounted(folder(), false);
  uncounted.row.set_state(ImageState::uncounted);
  BegunImage running(folder());
  running.row.add_instructions(1000);
  ended(true);
  ImageAccounts accounts;
  accounts.add(0, {.instructions = 101, .counted = 101});  // it ended between two system calls
  accounts.add(1, {.instructions = 30, .counted = 40});
  accounts.add(4, {.instructions = 900, .counted = 900, .was_running = true});
  Ledger ledger;
  accounts.close(folder(), ledger);
  EXPECT_EQ(ledger.amount(ledger::kMissingInstructions), 40u + 5);
  EXPECT_EQ(ledger.amount(ledger::kUncountedProcesses), 2u);
  ASSERT_EQ(ledger.notes().size(), 3u);
  EXPECT_NE(ledger.notes()[0].find(": 40 of 70 instructions"), std::string::npos);
  EXPECT_NE(ledger.notes()[1].find(": 5 of 5 instructions"), std::string::npos);
  EXPECT_NE(ledger.notes()[2].find("ran uncounted"), std::string::npos);
}

TEST_F(CountsFolderTest, WhatWasKilledBeforeItCountedIsNoneOfTheMissing) {
  const pid_t child = ::fork();
  if (child == 0) {
    const BegunImage image(folder(), false);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  ended(true);
  Ledger ledger;
  ImageAccounts().close(folder(), ledger);
  EXPECT_TRUE(ledger.amounts().empty());
  EXPECT_TRUE(ledger.notes().empty());
}

TEST_F(CountsFolderTest, HostileListIsNoHarm) {
  const BegunImage image(folder());
  const std::string path = counting::image_list_path(folder().path());
  ASSERT_EQ(::truncate(path.c_str(), 4), 0);
  EXPECT_EQ(folder().count_images(), 1u);
  EXPECT_EQ(ended(true), Numbers());
  Ledger ledger;
  ImageAccounts().close(folder(), ledger);
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  EXPECT_EQ(folder().count_images(), 0u);
}

}  // namespace
}  // namespace culprit
