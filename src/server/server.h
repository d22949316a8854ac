#pragma once

// A server of HTTP for the page, on a thread of its own (cpp-httplib).
//
//     http://127.0.0.1:PORT/WORD/            the page
//     …/WORD/app.js, app.css                 what it is made of
//     …/WORD/profiles                        schema/web_profiles.schema.json
//     …/WORD/d/N/NAME                        a document of profile N (documents.h)
//     …/WORD/diff/A/B                        what changed between two: schema/diff.schema.json
//
// Nothing else is answered, and nothing to who does not know WORD: 404 for all alike.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "snapshot/snapshot.h"

namespace culprit {

struct ServerOptions {
  std::vector<std::string> files;  // profiles
  std::string address = "127.0.0.1";
  uint16_t port = 0;          // 0: any that is free
  SnapshotProgress progress;  // of what the first opening of an epoch looks up
};

class Server {
 public:
  /// Opens the profiles and listens.
  /// Errors: a profile that cannot be read; an address or port that cannot be had; this build has
  /// no page
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What to type into a browser.
  [[nodiscard]] std::string url() const;

  /// How many documents were asked for until now, and answered.
  [[nodiscard]] uint64_t answered() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
