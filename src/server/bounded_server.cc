#include "server/bounded_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace culprit {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWriteMilliseconds = 5000;  // how long a client may take nothing of its answer
constexpr std::string_view kTooLong =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: "
    "0\r\n\r\n";

bool wait_for(int socket, short what, int milliseconds) {
  pollfd one{socket, what, 0};
  return ::poll(&one, 1, milliseconds) == 1;
}

enum class HeadEnd { whole, too_long, none };

/// A connection of which the library reads the head alone.
class HeadStream : public httplib::Stream {
 public:
  explicit HeadStream(int socket) : socket_(socket) {}

  HeadEnd read_head() {
    const Clock::time_point end =
        Clock::now() + std::chrono::milliseconds(BoundedServer::kHeadMilliseconds);
    while (head_.size() < BoundedServer::kMostHeadBytes) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0 || !wait_for(socket_, POLLIN, static_cast<int>(left))) return HeadEnd::none;
      std::array<char, 4096> buffer{};
      const ssize_t size =
          ::recv(socket_, buffer.data(),
                 std::min(buffer.size(), BoundedServer::kMostHeadBytes - head_.size()), 0);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return HeadEnd::none;
      const size_t before = std::min<size_t>(head_.size(), 2);
      head_.append(buffer.data(), static_cast<size_t>(size));
      const size_t blank = head_.find("\n\r\n", head_.size() - static_cast<size_t>(size) - before);
      if (blank == head_.npos) continue;
      head_.resize(blank + 3);
      return HeadEnd::whole;
    }
    return HeadEnd::too_long;
  }

  /// What has come behind the head and nobody reads: else closing would reset the connection, and
  /// the answer would be lost.
  void drop_rest() {
    std::array<char, 65536> buffer{};
    ::shutdown(socket_, SHUT_WR);
    for (int i = 0; i < 16 && wait_for(socket_, POLLIN, 100); ++i) {
      if (::recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT) <= 0) return;
    }
  }

  [[nodiscard]] bool is_readable() const override { return read_ < head_.size(); }
  [[nodiscard]] bool is_writable() const override {
    return wait_for(socket_, POLLOUT, kWriteMilliseconds);
  }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, head_.size() - read_);
    std::memcpy(to, head_.data() + read_, count);
    read_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    if (!is_writable()) return -1;
    const ssize_t sent = ::send(socket_, from, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return 0;  // the library tries again
    return sent;
  }
  // The server's own rules do not ask who it is.
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return socket_; }

 private:
  int socket_;
  std::string head_;
  size_t read_ = 0;
};

}  // namespace

bool BoundedServer::process_and_close_socket(socket_t socket) {
  HeadStream stream(socket);
  bool is_answered = false;
  switch (stream.read_head()) {
    case HeadEnd::whole: {
      bool is_closed = false;
      is_answered = process_request(stream, true, is_closed, nullptr);
      stream.drop_rest();
      break;
    }
    case HeadEnd::too_long:
      stream.httplib::Stream::write(std::string(kTooLong));
      stream.drop_rest();
      break;
    case HeadEnd::none:
      break;
  }
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  return is_answered;
}

}  // namespace culprit
