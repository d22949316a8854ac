#include "collect/count/thread_readings.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "collect/perf/perf_attr.h"
#include "collect/perf/perf_targets.h"
#include "recording/process_folder.h"
#include "records/parse_record.h"

namespace culprit {

namespace {

constexpr size_t kReadingsBytes = 256 * 1024;  // some 2,700 READ records

/// The version that uname tells: 6.1.0-56-arm64 is 601.
uint64_t read_kernel_version() {
  utsname name{};
  if (::uname(&name) != 0) return 0;
  const auto words = split(std::string_view(name.release), '.');
  if (words.size() < 2) return 0;
  const std::string_view minor = words[1].substr(0, words[1].find_first_not_of("0123456789"));
  return 100 * find_number(words[0], 10).value_or(0) + find_number(minor, 10).value_or(0);
}

/// Whether a child that ends is told of, seen by an event that counts nothing; nullopt: the
/// kernel takes no records with these parts here.
std::optional<bool> try_telling(uint64_t sample_type) {
  EventRequest nothing;
  nothing.type = PERF_TYPE_SOFTWARE;
  nothing.config = PERF_COUNT_SW_DUMMY;
  nothing.exclude_kernel = nothing.exclude_hypervisor = true;
  perf_event_attr attr = make_counting_attr(nothing, false);
  attr.inherit = attr.inherit_stat = 1;
  attr.sample_type = sample_type;
  const Fd fd = open_perf_event(attr, 0, list_online_cpus().front());
  if (!fd) return std::nullopt;
  Result<Ring> ring = Ring::map(fd.get(), static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
  if (!ring) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child < 0 || ::waitpid(child, nullptr, 0) != child) return std::nullopt;
  ring->look();
  return !ring->front().empty();
}

void drain_ring(Ring& ring, const RecordLayout& layout, auto&& take) {
  ring.look();
  for (auto bytes = ring.front(); !bytes.empty(); bytes = ring.front()) {
    const Result<Record> record = parse_record(bytes, layout);
    if (record) take(*record);
    ring.pop();
  }
  ring.release();
}

}  // namespace

Result<uint64_t> find_thread_sample_type() {
  constexpr uint64_t kPartsByOrder = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  constexpr uint64_t kLastInOrder = 601;
  constexpr const char* kRemedy =
      "\n-> another kernel; -p PID --per-thread counts the threads that a process has";
  for (const uint64_t parts : {kPartsByOrder | PERF_SAMPLE_READ, kPartsByOrder}) {
    const std::optional<bool> tells = try_telling(parts);
    if (!tells) continue;
    if (!*tells) {
      return Error{std::string("cannot tell threads apart: this kernel does not say what a thread "
                               "counted when it ends") +
                   kRemedy};
    }
    if (parts == kPartsByOrder && read_kernel_version() > kLastInOrder) break;
    return parts;
  }
  return Error{std::string("cannot tell threads apart: this kernel mixes up the counters of "
                           "threads that it switches between") +
               kRemedy};
}

Result<void> ThreadReadings::add_ring(int fd, int cpu, std::map<int, int>& owners) {
  const auto [owner, is_first] = owners.emplace(cpu, fd);
  if (is_first) {
    ASSIGN_OR_RETURN(Ring ring, Ring::map(fd, kReadingsBytes));
    rings_.push_back(std::move(ring));
    return {};
  }
  if (::ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, owner->second) == 0) return {};
  return errno_error("cannot join event rings", errno);
}

Result<ThreadReadings> ThreadReadings::open(const CounterSet& counters,
                                            const CountTargets& targets) {
  ThreadReadings readings;
  readings.layout_.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  readings.layout_.sample_type = targets.thread_sample_type;
  readings.layout_.sample_id_all = true;
  std::map<int, int> owners;
  for (const CounterSet::Counter& counter : counters.counters()) {
    uint64_t id = 0;
    if (::ioctl(counter.fd.get(), PERF_EVENT_IOC_ID, &id) != 0) {
      return errno_error("cannot tell counters apart (PERF_EVENT_IOC_ID)", errno);
    }
    readings.counter_of_id_[id] = readings.event_of_counter_.size();
    readings.event_of_counter_.push_back(counter.event);
    RETURN_IF_ERROR(readings.add_ring(counter.fd.get(), counter.cpu, owners));
  }
  for (size_t source = 0; source < targets.tids.size(); ++source) {
    const pid_t tid = targets.tids[source];
    readings.tasks_[tid] = {source, read_task_name(static_cast<uint32_t>(tid)),
                            readings.tasks_.size()};
  }
  return readings;
}

void ThreadReadings::drain() {
  for (Ring& ring : rings_) {
    drain_ring(ring, layout_, [&](const Record& record) { take(record); });
  }
}

void ThreadReadings::take(const Record& record) {
  if (const auto* const read = std::get_if<ReadRecord>(&record.body)) {
    if (read->read.values.size() != 1) return;
    const ReadValue& value = read->read.values.front();
    const auto found = counter_of_id_.find(value.id);
    if (found == counter_of_id_.end()) return;
    const size_t counter = found->second;
    told_[{static_cast<pid_t>(read->tid), event_of_counter_[counter]}][counter] +=
        {value.value, read->read.time_enabled_ns, read->read.time_running_ns};
  } else if (const auto* const fork = std::get_if<ForkRecord>(&record.body)) {
    changes_.push_back(
        {fork->time_ns, static_cast<pid_t>(fork->tid), static_cast<pid_t>(fork->parent_tid), ""});
  } else if (const auto* const name = std::get_if<CommRecord>(&record.body)) {
    changes_.push_back({record.origin.time_ns, static_cast<pid_t>(name->tid), 0, name->name});
  } else if (const auto* const lost = std::get_if<LostRecord>(&record.body)) {
    lost_records_ += lost->lost;
  }
}

/// A task has its parent's name until it takes one of its own.
void ThreadReadings::replay_changes() {
  // Births come before names of the same moment.
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
    return std::pair(a.time_ns, a.parent == 0) < std::pair(b.time_ns, b.parent == 0);
  });
  for (Change& change : changes_) {
    if (change.parent == 0) {
      const auto task = tasks_.find(change.tid);
      if (task != tasks_.end()) task->second.name = std::move(change.name);
      continue;
    }
    const auto parent = tasks_.find(change.parent);
    if (parent == tasks_.end()) continue;  // of another source's family, which is not counted
    tasks_.try_emplace(change.tid, parent->second.source, parent->second.name, tasks_.size());
  }
}

/// What no READ record told belongs to the task that wrote none.
void ThreadReadings::give_rest(size_t source, size_t event, const Told& totals,
                               std::set<pid_t>& unclear) {
  Told rest = totals;
  std::vector<pid_t> silent;
  for (const auto& [tid, task] : tasks_) {
    if (task.source != source) continue;
    const auto told = told_.find({tid, event});
    if (told == told_.end()) {
      silent.push_back(tid);
      continue;
    }
    for (const auto& [counter, reading] : told->second) rest[counter] -= reading;
    missing_readings_ += totals.size() - std::min(totals.size(), told->second.size());
  }
  if (silent.empty()) return;
  std::sort(silent.begin(), silent.end(),
            [&](pid_t a, pid_t b) { return tasks_[a].order < tasks_[b].order; });
  told_[{silent.front(), event}] = std::move(rest);
  if (silent.size() > 1) unclear.insert(silent.begin(), silent.end());
}

std::vector<ThreadReading> ThreadReadings::finish(const CounterSet& counters,
                                                  std::vector<std::string>& remarks) {
  drain();
  replay_changes();
  std::map<std::pair<size_t, size_t>, Told> totals;  // by source and event
  const std::vector<Reading> readings = counters.read_each();
  for (size_t i = 0; i < readings.size(); ++i) {
    const CounterSet::Counter& counter = counters.counters()[i];
    totals[{counter.source, counter.event}][i] = readings[i];
  }
  std::set<pid_t> unclear;
  for (const auto& [place, total] : totals) give_rest(place.first, place.second, total, unclear);
  std::vector<ThreadReading> rows;
  for (const auto& [tid, task] : tasks_) {
    ThreadReading row{tid, task.name, std::vector<Reading>(counters.events())};
    for (size_t event = 0; event < counters.events(); ++event) {
      const auto told = told_.find({tid, event});
      if (told == told_.end()) continue;
      for (const auto& [counter, reading] : told->second) {
        const std::optional<size_t> presence = counters.counters()[counter].presence;
        if (!presence) continue;  // each of a task has one
        const Reading& there = told_[{tid, counters.events()}][*presence];
        row.readings[event] += with_presence(reading, there, reading, there);
      }
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [&](const ThreadReading& a, const ThreadReading& b) {
    return tasks_[a.tid].order < tasks_[b.tid].order;
  });
  if (!unclear.empty()) {
    remarks.push_back(
        fmt::format("threads {} were not told apart (they still ran at the end): what all of them "
                    "counted is in the row of the first",
                    fmt::join(unclear, ", ")));
  }
  // The kernel says what it lost when there is room again, if there ever is.
  if (const uint64_t lost = std::max(lost_records_, missing_readings_); lost > 0) {
    remarks.push_back(
        fmt::format("{} records of threads that began or ended were lost: what these counted "
                    "is in other threads' rows",
                    format_thousands(lost)));
  }
  return rows;
}

}  // namespace culprit
