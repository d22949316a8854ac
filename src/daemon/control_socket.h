#pragma once

// ControlSocket: the socket at which a daemon is asked (SOCK_SEQPACKET: one request, one answer).
// Only root, the daemon's own user and members of the socket's group are heard; a request is one
// short line; nobody can make the daemon wait.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor_set.h"
#include "base/file.h"
#include "base/result.h"

namespace culprit {

class ControlSocket {
 public:
  /// Makes the socket at `path`; an old one there, which nobody answers at, is replaced.
  static Result<ControlSocket> listen(const std::string& path);
  ControlSocket(ControlSocket&&) noexcept = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  /// Readable when something is to be done: attend().
  [[nodiscard]] int descriptor() const { return ready_.get(); }
  /// Those that are connected and have not asked yet.
  [[nodiscard]] size_t clients() const { return clients_.size(); }

  /// Takes what is there: `answer` gets each request of somebody who may ask, and its text is
  /// sent back.
  void attend(const std::function<std::string(std::string_view)>& answer);

 private:
  struct Client {
    Fd fd;
    uint64_t since_ns = 0;
    bool may_ask = false;
  };
  ControlSocket(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {
    ready_.add(fd_.get());
  }
  void accept_all();
  [[nodiscard]] bool may_ask(int client) const;

  std::string path_;
  Fd fd_;
  DescriptorSet ready_;
  std::vector<Client> clients_;
};

/// Asks the daemon at `path`. Errors: nobody is there, or it does not answer.
Result<std::string> ask_daemon(const std::string& path, const std::string& request);

/// What an answer begins with when the request was refused.
inline constexpr std::string_view kRefused = "refused: ";

}  // namespace culprit
