// The client library is loaded when it is first needed: with its network libraries it
// takes longer to load than most reports to make.

#include "snapshot/debuginfod.h"

#include <cerrno>
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

/// How long servers were waited for without data coming, of all files together: a server that
/// takes connections and never answers must not hold a recording by the number of its images.
class Waiting {
 public:
  /// `done` is what the client says: bytes once a server answers, the number of its turns before
  /// that. So a turn that moves it by one, or not at all, brought nothing.
  void note(long done) {
    const Clock::time_point now = Clock::now();
    const bool brought_nothing = done - last_done_ >= 0 && done - last_done_ <= 1;
    if (brought_nothing) waited_ += now - last_;
    last_done_ = done;
    last_ = now;
  }
  void begin() {
    last_done_ = 0;
    last_ = Clock::now();
    waited_before_ = waited_;
  }
  /// The servers answered after all, if only that they do not have it.
  void forgive() {
    if (!is_over()) waited_ = waited_before_;
  }
  void set_patience(Clock::duration patience) {
    patience_ = patience;
    waited_ = {};
  }
  [[nodiscard]] bool is_over() const { return waited_ >= patience_; }

 private:
  Clock::duration patience_ = std::chrono::seconds(30);
  Clock::duration waited_{};
  Clock::duration waited_before_{};
  Clock::time_point last_;
  long last_done_ = 0;
};

std::mutex one_at_a_time;  // images are read by two threads
Waiting waiting;           // guarded by it

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
  waiting.note(done);
  return waiting.is_over() ? 1 : 0;
}

struct ClientEnd {
  void operator()(debuginfod_client* client) const { library().end(client); }
};

}  // namespace

std::optional<std::string> fetch_from_debuginfod(const std::string& build_id, DebuginfodKind kind) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  if (servers == nullptr || *servers == '\0') return std::nullopt;
  const std::lock_guard lock(one_at_a_time);
  if (waiting.is_over()) return std::nullopt;

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
  waiting.note(0);  // since it was last called
  if (fd >= 0 || fd == -ENOENT) waiting.forgive();
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
