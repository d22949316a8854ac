#include "simulate/turns/thread_activity.h"

#include <cstdlib>
#include <fcntl.h>
#include <stdio.h>
#include <string>
#include <unistd.h>

namespace culprit::counting {
namespace {

using State = ThreadActivity::State;

/// Into `text`; 0 if it is not there.
size_t read_task_file(pid_t thread, const char* name, char (&text)[512]) {
  char path[64];
  ::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = ::read(fd, text, sizeof text);
  ::close(fd);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace

ThreadActivity parse_thread_activity(std::string_view stat, std::string_view syscall) {
  if (stat.empty()) return {State::gone};
  // "TID (NAME) S ...", and a name may have parentheses.
  const size_t name_end = stat.rfind(") ");
  const bool has_state = name_end != std::string_view::npos && name_end + 2 < stat.size();
  const char state = has_state ? stat[name_end + 2] : 'R';
  if (state == 'Z' || state == 'X') return {State::gone};
  if (state == 'S' && syscall.empty()) return {State::sleeping, ThreadActivity::kUnknownCall};
  // "running", or "NUMBER 0xFIRST ...".
  const std::string words(syscall);
  char* end = nullptr;
  const int64_t call = std::strtoll(words.c_str(), &end, 10);
  if (state != 'S' || end == words.c_str()) return {State::awake};
  return {State::sleeping, call, std::strtoull(end, nullptr, 16)};
}

ThreadActivity read_thread_activity(pid_t thread) {
  char stat[512];
  char syscall[512];
  // First whether it sleeps: one that is being woken still shows its call.
  const size_t stat_bytes = read_task_file(thread, "stat", stat);
  const size_t syscall_bytes = stat_bytes == 0 ? 0 : read_task_file(thread, "syscall", syscall);
  return parse_thread_activity({stat, stat_bytes}, {syscall, syscall_bytes});
}

bool can_see_threads() {
  char text[512];
  return read_task_file(::gettid(), "stat", text) != 0 &&
         read_task_file(::gettid(), "syscall", text) != 0;
}

}  // namespace culprit::counting
