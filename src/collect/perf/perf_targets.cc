#include "collect/perf/perf_targets.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sched.h>
#include <sys/stat.h>

#include "base/number.h"
#include "base/text.h"
#include "recording/process_folder.h"

namespace culprit {

namespace {

/// Mount points that can hold cgroups for perf events, the best one first.
std::vector<std::string> list_mounts() {
  std::vector<std::string> mounts;
  for (const std::string_view line : split(read_file("/proc/self/mounts").value_or(""), '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 4) continue;
    const bool is_perf = words[2] == "cgroup" && words[3].find("perf_event") != words[3].npos;
    if (is_perf) mounts.insert(mounts.begin(), std::string(words[1]));
    if (words[2] == "cgroup2") mounts.emplace_back(words[1]);
  }
  return mounts;
}

bool is_folder(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

std::vector<int> list_allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return list_online_cpus();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<int> list_online_cpus() {
  const std::vector<int> cpus =
      parse_cpu_list(read_file("/sys/devices/system/cpu/online").value_or(""));
  return cpus.empty() ? std::vector<int>{0} : cpus;
}

Result<void> check_cpus(const std::vector<int>& cpus) {
  const std::vector<int> online = list_online_cpus();
  for (const int cpu : cpus) {
    if (std::find(online.begin(), online.end(), cpu) != online.end()) continue;
    const std::string list = read_file("/sys/devices/system/cpu/online").value_or("?");
    return Error{
        fmt::format("there is no CPU {}, or it is offline: this machine has {}", cpu, trim(list))};
  }
  return {};
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr uint64_t kMaxCpu = 1 << 16;
  std::vector<int> cpus;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view range : split(text, ',')) {
    const size_t dash = range.find('-');
    const auto first = find_number(range.substr(0, dash), 10);
    const auto last = dash == range.npos ? first : find_number(range.substr(dash + 1), 10);
    if (!first || !last || *last > kMaxCpu) continue;
    for (uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::vector<pid_t> list_threads(pid_t pid) {
  std::vector<pid_t> tids;
  for (const uint32_t tid : list_numbered_entries(fmt::format("/proc/{}/task", pid))) {
    tids.push_back(static_cast<pid_t>(tid));
  }
  return tids;
}

std::vector<pid_t> with_descendants(const std::vector<pid_t>& pids) {
  std::vector<pid_t> all = pids;
  if (pids.empty()) return all;
  const std::vector<uint32_t> named(pids.begin(), pids.end());
  for (const uint32_t pid : list_descendants(named)) all.push_back(static_cast<pid_t>(pid));
  return all;
}

Result<Cgroup> open_cgroup(const std::string& name) {
  std::vector<std::string> candidates;
  if (name.starts_with('/')) candidates.push_back(name);
  for (const std::string& mount : list_mounts()) {
    if (name.starts_with(mount + "/") || name.starts_with("/sys/fs/cgroup/"))
      continue;  // a whole path already
    candidates.push_back(std::filesystem::path(mount + "/" + name).lexically_normal().string());
  }
  for (const std::string& folder : candidates) {
    if (!is_folder(folder) || !file_exists(folder + "/cgroup.procs")) continue;
    Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return errno_error("cannot open the cgroup '" + folder + "'", errno);
    return Cgroup{folder, std::move(fd)};
  }
  const std::string what = "cannot find the cgroup '" + printable(name) + "': ";
  if (candidates.empty()) return Error{what + "no file system of cgroups is mounted"};
  std::string places;
  for (const std::string& folder : candidates)
    places += (places.empty() ? "'" : " or '") + printable(folder) + "'";
  return Error{what + "there is no cgroup at " + places +
               "\n-> its path in /sys/fs/cgroup, as in `cat /proc/PID/cgroup` of one of its "
               "processes"};
}

std::vector<pid_t> list_cgroup_processes(const Cgroup& cgroup) {
  std::vector<pid_t> pids;
  std::vector<std::string> folders{cgroup.folder};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    for (std::string& below : list_subfolders(folder)) folders.push_back(std::move(below));
    const std::string text = read_file(folder + "/cgroup.procs").value_or("");
    for (const std::string_view line : split(text, '\n')) {
      if (const auto pid = find_number(line, 10)) pids.push_back(static_cast<pid_t>(*pid));
    }
  }
  return pids;
}

}  // namespace culprit
