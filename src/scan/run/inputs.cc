#include "scan/run/inputs.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

namespace culprit::scan {

std::string hash_text(std::string_view text) {
  // Two rounds of FNV-1a from different starts, each mixed at its end as splitmix64 does.
  uint64_t halves[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
  for (uint64_t& half : halves) {
    for (const char c : text) {
      half = (half ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
      half ^= half >> 47;
    }
    half ^= text.size();
    half = (half ^ (half >> 30)) * 0xbf58476d1ce4e5b9u;
    half = (half ^ (half >> 27)) * 0x94d049bb133111ebu;
    half ^= half >> 31;
  }
  return fmt::format("{:016x}{:016x}", halves[0], halves[1]);
}

const std::optional<std::string>& FileHashes::find(const std::string& path) {
  const auto [at, is_new] = hashes_.try_emplace(path);
  if (is_new) {
    if (const Result<std::string> text = read_file(path)) at->second = hash_text(*text);
  }
  return at->second;
}

std::vector<std::string> parse_dependencies(std::string_view text) {
  std::vector<std::string> paths;
  std::string word;
  bool is_target = true;
  const auto end_word = [&] {
    if (!word.empty() && !is_target && std::find(paths.begin(), paths.end(), word) == paths.end()) {
      paths.push_back(word);
    }
    word.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\n';
    if (c == '\\' && next == '\n') {
      end_word();
      ++i;
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
      word += next;
      ++i;
    } else if (c == '$' && next == '$') {
      word += '$';
      ++i;
    } else if (c == '\n') {
      end_word();
      is_target = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
    } else if (c == ':' && is_target && (next == ' ' || next == '\n' || next == '\\')) {
      word.clear();
      is_target = false;
    } else {
      word += c;
    }
  }
  end_word();
  return paths;
}

std::string describe_inputs(const std::vector<std::string>& paths, FileHashes& hashes) {
  std::string out;
  for (const std::string& path : paths) {
    const auto& hash = hashes.find(path);
    if (hash && path.find('\n') == std::string::npos) out += *hash + " " + path + "\n";
  }
  return out;
}

std::vector<std::string> parse_inputs(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view line : split(text, '\n')) {
    const size_t blank = line.find(' ');
    if (blank != std::string_view::npos) paths.emplace_back(line.substr(blank + 1));
  }
  return paths;
}

std::string ask_compiler(const std::string& program) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, writer.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  std::string option = "--version";
  char* const words[] = {name.data(), option.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words[0], &actions, nullptr, words, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  writer.reset();
  if (failed != 0) return "";
  constexpr int kPatienceMs = 10'000;
  std::string text;
  char bytes[4096];
  pollfd ready{reader.get(), POLLIN, 0};
  while (text.size() < sizeof bytes && ::poll(&ready, 1, kPatienceMs) > 0) {
    const ssize_t got = ::read(reader.get(), bytes, sizeof bytes);
    if (got <= 0) break;
    text.append(bytes, static_cast<size_t>(got));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return printable(trim(std::string_view(text).substr(0, text.find('\n'))));
}

}  // namespace culprit::scan
