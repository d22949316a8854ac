// What root may read for others, and what not: decided by the kernel, for files that another user
// owns, on ways that he may not walk.

#include "snapshot/reading_rights.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "binary/test_programs.h"
#include "snapshot/find_files.h"

namespace culprit {
namespace {

using test::run;
using test::write_text;

constexpr uid_t kUser = 12345;  // whom the system does not know: in no group
constexpr uid_t kOther = 23456;

class ReadingRightsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
    ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  }

  std::string make(const std::string& name, uid_t owner, mode_t mode) const {
    const std::string path = folder_.path() + "/" + name;
    write_text(path, "text\n");
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static ReadingRights of(const std::string& path) { return ReadingRights::of_owner(path); }

  TemporaryFolder folder_ = *TemporaryFolder::make();
};

TEST_F(ReadingRightsTest, AreThoseOfWhoeverMayHaveWrittenTheFile) {
  const ReadingRights ours;
  const ReadingRights everybody = ReadingRights::of_everybody();
  const ReadingRights user = of(make("his", kUser, 0755));
  EXPECT_EQ(of(make("ours", 0, 0755)), ours);
  EXPECT_EQ(of(make("anybodys", 0, 0757)), everybody);
  EXPECT_EQ(of(make("a user's, for all", kUser, 0757)), everybody);
  EXPECT_EQ(of(folder_.path() + "/absent"), everybody);
  EXPECT_NE(user, ours);
  EXPECT_NE(user, everybody);
  EXPECT_EQ(user.narrowed(ours), user);
  EXPECT_EQ(ours.narrowed(user), user);
  EXPECT_EQ(user.narrowed(user), user);
  EXPECT_EQ(user.narrowed(of(make("another's", kOther, 0755))), everybody);
  EXPECT_EQ(ours.narrowed(everybody), everybody);
}

TEST_F(ReadingRightsTest, TheKernelDecidesWhatIsOpened) {
  const ReadingRights user = of(make("program", kUser, 0755));
  const std::string secret = make("secret", 0, 0600);
  EXPECT_TRUE(open_as({}, secret).fd);
  const OpenedAs refused = open_as(user, secret);
  EXPECT_FALSE(refused.fd);
  EXPECT_TRUE(refused.is_refused);
  EXPECT_FALSE(open_as(ReadingRights::of_everybody(), secret).fd);
  EXPECT_TRUE(open_as(user, make("his", kUser, 0600)).fd);
  EXPECT_FALSE(open_as(user, make("another's", kOther, 0600)).fd);
  EXPECT_FALSE(open_as(ReadingRights::of_everybody(), folder_.path() + "/his").fd);
  EXPECT_TRUE(open_as(ReadingRights::of_everybody(), make("public", kOther, 0644)).fd);
  EXPECT_FALSE(open_as(user, make("our group's", 0, 0640)).fd);  // root's groups are gone, too

  // The file itself is public; the folder on the way is not.
  const std::string closed = folder_.path() + "/closed";
  std::filesystem::create_directory(closed);
  make("closed/public", 0, 0644);
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
  EXPECT_FALSE(open_as(user, closed + "/public").fd);

  std::filesystem::create_symlink(secret, folder_.path() + "/link");
  EXPECT_FALSE(open_as(user, folder_.path() + "/link").fd);
  const OpenedAs absent = open_as(user, folder_.path() + "/absent");
  EXPECT_FALSE(absent.fd);
  EXPECT_FALSE(absent.is_refused);
}

TEST_F(ReadingRightsTest, CapabilitiesAreGone) {
  // CAP_SYS_PTRACE opens the folder in which a process is through /proc, whatever the modes on the
  // way to it.
  const ReadingRights user = of(make("program", kUser, 0755));
  const std::string closed = folder_.path() + "/closed";
  std::filesystem::create_directory(closed);
  make("closed/public", 0, 0644);
  ASSERT_EQ(::chmod(closed.c_str(), 0700), 0);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::chdir(closed.c_str()) != 0 || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const std::string past = "/proc/" + std::to_string(child) + "/cwd/public";
  EXPECT_TRUE(open_as({}, past).fd);
  EXPECT_FALSE(open_as(user, past).fd);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(ReadingRightsTest, ComeBackWithTheEndOfTheGuard) {
  const ReadingRights user = of(make("program", kUser, 0755));
  const std::string secret = make("secret", 0, 0600);
  const std::string before = run("grep -E '^(Uid|Gid|Groups|Cap)' /proc/self/status");
  {
    const ReadingGuard guard(user);
    EXPECT_TRUE(guard.is_in_force());
    EXPECT_FALSE(open_readable(secret));
  }
  EXPECT_TRUE(open_readable(secret));
  EXPECT_EQ(run("grep -E '^(Uid|Gid|Groups|Cap)' /proc/self/status"), before);
  EXPECT_EQ(::setfsuid(static_cast<uid_t>(-1)), 0);
  EXPECT_EQ(::setfsgid(static_cast<gid_t>(-1)), static_cast<int>(::getegid()));
}

TEST_F(ReadingRightsTest, OnlyRegularFilesAreOpened) {
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  EXPECT_FALSE(open_as({}, pipe).fd);
  EXPECT_FALSE(open_as({}, "/dev/null").fd);
  EXPECT_FALSE(open_as({}, folder_.path()).fd);
  EXPECT_FALSE(open_as({}, "/proc/self/environ").fd);  // "regular", and full of our secrets
  EXPECT_FALSE(open_as({}, "/sys/kernel/notes").fd);
}

TEST(PlaceBelow, NeverLeavesTheFolder) {
  EXPECT_EQ(place_below("/sym", "/usr/src/a.c"), "/sym/usr/src/a.c");
  EXPECT_EQ(place_below("/sym", "a.c"), "/sym/a.c");
  EXPECT_EQ(place_below("/sym", "/build/../src/a.c"), "/sym/src/a.c");
  EXPECT_EQ(place_below("/sym", "/../../etc/shadow"), "/sym/etc/shadow");
  EXPECT_EQ(place_below("/sym", "../../etc/shadow"), "/sym/etc/shadow");
}

}  // namespace
}  // namespace culprit
