#include "recording/rank.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace culprit {
namespace {

class RankTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"PMIX_RANK", "PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"}) {
      ::unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
};

TEST_F(RankTest, IsWhatTheLauncherSays) {
  EXPECT_FALSE(find_rank());
  ::setenv("SLURM_PROCID", "7", 1);
  ASSERT_TRUE(find_rank());
  EXPECT_EQ(find_rank()->number, "7");
  ::setenv("OMPI_COMM_WORLD_RANK", "3", 1);  // mpirun within one srun
  EXPECT_EQ(find_rank()->number, "3");
  EXPECT_EQ(find_rank()->variable, "OMPI_COMM_WORLD_RANK");
}

TEST_F(RankTest, OneTaskIsNoRank) {
  ::setenv("SLURM_PROCID", "0", 1);
  ::setenv("SLURM_NTASKS", "1", 1);
  EXPECT_FALSE(find_rank());
}

TEST_F(RankTest, IsANumber) {
  for (const char* const text : {"", "-1", "../../x", "1234567890", "3 "}) {
    ::setenv("PMI_RANK", text, 1);
    EXPECT_FALSE(find_rank()) << text;
  }
}

TEST_F(RankTest, HasAFileOfItsOwn) {
  const Rank three{"3", ""};
  EXPECT_EQ(name_of_rank("profile.culprit", three), "profile.rank3.culprit");
  EXPECT_EQ(name_of_rank("a.b/out", three), "a.b/out.rank3");
  EXPECT_EQ(name_of_rank("a.b/.out", three), "a.b/.out.rank3");
}

}  // namespace
}  // namespace culprit
