// The client library is loaded when it is first needed: with its network libraries it
// takes longer to load than most reports to make.

#include "snapshot/debuginfod.h"

#include <algorithm>
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

/// How long servers were waited for, of all files together: neither one that takes connections and
/// never answers, nor one that drips, must hold a recording by the number of its images.
class Waiting {
 public:
  /// A file is asked for.
  void begin() {
    before_ = waited_;
    begin_ = Clock::now();
  }
  /// `done` is what the client says: bytes once a server answers, the number of its turns before
  /// that, which is too small to matter.
  void note(long done) {
    const Seconds useful(static_cast<double>(std::max(done, 0L)) / kUsefulBytesPerSecond);
    waited_ = before_ + std::max(Seconds(0), Seconds(Clock::now() - begin_) - useful);
  }
  void set_patience(Clock::duration patience) {
    patience_ = patience;
    waited_ = before_ = {};
  }
  [[nodiscard]] bool is_over() const { return waited_ >= patience_; }

 private:
  using Seconds = std::chrono::duration<double>;
  Seconds patience_ = std::chrono::seconds(30);
  Seconds waited_{};
  Seconds before_{};  // of the files before this one
  Clock::time_point begin_;
};

std::mutex one_at_a_time;  // images are read by two threads
// Guarded by it:
Waiting waiting;
const std::atomic<bool>* stop_wanted = nullptr;
long last_done = 0;  // of the file that is being fetched

bool is_stopped() {
  return stop_wanted != nullptr && stop_wanted->load();
}

/// The functions of the library; null where it is not installed.
struct Library {
  decltype(&debuginfod_begin) begin = nullptr;
  decltype(&debuginfod_end) end = nullptr;
  decltype(&debuginfod_set_progressfn) set_progressfn = nullptr;
  decltype(&debuginfod_find_executable) find_executable = nullptr;
  decltype(&debuginfod_find_debuginfo) find_debuginfo = nullptr;

  [[nodiscard]] bool is_complete() const {
    return begin && end && set_progressfn && find_executable && find_debuginfo;
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
  look_up(handle, "debuginfod_set_progressfn", lib.set_progressfn);
  look_up(handle, "debuginfod_find_executable", lib.find_executable);
  look_up(handle, "debuginfod_find_debuginfo", lib.find_debuginfo);
  return lib;
}

const Library& library() {
  static const Library loaded = load_library();
  return loaded;
}

/// Called by the client about once a second or more often; non-zero gives up.
int watch(debuginfod_client* /*client*/, long done, long /*total*/) {
  last_done = std::max(last_done, done);
  waiting.note(last_done);
  return waiting.is_over() || is_stopped() ? 1 : 0;
}

struct ClientEnd {
  void operator()(debuginfod_client* client) const { library().end(client); }
};

}  // namespace

std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind,
                                                 const std::atomic<bool>* stop) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') return std::nullopt;
  const std::lock_guard lock(one_at_a_time);
  stop_wanted = stop;
  last_done = 0;
  if (waiting.is_over() || is_stopped()) return std::nullopt;

  const Library& lib = library();
  if (!lib.is_complete()) return std::nullopt;
  const std::unique_ptr<debuginfod_client, ClientEnd> client(lib.begin());
  if (!client) return std::nullopt;
  lib.set_progressfn(client.get(), watch);
  waiting.begin();
  const auto* id = reinterpret_cast<const unsigned char*>(build_id.c_str());  // length 0: text
  char* path = nullptr;
  const int fd = kind == DebuginfodKind::executable
                     ? lib.find_executable(client.get(), id, 0, &path)
                     : lib.find_debuginfo(client.get(), id, 0, &path);
  waiting.note(last_done);  // since it was last called
  if (fd < 0) return std::nullopt;
  ::close(fd);
  std::optional<std::string> result;
  if (path != nullptr) result = path;
  std::free(path);
  return result;
}

bool has_given_up_debuginfod() {
  const std::lock_guard lock(one_at_a_time);
  return waiting.is_over();
}

void set_debuginfod_patience(std::chrono::milliseconds patience) {
  const std::lock_guard lock(one_at_a_time);
  waiting.set_patience(patience);
}

}  // namespace culprit
