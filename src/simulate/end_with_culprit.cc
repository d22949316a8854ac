#include "simulate/end_with_culprit.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "recording/signals.h"

namespace culprit {
namespace {

using Folder = std::unique_ptr<DIR, int (*)(DIR*)>;

std::vector<int> read_numbers(const char* folder) {
  std::vector<int> numbers;
  const Folder entries(::opendir(folder), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
      numbers.push_back(std::atoi(entry->d_name));
    }
  }
  return numbers;
}

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
    for (const pid_t pid : read_numbers("/proc")) {
      if (pid == ::getpid() || !is_simulated_in(folder, pid)) continue;
      is_any_left = ::kill(pid, SIGKILL) == 0 || is_any_left;
    }
    if (!is_any_left) return;
    ::usleep(2000);
  }
}

/// Outputs, terminals and locks of culprit's are not held longer than culprit does.
void close_all_but(int kept) {
  for (const int fd : read_numbers("/proc/self/fd")) {
    if (fd != kept) ::close(fd);
  }
}

[[noreturn]] void watch(int culprit_lives, const std::string& folder) {
  ::setsid();
  ::prctl(PR_SET_NAME, "simulation-end");
  for (const int signal : kEndingSignals) ::signal(signal, SIG_IGN);
  close_all_but(culprit_lives);
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(culprit_lives, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) {
    kill_simulated(folder);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  ::_exit(0);
}

}  // namespace

EndWithCulprit::EndWithCulprit(const std::string& folder) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  watcher_ = ::fork();
  if (watcher_ == 0) {
    writer.reset();
    watch(reader.get(), folder);
  }
  if (watcher_ > 0) culprit_lives_ = std::move(writer);
}

EndWithCulprit::~EndWithCulprit() {
  if (watcher_ <= 0) return;
  ::kill(watcher_, SIGKILL);
  while (::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) continue;
}

}  // namespace culprit
