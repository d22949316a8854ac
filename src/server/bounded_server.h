#pragma once

// cpp-httplib's server with bounds on what it reads. By itself it takes lines and headers without
// end into memory, and waits as long for each byte as for all of them, so that a few connections
// that send a byte a second keep everybody else out. Here the head of a request is read whole
// first, in so many bytes and so much time; the library sees the head and then the end of the
// stream. Bodies are never read, and each connection carries one request, so that nothing that
// follows a head can pass for another.

#include <httplib.h>

namespace culprit {

class BoundedServer : public httplib::Server {
 public:
  static constexpr size_t kMostHeadBytes = 16384;
  static constexpr int kHeadMilliseconds = 2000;

 private:
  /// Answers the request on the connection and closes it: 431 if its head is too long, nothing if
  /// it does not come in time.
  bool process_and_close_socket(socket_t socket) override;
};

}  // namespace culprit
