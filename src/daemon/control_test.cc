// What may be said to a daemon, and by whom.

#include <gtest/gtest.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/file.h"
#include "daemon/control_request.h"
#include "daemon/control_socket.h"
#include "daemon/daemon.h"
#include "daemon/daemon_status.h"

namespace culprit {
namespace {

TEST(ControlRequest, Verbs) {
  EXPECT_EQ(parse_control_request("status")->verb, ControlVerb::status);
  EXPECT_EQ(parse_control_request(" stop\n")->verb, ControlVerb::stop);
  const Result<ControlRequest> rate = parse_control_request("rate 499.5");
  ASSERT_TRUE(rate);
  EXPECT_EQ(rate->rate_hz, 499.5);
  const Result<ControlRequest> label = parse_control_request("label build = 17");
  ASSERT_TRUE(label);
  EXPECT_EQ(label->key, "build");
  EXPECT_EQ(label->value, "17");
  const Result<ControlRequest> events = parse_control_request("events {a,b} page-faults");
  ASSERT_TRUE(events);
  EXPECT_EQ(events->value, "{a,b} page-faults");
}

TEST(ControlRequest, RefusesNonsense) {
  for (const std::string& line :
       {std::string(), std::string("stopp"), std::string("rate"), std::string("rate -1"),
        std::string("rate 0"), std::string("rate nan"), std::string("rate inf"),
        std::string("rate 1e9"), std::string("rate 100 200"), std::string("status now"),
        std::string("events"), std::string("events a\x1b[2J"), std::string("label"),
        std::string("label =x"), std::string("label a\x1b[2J=x"), std::string("\0\0\0\0", 4),
        std::string(100'000, 'a')}) {
    EXPECT_FALSE(parse_control_request(line)) << line.substr(0, 50);
  }
}

TEST(DaemonPeriod, IsPrimeAndNearTheRate) {
  for (const double rate_hz : {1.0, 99.0, 999.0, 1000.0, 20'000.0}) {
    const uint64_t period_ns = choose_period_ns(rate_hz);
    EXPECT_NEAR(1e9 / static_cast<double>(period_ns), rate_hz, rate_hz * 1e-3);
    for (uint64_t factor = 2; factor < 1000; ++factor) EXPECT_NE(period_ns % factor, 0u);
  }
}

class ControlSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made);
    folder_.emplace(*std::move(made));
    path_ = folder_->path() + "/socket";
    Result<ControlSocket> socket = ControlSocket::listen(path_);
    ASSERT_TRUE(socket) << socket.error().message;
    socket_.emplace(*std::move(socket));
  }

  /// The socket attends while `client` runs.
  void attend_while(const auto& client) {
    bool is_done = false;
    std::thread thread([&] {
      client();
      __atomic_store_n(&is_done, true, __ATOMIC_SEQ_CST);
    });
    while (!__atomic_load_n(&is_done, __ATOMIC_SEQ_CST)) {
      pollfd ready{socket_->descriptor(), POLLIN, 0};
      ::poll(&ready, 1, 5);
      socket_->attend([&](std::string_view line) {
        heard_.emplace_back(line);
        return "answer to " + std::string(line);
      });
    }
    thread.join();
  }

  Fd connect_raw() const {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path_.copy(name.sun_path, sizeof name.sun_path - 1);
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&name), sizeof name), 0);
    return fd;
  }

  std::optional<TemporaryFolder> folder_;
  std::string path_;
  std::optional<ControlSocket> socket_;
  std::vector<std::string> heard_;
};

TEST_F(ControlSocketTest, AnswersEachRequestOnce) {
  attend_while([&] {
    for (int i = 0; i < 3; ++i) {
      const Result<std::string> answer = ask_daemon(path_, "status");
      ASSERT_TRUE(answer) << answer.error().message;
      EXPECT_EQ(*answer, "answer to status");
    }
  });
  EXPECT_EQ(heard_, (std::vector<std::string>{"status", "status", "status"}));
}

TEST_F(ControlSocketTest, RefusesWhatIsTooLong) {
  attend_while([&] {
    const Result<std::string> answer = ask_daemon(path_, std::string(kLongestRequest + 1, 'x'));
    ASSERT_FALSE(answer);
    EXPECT_NE(answer.error().message.find("too long"), std::string::npos);
  });
  EXPECT_TRUE(heard_.empty());
}

TEST_F(ControlSocketTest, SilentClientsKeepNobodyWaiting) {
  attend_while([&] {
    std::vector<Fd> silent;
    for (int i = 0; i < 40; ++i) silent.push_back(connect_raw());
    const Result<std::string> answer = ask_daemon(path_, "flush");
    EXPECT_TRUE(answer);
  });
  EXPECT_EQ(heard_, (std::vector<std::string>{"flush"}));
  EXPECT_LE(socket_->clients(), 16u);
}

TEST_F(ControlSocketTest, ClientsThatGoWithoutAWordDoNoHarm) {
  attend_while([&] {
    for (int i = 0; i < 20; ++i) connect_raw();
    const Fd rude = connect_raw();
    ::send(rude.get(), "status", 6, MSG_NOSIGNAL);  // and does not wait
  });
  attend_while([&] { EXPECT_TRUE(ask_daemon(path_, "epoch")); });
  EXPECT_EQ(heard_.back(), "epoch");
}

TEST_F(ControlSocketTest, StrangersAreNotHeard) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a stranger";
  // Even where the folder and the socket's mode would let them.
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  int status = 0;
  attend_while([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(3);
      const Result<std::string> answer = ask_daemon(path_, "stop");
      ::_exit(!answer && answer.error().message.find("are heard") != std::string::npos ? 0 : 1);
    }
    ::waitpid(child, &status, 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(heard_.empty());
}

TEST_F(ControlSocketTest, ASecondOneAtAPathIsRefused) {
  attend_while([&] { EXPECT_FALSE(ControlSocket::listen(path_)); });
  socket_.reset();
  EXPECT_FALSE(file_exists(path_));
  EXPECT_FALSE(ask_daemon(path_, "status"));
}

TEST_F(ControlSocketTest, PathsMayBeLongerThanAddresses) {
  std::string folder = folder_->path();
  for (int i = 0; i < 4; ++i) {
    folder += "/" + std::string(40, 'x');
    ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  }
  path_ = folder + "/socket";
  Result<ControlSocket> far = ControlSocket::listen(path_);
  ASSERT_TRUE(far) << far.error().message;
  socket_.reset();
  socket_.emplace(*std::move(far));
  attend_while([&] { EXPECT_TRUE(ask_daemon(path_, "status")); });
}

TEST(DaemonStatusText, ComesBackFromJson) {
  DaemonStatus status;
  status.database = "/var/lib/culprit";
  status.collector = "eBPF";
  status.rate_hz = 999.5;
  status.is_paused = true;
  status.in_all.handled = 12345;
  status.in_epoch.unknown_busy = 3;
  status.events = {{"page-faults", 101, 5050, 4000, 2000}};
  status.removed_epochs = 3;
  status.removed_bytes = 3 << 20;
  status.problems = {"a \x1b[2J problem"};
  status.missing_rights = {"without CAP_SYSLOG: less"};
  const Result<DaemonStatus> back = parse_status(print_status_json(status));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->rate_hz, 999.5);
  EXPECT_TRUE(back->is_paused);
  EXPECT_EQ(back->in_all.handled, 12345u);
  EXPECT_EQ(back->in_epoch.unknown_busy, 3u);
  ASSERT_EQ(back->events.size(), 1u);
  EXPECT_EQ(back->events[0].name, "page-faults");
  EXPECT_EQ(back->events[0].value, 5050u);
  EXPECT_EQ(back->events[0].running_ns, 2000u);
  EXPECT_NE(print_status_text(*back).find("5,050 page-faults, a sample of 101, 50 % of the time"),
            std::string::npos);
  EXPECT_EQ(back->removed_bytes, 3u << 20);
  EXPECT_NE(print_status_text(*back).find("the oldest 3, "), std::string::npos);
  EXPECT_EQ(back->problems.front().find('\x1b'), std::string::npos);
  EXPECT_EQ(back->missing_rights, status.missing_rights);
  for (const char* bad : {"", "{}", "[1]", "{\"schema\":\"culprit-daemon-status-2\"}",
                          "{\"schema\":7}", "{\"schema\":\"culprit-daemon-status-1\""}) {
    EXPECT_FALSE(parse_status(bad)) << bad;
  }
  EXPECT_TRUE(
      parse_status("{\"schema\":\"culprit-daemon-status-1\",\"pid\":-1,\"cpus\":1e300,"
                   "\"in_all\":[],\"problems\":{},\"events\":[7,{\"name\":7}]}"));
}

}  // namespace
}  // namespace culprit
