// Servers that hold their clients. One that takes connections and says nothing is a listening
// socket: the kernel accepts.

#include "snapshot/debuginfod.h"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"

namespace culprit {
namespace {

using Clock = std::chrono::steady_clock;

/// A port of this machine, and the environment that makes it the debuginfod server.
class Debuginfod : public testing::Test {
 protected:
  void SetUp() override {
    listening_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening_.get(), 16), 0);
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    ::setenv("DEBUGINFOD_CACHE_PATH", cache_.path().c_str(), 1);
    ::setenv("DEBUGINFOD_URLS",
             ("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port))).c_str(), 1);
    set_debuginfod_patience(std::chrono::milliseconds(500));
    EXPECT_FALSE(has_given_up_debuginfod());
  }
  void TearDown() override {
    ::unsetenv("DEBUGINFOD_URLS");
    set_debuginfod_patience(std::chrono::seconds(30));
  }

  const std::string id_ = "0123456789abcdef0123456789abcdef01234567";
  const TemporaryFolder cache_ = *TemporaryFolder::make();
  Fd listening_;
};

/// Answers one request: 1 kB a second, of a file that has no end.
void drip(int listening, const std::atomic<bool>& ends) {
  const Fd connection(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  char request[4096];
  static_cast<void>(::recv(connection.get(), request, sizeof request, 0));
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n";
  while (!ends && ::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL) > 0) {
    answer = std::string(200, 'x');
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// It takes a second: the client says how far it is once a second where nothing comes.
TEST_F(Debuginfod, AServerThatDripsIsWaitedForNoLongerThanOneThatSaysNothing) {
  std::atomic<bool> ends = false;
  std::thread server([&] { drip(listening_.get(), ends); });
  const Clock::time_point start = Clock::now();
  const auto fetched = fetch_from_debuginfod(id_, DebuginfodKind::executable, nullptr);
  const auto took = Clock::now() - start;
  ends = true;
  ::shutdown(listening_.get(), SHUT_RDWR);  // ends accept() where there is no client
  server.join();
  EXPECT_FALSE(fetched);
  if (took < std::chrono::milliseconds(100)) GTEST_SKIP() << "no libdebuginfod here";
  EXPECT_TRUE(has_given_up_debuginfod());
  EXPECT_LT(took, std::chrono::seconds(20));
}

TEST_F(Debuginfod, NobodyWaitsOnceItIsStopped) {
  set_debuginfod_patience(std::chrono::seconds(30));
  std::atomic<bool> stop = false;
  std::thread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const Clock::time_point start = Clock::now();
  EXPECT_FALSE(fetch_from_debuginfod(id_, DebuginfodKind::executable, &stop));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(15));
  stopping.join();
  EXPECT_FALSE(has_given_up_debuginfod());
  EXPECT_FALSE(fetch_from_debuginfod(id_, DebuginfodKind::debug_info, &stop));
}

TEST_F(Debuginfod, AServerThatNeverAnswersIsWaitedForOnceOfAllFiles) {
  // The client asks whether to go on once a second; without that it would take its 90 s.
  const Clock::time_point start = Clock::now();
  EXPECT_FALSE(fetch_from_debuginfod(id_, DebuginfodKind::executable, nullptr));
  if (Clock::now() - start < std::chrono::milliseconds(100))
    GTEST_SKIP() << "no libdebuginfod here";
  EXPECT_TRUE(has_given_up_debuginfod());
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
  const Clock::time_point second = Clock::now();
  for (int i = 0; i < 100; ++i)
    EXPECT_FALSE(fetch_from_debuginfod(id_, DebuginfodKind::debug_info, nullptr));
  EXPECT_LT(Clock::now() - second, std::chrono::seconds(1));
}

}  // namespace
}  // namespace culprit
