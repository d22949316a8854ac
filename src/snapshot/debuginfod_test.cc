// A server that takes connections and says nothing: the kernel accepts for a listening socket.

#include "snapshot/debuginfod.h"

#include <arpa/inet.h>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Debuginfod, AServerThatNeverAnswersIsWaitedForOnceOfAllFiles) {
  const Fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening.get(), 16), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const TemporaryFolder cache = *TemporaryFolder::make();
  ::setenv("DEBUGINFOD_CACHE_PATH", cache.path().c_str(), 1);
  ::setenv("DEBUGINFOD_URLS",
           ("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))).c_str(), 1);
  set_debuginfod_patience(std::chrono::milliseconds(500));
  EXPECT_FALSE(has_given_up_debuginfod());

  // The client asks whether to go on once a second; without that it would take its 90 s.
  const Clock::time_point start = Clock::now();
  const std::string id = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_FALSE(fetch_from_debuginfod(id, DebuginfodKind::executable));
  if (Clock::now() - start < std::chrono::milliseconds(100))
    GTEST_SKIP() << "no libdebuginfod here";
  EXPECT_TRUE(has_given_up_debuginfod());
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
  const Clock::time_point second = Clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(fetch_from_debuginfod(id, DebuginfodKind::debug_info));
  EXPECT_LT(Clock::now() - second, std::chrono::seconds(1));
  ::unsetenv("DEBUGINFOD_URLS");
  set_debuginfod_patience(std::chrono::seconds(30));
}

}  // namespace
}  // namespace culprit
