#include "daemon/silent_files.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// As proc(5) has them; the second is one of sshfs.
constexpr std::string_view kMounts =
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n"
    "37 35 0:31 / /home/a\\040b rw,nosuid shared:7 master:2 - fuse.sshfs host:/ rw,user_id=0\n"
    "38 35 0:32 / /run rw - tmpfs tmpfs rw\n";

TEST(SilentFiles, FileSystemsAreFoundByDevice) {
  EXPECT_EQ(find_file_system(kMounts, 98, 0), "ext3");
  EXPECT_EQ(find_file_system(kMounts, 0, 31), "fuse.sshfs");
  EXPECT_EQ(find_file_system(kMounts, 0, 32), "tmpfs");
  EXPECT_EQ(find_file_system(kMounts, 0, 3), "");
}

TEST(SilentFiles, DamagedLinesSayNothing) {
  for (size_t length = 0; length < kMounts.size(); ++length) {
    find_file_system(kMounts.substr(0, length), 0, 31);
  }
  EXPECT_EQ(find_file_system("37 35 0:31 / /a rw -", 0, 31), "");
  EXPECT_EQ(find_file_system("37 35 0:31", 0, 31), "");
}

TEST(SilentFiles, SomeNeedAServer) {
  EXPECT_TRUE(needs_server("fuse"));
  EXPECT_TRUE(needs_server("fuse.sshfs"));
  EXPECT_TRUE(needs_server("nfs4"));
  for (const std::string_view local : {"ext4", "overlay", "tmpfs", "btrfs", "fuseblk", ""}) {
    EXPECT_FALSE(needs_server(local)) << local;
  }
}

}  // namespace
}  // namespace culprit
