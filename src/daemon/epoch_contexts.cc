#include "daemon/epoch_contexts.h"

#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <vector>

#include "base/text.h"
#include "daemon/epoch_rows.h"

namespace culprit {
namespace {

constexpr size_t kMostProcesses = 1 << 14;  // of an epoch that tells them apart

std::string_view name_of(const who_key& who) {
  return {who.name, ::strnlen(who.name, sizeof who.name)};
}

}  // namespace

size_t EpochContexts::Hash::operator()(const std::pair<who_key, Mode>& who) const noexcept {
  const std::string_view name(who.first.name, sizeof who.first.name);
  return std::hash<std::string_view>()(name) ^ (who.first.cgroup * 0x9e3779b97f4a7c15u) ^
         (size_t{who.first.pid} << 1) ^ static_cast<size_t>(who.second);
}

bool EpochContexts::Equal::operator()(const std::pair<who_key, Mode>& a,
                                      const std::pair<who_key, Mode>& b) const noexcept {
  return a.second == b.second && a.first.cgroup == b.first.cgroup && a.first.pid == b.first.pid &&
         std::memcmp(a.first.name, b.first.name, sizeof a.first.name) == 0;
}

void EpochContexts::begin_epoch() {
  known_.clear();
  processes_.clear();
  are_processes_full_ = false;
}

ContextId EpochContexts::find(who_key who, Mode mode) {
  if (!by_process_ || !has_process_row(who)) who.pid = 0;
  const auto [at, is_new] = known_.try_emplace({who, mode});
  if (is_new) at->second = make_context(who, mode);
  return at->second;
}

ContextId EpochContexts::make_context(const who_key& who, Mode mode) {
  const std::string_view name = name_of(who);
  Context context;
  context.run = epoch_.run_id();
  context.mode = mode;
  const std::string& cgroup = cgroups_.find(who.cgroup);
  if (!cgroup.empty()) context.cgroup = epoch_.intern(cgroup);
  if (!label_.empty()) context.label = epoch_.intern(label_);
  context.process = who.pid == 0 ? intern_process(epoch_, name) : process_row(who);
  return epoch_.intern_context(context);
}

/// Whether the process has a row in the epoch, or there is room for one.
bool EpochContexts::has_process_row(const who_key& who) {
  const bool has_room = processes_.size() < kMostProcesses;
  if (has_room || processes_.contains({who.pid, std::string(name_of(who))})) return true;
  if (!are_processes_full_) {
    epoch_.profile().ledger.note(
        fmt::format("processes beyond the first {} of an epoch are told apart by command alone",
                    format_thousands(kMostProcesses)));
  }
  are_processes_full_ = true;
  return false;
}

ProcessId EpochContexts::process_row(const who_key& who) {
  const std::string_view name = name_of(who);
  std::vector<Process>& rows = epoch_.profile().processes;
  const auto [at, is_new] = processes_.try_emplace({who.pid, std::string(name)}, rows.size());
  if (is_new) rows.push_back({epoch_.run_id(), who.pid, 0, epoch_.intern(name)});
  return at->second;
}

}  // namespace culprit
