// The client library is loaded when it is first needed: with its network libraries it
// takes longer to load than most reports to make.

#include "snapshot/debuginfod.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
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

/// The functions of the library; null where it is not installed.
struct Library {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_end) end = nullptr;
  decltype(&debuginfod_set_user_data) set_user_data = nullptr;
  decltype(&debuginfod_get_user_data) get_user_data = nullptr;
  decltype(&debuginfod_set_progressfn) set_progressfn = nullptr;
  decltype(&debuginfod_find_executable) find_executable = nullptr;
  decltype(&debuginfod_find_debuginfo) find_debuginfo = nullptr;

  [[nodiscard]] bool is_complete() const {
    return begin && end && set_user_data && get_user_data && set_progressfn && find_executable &&
           find_debuginfo;
  }
};

template <class Function>
void look_up(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(handle, name));
}

Library load_library() {
  Library lib;
  void* handle = ::dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return lib;
  look_up(handle, "debuginfod_begin", lib.begin);
  look_up(handle, "debuginfod_end", lib.end);
  look_up(handle, "debuginfod_set_user_data", lib.set_user_data);
  look_up(handle, "debuginfod_get_user_data", lib.get_user_data);
  look_up(handle, "debuginfod_set_progressfn", lib.set_progressfn);
  look_up(handle, "debuginfod_find_executable", lib.find_executable);
  look_up(handle, "debuginfod_find_debuginfo", lib.find_debuginfo);
  return lib;
}

const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

/// Called by the client about every tenth of a second; non-zero gives up.
int watch(debuginfod_client* client, long done, long /*total*/) {
  auto& progress = *static_cast<Progress*>(library().get_user_data(client));
  if (done != progress.bytes) progress = {done, Clock::now()};
  return Clock::now() - progress.last_change > kPatience ? 1 : 0;
}

struct ClientEnd {
  void operator()(debuginfod_client* client) const { library().end(client); }
};

}  // namespace

std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') return std::nullopt;
  static std::mutex one_at_a_time;  // images are read by two threads
  const std::lock_guard lock(one_at_a_time);

  const Library& lib = library();
  if (!lib.is_complete()) return std::nullopt;
  const std::unique_ptr<debuginfod_client, ClientEnd> client(lib.begin());
  if (!client) return std::nullopt;
  Progress progress;
  lib.set_user_data(client.get(), &progress);
  lib.set_progressfn(client.get(), watch);
  const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());  // length 0: text
  char* path = nullptr;
  const int fd = kind == DebuginfodKind::executable
                     ? lib.find_executable(client.get(), id, 0, &path)
                     : lib.find_debuginfo(client.get(), id, 0, &path);
  if (fd < 0) return std::nullopt;
  ::close(fd);
  std::optional<std::string> result;
  if (path != nullptr) result = path;
  std::free(path);
  return result;
}

}  // namespace culprit
