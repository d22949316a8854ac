#include "snapshot/debuginfod.h"

#include <chrono>
#include <cstdlib>
#include <elfutils/debuginfod.h>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace culprit {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(30);

struct Progress {
  long bytes = 0;
  Clock::time_point last_change = Clock::now();
};

/// Called by the client about every tenth of a second; non-zero gives up.
int watch(debuginfod_client* client, long done, long /*total*/) {
  auto& progress = *static_cast<Progress*>(debuginfod_get_user_data(client));
  if (done != progress.bytes) progress = {done, Clock::now()};
  return Clock::now() - progress.last_change > kPatience ? 1 : 0;
}

struct ClientEnd {
  void operator()(debuginfod_client* client) const { debuginfod_end(client); }
};

}  // namespace

std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') return std::nullopt;
  static std::mutex one_at_a_time;  // images are read by two threads
  const std::lock_guard lock(one_at_a_time);

  const std::unique_ptr<debuginfod_client, ClientEnd> client(debuginfod_begin());
  if (!client) return std::nullopt;
  Progress progress;
  debuginfod_set_user_data(client.get(), &progress);
  debuginfod_set_progressfn(client.get(), watch);
  const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());  // length 0: text
  char* path = nullptr;
  const int fd = kind == DebuginfodKind::executable
                     ? debuginfod_find_executable(client.get(), id, 0, &path)
                     : debuginfod_find_debuginfo(client.get(), id, 0, &path);
  if (fd < 0) return std::nullopt;
  ::close(fd);
  std::optional<std::string> result;
  if (path != nullptr) result = path;
  std::free(path);
  return result;
}

}  // namespace culprit
