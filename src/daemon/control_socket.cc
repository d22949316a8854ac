#include "daemon/control_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/time.h"
#include "daemon/control_request.h"

namespace culprit {

namespace {

constexpr size_t kMostClients = 16;
constexpr uint64_t kLongestSilenceNs = 5'000'000'000;

/// An address for paths that are longer than addresses may be: through a descriptor of the folder.
struct SocketAddress {
  sockaddr_un name{};
  Fd folder;
};

Result<SocketAddress> make_address(const std::string& path) {
  SocketAddress address;
  address.name.sun_family = AF_UNIX;
  std::string text = path;
  if (text.size() >= sizeof address.name.sun_path) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
    address.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder) return errno_error("cannot open the folder '" + folder + "'", errno);
    text = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), path.substr(slash + 1));
  }
  if (text.size() >= sizeof address.name.sun_path)
    return Error{"'" + path + "' is too long a name"};
  std::memcpy(address.name.sun_path, text.c_str(), text.size() + 1);
  return address;
}

const sockaddr* as_address(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

Result<Fd> connect_to(const std::string& path) {
  ASSIGN_OR_RETURN(const SocketAddress address, make_address(path));
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd) return errno_error("cannot make a socket", errno);
  if (::connect(fd.get(), as_address(address), sizeof address.name) != 0) {
    return errno_error("'" + path + "'", errno);
  }
  return fd;
}

}  // namespace

Result<ControlSocket> ControlSocket::listen(const std::string& path) {
  if (connect_to(path)) return Error{"somebody answers at '" + path + "' already"};
  ::unlink(path.c_str());
  ASSIGN_OR_RETURN(const SocketAddress address, make_address(path));
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return errno_error("cannot make a socket", errno);
  const mode_t before = ::umask(0117);  // user and group
  const int failed = ::bind(fd.get(), as_address(address), sizeof address.name);
  const int reason = errno;
  ::umask(before);
  if (failed != 0) return errno_error("cannot make the socket '" + path + "'", reason);
  if (::listen(fd.get(), 8) != 0) return errno_error("cannot listen at '" + path + "'", errno);
  return ControlSocket(path, std::move(fd));
}

ControlSocket::~ControlSocket() {
  if (fd_) ::unlink(path_.c_str());
}

bool ControlSocket::may_ask(int client) const {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.uid == 0 || peer.uid == ::geteuid()) return true;
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0) return false;
  if (status.st_gid == 0) return false;  // root's group is everybody's where nobody set one
  if (peer.gid == status.st_gid) return true;
  std::vector<gid_t> groups(1024);
  size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(client, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  groups.resize(size / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), status.st_gid) != groups.end();
}

void ControlSocket::accept_all() {
  while (true) {
    Fd fd(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    // Whoever has been silent for longest goes first.
    if (clients_.size() >= kMostClients) clients_.erase(clients_.begin());
    const bool may = may_ask(fd.get());
    ready_.add(fd.get());
    clients_.push_back({std::move(fd), monotonic_ns(), may});
  }
}

void ControlSocket::attend(const std::function<std::string(std::string_view)>& answer) {
  // An accept() that finds nobody has made a socket first.
  if (clients_.empty() && !ready_.is_readable()) return;
  accept_all();
  const uint64_t now = monotonic_ns();
  std::erase_if(clients_, [&](const Client& client) {
    char text[kLongestRequest + 1];
    iovec piece{text, sizeof text};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    const ssize_t got = ::recvmsg(client.fd.get(), &message, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return now - client.since_ns > kLongestSilenceNs;
    }
    if (got <= 0) return true;
    std::string reply;
    if (!client.may_ask) {
      reply = std::string(kRefused) +
              "only root, the daemon's user and members of its socket's group are heard";
    } else if ((message.msg_flags & MSG_TRUNC) != 0 || static_cast<size_t>(got) > kLongestRequest) {
      reply = std::string(kRefused) + "the request is too long";
    } else {
      reply = answer(std::string_view(text, static_cast<size_t>(got)));
    }
    ::send(client.fd.get(), reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return true;
  });
}

Result<std::string> ask_daemon(const std::string& path, const std::string& request) {
  constexpr size_t kLongestAnswer = 1 << 16;
  constexpr int kSeconds = 30;
  Result<Fd> fd = connect_to(path);
  if (!fd) {
    return Error{
        fmt::format("no daemon answers ({}): start one with culprit daemon, or name its "
                    "database with --db",
                    fd.error().message)};
  }
  const timeval patience{kSeconds, 0};
  ::setsockopt(fd->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::send(fd->get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return errno_error("cannot ask the daemon at '" + path + "'", errno);
  }
  std::string text(kLongestAnswer, '\0');
  const ssize_t got = ::recv(fd->get(), text.data(), text.size(), 0);
  if (got <= 0) {
    return Error{fmt::format("the daemon at '{}' did not answer{}", path,
                             got < 0 ? fmt::format(" ({})", std::strerror(errno)) : "")};
  }
  text.resize(static_cast<size_t>(got));
  if (text.starts_with(kRefused)) return Error{text.substr(kRefused.size())};
  return text;
}

}  // namespace culprit
