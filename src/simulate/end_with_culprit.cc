#include "simulate/end_with_culprit.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording/close_descriptors.h"
#include "recording/process_folder.h"
#include "recording/signals.h"

namespace culprit {
namespace {

/// Whether the process is simulated with this folder, which counting_words() has written into the
/// options of the plugin.
bool is_simulated_in(const std::string& folder, pid_t pid) {
  std::string words(1 << 16, '\0');  // the engine's own come first
  const Fd fd(::open(("/proc/" + std::to_string(pid) + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd ? ::read(fd.get(), words.data(), words.size() - 1) : 0;
  words.resize(got > 0 ? static_cast<size_t>(got) : 0);
  const std::string word = ",folder=" + folder;
  const size_t at = words.find(word);
  if (at == std::string::npos) return false;
  const char after = words.c_str()[at + word.size()];
  return after == ',' || after == '\0';
}

/// Again until there are none: a process may fork while others are looked at.
void kill_simulated(const std::string& folder) {
  constexpr int kMostRounds = 1000;
  for (int round = 0; round < kMostRounds; ++round) {
    bool is_any_left = false;
    for (const uint32_t number : list_numbered_entries("/proc")) {
      const auto pid = static_cast<pid_t>(number);
      if (pid == ::getpid() || !is_simulated_in(folder, pid)) continue;
      is_any_left = ::kill(pid, SIGKILL) == 0 || is_any_left;
    }
    if (!is_any_left) return;
    ::usleep(2000);
  }
}

/// Of a message: what, the process, the folder.
constexpr size_t kMostBytes = PATH_MAX + 32;

/// What the watcher knows: the folders of simulations, by the process that began them.
class Simulations {
 public:
  void take(std::string_view message) {
    const char what = message.front();
    const size_t space = message.find(' ');
    const pid_t pid = std::atoi(std::string(message.substr(1, space - 1)).c_str());
    const std::string folder(message.substr(space + 1));
    if (what == kBegins) running_.emplace(pid, folder);
    if (what == kEnds) {
      std::erase_if(running_, [&](const auto& one) { return one.second == folder; });
    }
    if (what == kProcessEnded) {
      for (auto [one, end] = running_.equal_range(pid); one != end; one = running_.erase(one)) {
        kill_with_folder(one->second);
      }
    }
  }
  void kill_all() {
    for (const auto& [pid, folder] : running_) kill_with_folder(folder);
  }

  static constexpr char kBegins = '+';
  static constexpr char kEnds = '-';
  static constexpr char kProcessEnded = 'x';

 private:
  static void kill_with_folder(const std::string& folder) {
    kill_simulated(folder);
    // Who ends a moment later, a compiler of a scan, may write there meanwhile.
    constexpr int kTries = 100;
    std::error_code failed;
    for (int tried = 0; tried < kTries; ++tried) {
      std::filesystem::remove_all(folder, failed);
      if (!failed) return;
      ::usleep(20'000);
    }
  }

  std::multimap<pid_t, std::string> running_;
};

[[noreturn]] void watch(int culprit_lives) {
  ::setsid();
  ::prctl(PR_SET_NAME, "simulation-end");
  for (const int signal : kEndingSignals) ::signal(signal, SIG_IGN);
  close_descriptors(0, {culprit_lives});
  Simulations simulations;
  char message[kMostBytes];
  ssize_t got = 0;
  while ((got = ::read(culprit_lives, message, sizeof message)) > 0 ||
         (got < 0 && errno == EINTR)) {
    if (got > 0) simulations.take({message, static_cast<size_t>(got)});
  }
  if (got == 0) simulations.kill_all();
  ::_exit(0);
}

}  // namespace

EndWatcher::EndWatcher() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  maker_ = ::getpid();
  watcher_ = ::fork();
  if (watcher_ == 0) {
    writer.reset();
    watch(reader.get());
  }
  if (watcher_ > 0) culprit_lives_ = std::move(writer);
}

EndWatcher::~EndWatcher() {
  if (watcher_ <= 0 || maker_ != ::getpid()) return;
  ::kill(watcher_, SIGKILL);
  while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) continue;
}

/// Somebody may have killed the watcher: that must not end us.
void EndWatcher::tell(char what, pid_t pid, const std::string& folder) const {
  const std::string message = what + std::to_string(pid) + ' ' + folder;
  if (!culprit_lives_ || message.size() > kMostBytes) return;
  while (::send(culprit_lives_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0 &&
         errno == EINTR) {
    continue;
  }
}

void EndWatcher::begin(const std::string& folder) const {
  tell(Simulations::kBegins, ::getpid(), folder);
}

void EndWatcher::end(const std::string& folder) const {
  tell(Simulations::kEnds, ::getpid(), folder);
}

void EndWatcher::end_all_of(pid_t pid) const {
  tell(Simulations::kProcessEnded, pid, "");
}

}  // namespace culprit
