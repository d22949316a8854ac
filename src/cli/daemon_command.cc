// `culprit daemon`: runs one in the foreground, or asks the one that runs.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/complete_epoch.h"
#include "cli/find_database.h"
#include "cli/terminal.h"
#include "cli/unwinding.h"
#include "daemon/control_socket.h"
#include "daemon/daemon.h"
#include "daemon/daemon_status.h"
#include "epochs/epoch_database.h"
#include "recording/signals.h"

namespace culprit {

namespace {

int ask(const DaemonCommand& command, const std::string& folder) {
  const Result<EpochDatabase> database = EpochDatabase::open(folder);
  if (!database) return fail(database.error());
  const Result<std::string> answer = ask_daemon(database->socket_path(), command.request);
  if (!answer) return fail(answer.error());
  std::string text = *answer;
  if (command.request == "status" && command.format == Format::text) {
    const Result<DaemonStatus> status = parse_status(*answer);
    if (!status) return fail(status.error());
    text = print_status_text(*status);
  }
  const Result<void> written = write_output(text);
  return written ? 0 : fail(written.error());
}

}  // namespace

int run(const DaemonCommand& command) {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  const std::string folder = find_database(command.database);
  if (!command.request.empty()) return ask(command, folder);
  DaemonOptions options;
  options.database = folder;
  options.rate_hz = command.rate_hz;
  options.budget_percent = command.budget_percent;
  options.events = command.events;
  options.by_process = command.by_process;
  options.stacks_hz = command.stacks_hz;
  options.make_unwinder = find_unwinder();
  options.epoch_ns = static_cast<uint64_t>(command.epoch_s) * kSecondNs;
  options.flush_ns = static_cast<uint64_t>(command.flush_s) * kSecondNs;
  options.use_bpf = command.use_bpf;
  options.keeping = command.keeping;
  options.keeping.most_bytes = command.most_megabytes * 1'000'000;
  options.say = [](const std::string& text) { print_message(text); };
  if (command.symbolize) {
    options.complete = [&](const ClosedEpoch& epoch) { complete_epoch(epoch, command.snapshot); };
  }
  SignalGuard signals;
  options.control = &signals;
  const Result<void> ended = run_daemon(options);
  return ended ? 0 : fail(ended.error());
}

}  // namespace culprit
