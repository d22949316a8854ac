// `culprit top`: a recording that is looked at while it runs, on a terminal or as text.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>

#include "base/program_files.h"
#include "base/time.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/live_recording.h"
#include "cli/record_events.h"
#include "cli/run_program.h"
#include "cli/terminal.h"
#include "collect/perf/perf_targets.h"
#include "top/live_names.h"
#include "top/top_screen.h"
#include "top/top_table.h"
#include "top/top_terminal.h"
#include "top/top_view.h"

namespace culprit {

namespace {

constexpr uint64_t kFirstLookNs = 400'000'000;

void sleep_ms(int time_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(time_ms));
}

/// What is shown now, of what was recorded until now.
class Watch {
 public:
  explicit Watch(LiveRecording& recording, size_t cpus) : recording_(recording), cpus_(cpus) {}

  /// Errors: as make_top_table()
  Result<TopTable> look(const TopQuestion& question, uint64_t window_ns) {
    LiveWindow window = recording_.counts().window(window_ns);
    const std::shared_ptr<const Profile> tables = recording_.counts().tables();
    is_all_ = window.is_all;
    if (tables) {
      names_.want(tables, window.profile);
      if (question.level == TopLevel::instructions) {
        const auto place = find_top_place(window, names_.names(), *question.function);
        if (place) names_.want_code(tables, *place);
      }
    }
    return make_top_table(std::move(window), names_.names(), names_.code(), question);
  }

  /// Waits for a moment, so that a text has names.
  void wait_for_names(uint64_t timeout_ms) { names_.wait(timeout_ms); }

  [[nodiscard]] TopHeader header() const {
    return {recording_.describe(), cpus_, recording_.lost(), is_all_, recording_.has_ended()};
  }

 private:
  LiveRecording& recording_;
  LiveNames names_;
  size_t cpus_;
  bool is_all_ = false;
};

/// Waits until something was recorded, the recording has ended, or somebody wants an end.
void wait_for_first_counts(LiveRecording& recording, const InterruptGuard& guard) {
  while (!recording.counts().tables() && !recording.has_ended() && !guard.is_interrupted()) {
    sleep_ms(10);
  }
}

Result<void> print_batches(const TopCommand& command, LiveRecording& recording, Watch& watch) {
  const InterruptGuard guard;
  wait_for_first_counts(recording, guard);
  const TopQuestion question{.level =
                                 command.by_function ? TopLevel::functions : TopLevel::processes};
  const size_t width = standard_output_style(0).width;
  for (uint32_t i = 0; command.iterations == 0 || i < command.iterations; ++i) {
    const uint64_t until_ns = monotonic_ns() + command.redraw_ns;
    while (monotonic_ns() < until_ns && !recording.has_ended() && !guard.is_interrupted()) {
      sleep_ms(20);
    }
    if (recording.problem()) break;
    Result<TopTable> table = watch.look(question, command.window_ns);
    if (table && question.level == TopLevel::functions) {
      // What is printed last is all that stays.
      watch.wait_for_names(recording.has_ended() ? 20'000 : 2000);
      table = watch.look(question, command.window_ns);
    }
    if (!table) return table.error();
    const size_t rows = command.limit == 0 ? table->rows.size() : command.limit;
    const std::string text =
        (i == 0 ? "" : "\n") + print_top_batch(*table, watch.header(), width, rows);
    RETURN_IF_ERROR(write_output(text));
    if (recording.has_ended() || guard.is_interrupted()) break;
  }
  if (const std::optional<Error> problem = recording.problem()) return *problem;
  return {};
}

/// While it lives, what a program prints goes into a file without a name, and the terminal is
/// ours; at the end it is printed.
class SetAside {
 public:
  static Result<SetAside> begin() {
    SetAside aside;
    aside.terminal_ = Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    if (!aside.terminal_) return errno_error("cannot keep the terminal", errno);
    std::string name = temporary_folder() + "/culprit-top-XXXXXX";
    aside.output_ = Fd(::mkostemp(name.data(), O_CLOEXEC));
    if (!aside.output_) return errno_error("cannot keep the program's output", errno);
    ::unlink(name.c_str());
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      aside.before_[number] = Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3));
    }
    // A program would take the keys; what somebody pipes into it stays its own.
    if (::isatty(STDIN_FILENO) != 0) {
      const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (nothing) ::dup2(nothing.get(), STDIN_FILENO);
    }
    ::dup2(aside.output_.get(), STDOUT_FILENO);
    ::dup2(aside.output_.get(), STDERR_FILENO);
    return aside;
  }
  SetAside(SetAside&&) = default;
  SetAside& operator=(SetAside&&) = default;
  ~SetAside() {
    if (!output_) return;
    for (int number = 0; number < 3; ++number) {
      if (before_[number]) ::dup2(before_[number].get(), number);
    }
    ::lseek(output_.get(), 0, SEEK_SET);
    if (const Result<std::string> text = read_fd(output_.get(), "the program's output")) {
      static_cast<void>(write_output(*text));
    }
  }

  [[nodiscard]] int terminal() const { return terminal_.get(); }

 private:
  SetAside() = default;
  static std::string temporary_folder() {
    const char* const named = std::getenv("TMPDIR");
    return named == nullptr || *named == '\0' ? "/tmp" : named;
  }

  Fd terminal_;
  Fd output_;
  Fd before_[3];
};

Result<void> show_screens(const TopCommand& command, LiveRecording& recording, Watch& watch,
                          int terminal) {
  const InterruptGuard guard;
  wait_for_first_counts(recording, guard);
  if (const auto problem = recording.problem()) return *problem;
  ASSIGN_OR_RETURN(TopTerminal screen, TopTerminal::open(terminal));

  TopView view;
  view.window_ns = command.window_ns;
  if (command.by_function) view.question.level = TopLevel::functions;
  TopTable table;
  uint64_t next_ns = 0;
  const uint64_t start_ns = monotonic_ns();
  bool is_wanted = true;
  while (!view.is_over && !guard.is_interrupted()) {
    const size_t height = screen.height();
    const size_t rows = height > kTopOtherLines ? height - kTopOtherLines : 1;
    const uint64_t now = monotonic_ns();
    if (is_wanted || (now >= next_ns && !view.is_paused)) {
      ASSIGN_OR_RETURN(TopTable fresh, watch.look(view.question, view.window_ns));
      follow_selection(view, table, fresh, rows);
      table = std::move(fresh);
      // Few counts and no names at first: both are there soon.
      const bool is_early = now - start_ns < kFirstLookNs || table.rows.empty();
      next_ns =
          now + (is_early ? std::min(command.redraw_ns, kFirstLookNs / 2) : command.redraw_ns);
    }
    screen.draw(make_top_screen(table, watch.header(), view, screen.width(), height));
    const uint64_t later = std::max(monotonic_ns(), next_ns);
    const int wait_ms =
        view.is_paused ? 1000 : static_cast<int>((later - monotonic_ns()) / 1'000'000) + 1;
    is_wanted = press(view, screen.wait(wait_ms), table, rows);
  }
  return {};
}

}  // namespace

int run(const TopCommand& command) {
  RecordCommand recording = command.recording;
  // Time is what everybody understands; other events are asked for.
  if (recording.events.empty()) recording.record.engine = EngineChoice::timer;
  Result<RecordOptions> options = choose_events(recording);
  if (!options) return fail(options.error());
  options->engine = EngineChoice::automatic;
  options->shim_path = find_shim();
  if (!options->command.empty()) {
    if (const auto problem = check_program(options->command.front())) {
      return fail(problem->error, problem->status);
    }
  }
  const size_t cpus = options->cpus.empty() ? list_online_cpus().size() : options->cpus.size();
  const bool on_terminal = !command.batch;
  if (on_terminal && ::isatty(STDOUT_FILENO) == 0) {
    return fail(Error{"standard output is no terminal: culprit top --batch prints text"});
  }
  std::optional<SetAside> aside;
  if (on_terminal) {
    Result<SetAside> set = SetAside::begin();
    if (!set) return fail(set.error());
    aside.emplace(*std::move(set));
  }
  const Result<void> done = [&] {
    LiveRecording live(*std::move(options), command.takes_what_it_may);
    Watch watch(live, cpus);
    return aside ? show_screens(command, live, watch, aside->terminal())
                 : print_batches(command, live, watch);
  }();
  aside.reset();  // errors go where they always go
  return done ? 0 : fail(done.error());
}

}  // namespace culprit
