#include "simulate/counting/counting.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "base/file.h"
#include "base/time.h"
#include "simulate/counting/cost_library.h"
#include "simulate/counting/execution.h"
#include "simulate/counts/machine_file.h"
#include "simulate/counts/tenures_file.h"

namespace culprit::counting {

/// Makes the machine that the host side has described in a file beside the counts. Without the file
/// there is no machine, and blocks are only counted.
Result<void> Counting::make_machine(const CountingOptions& options, const ProcessSetting& setting) {
  const std::string path = machine_file_path(options.folder);
  if (!file_exists(path)) return {};
  ASSIGN_OR_RETURN(const simulate::MachineModel description, read_machine_file(path));
  ASSIGN_OR_RETURN(machine_, simulate::Hierarchy::make(
                                 description, {.locality = options.locality,
                                               .sample_sets = options.sample_sets,
                                               .sample_seed = options.sample_seed,
                                               .samples_later = options.sample_first != 0}));
  sample_first_ = options.sample_first;
  translation_.set_lines(description.line_bytes, &machine_->sample());
  line_bytes_ = description.line_bytes;
  round_costs_ = RoundCosts(description.core.strings);
  model_ = {.caches = true,
            .locality = options.locality,
            .cycles = options.cycles,
            .sampled = !machine_->sample().is_all()};
  if (model_.sampled) lines_ = SampledLines(*machine_);
  if (options.windows.are_wanted()) {
    model_.windows = true;
    windows_ = std::make_unique<Windows>(options.windows);
  }
  if (!options.cycles) return {};
  ASSIGN_OR_RETURN(simulate::CostSource* const source,
                   load_costs(setting.costs_path, setting.architecture, description.llvm_cpu,
                              description.core.instructions));
  translation_.set_costs(source, description.core);
  return {};
}

/// Finds the region that the host side has described in a file beside the counts. Without the file
/// all of the program counts.
Result<void> Counting::find_region(const CountingOptions& options) {
  const std::string path = region_file_path(options.folder);
  has_region_ = file_exists(path);
  if (has_region_) {
    ASSIGN_OR_RETURN(RegionPlaces region, read_region_file(path));
    translation_.set_region(std::move(region));
  }
  skipped_ = options.skip;
  watches_part_ = has_region_ || skipped_ > 0;
  return {};
}

Result<void> Counting::start(const CountingOptions& options, ProcessSetting setting) {
  if (!image_.open(options.folder)) {
    return errno_error("cannot open '" + image_list_path(options.folder) + "'", errno);
  }
  if (!image_.add(setting.program)) return Error{"no more processes can be counted"};
  Result<void> prepared = prepare(options, std::move(setting));
  image_.set_state(prepared ? ImageState::counting : ImageState::uncounted);
  return prepared;
}

Result<void> Counting::prepare(const CountingOptions& options, ProcessSetting setting) {
  system_calls_ = SystemCalls(setting.architecture);
  RETURN_IF_ERROR(make_machine(options, setting));
  RETURN_IF_ERROR(find_region(options));
  model_.objects = options.objects;
  translation_.set_mapping_finder(setting.find_mapping);
  if (options.deterministic && !TurnScheduler::can_watch()) {
    return Error{"--deterministic needs Linux 5.9 with /proc/PID/syscall"};
  }
  if (!writer_.create(options.folder, image_.number())) {
    return errno_error("cannot write counts to '" + options.folder + "'", errno);
  }
  writer_.set_program(setting.program);
  RETURN_IF_ERROR(start_objects(options, setting));
  RETURN_IF_ERROR(start_constructs(options, setting));
  counts_file::Header& header = writer_.header();
  header.has_cycles = model_.cycles ? 1 : 0;
  header.has_windows = model_.windows ? 1 : 0;
  if (model_.sampled) {
    header.sample_classes = machine_->sample().random_groups();
    say_sample();
  }
  if (options.deterministic) {
    start_turns(model_.cycles ? machine_->machine().memory.other_core_modified_cycles : 0);
  }
  limit_ = options.limit;
  return {};
}

AccessCall Counting::access_call(const BlockFacts& block, const KnownAccesses& accesses) const {
  if (accesses.repeats) return AccessCall::round;
  if (!accesses.is_known) return AccessCall::count;
  if (accesses.load_bytes == 0 && accesses.store_bytes == 0) return AccessCall::none;
  if (!model_.caches && !model_.objects) return AccessCall::none;
  if (accesses.is_shown_wider) return AccessCall::wider;
  const bool does_both = accesses.load_bytes != 0 && accesses.store_bytes != 0;
  if (accesses.in_parts || does_both || block.is_wide || model_.sampled) return AccessCall::known;
  return accesses.load_bytes != 0 ? AccessCall::load : AccessCall::store;
}

bool Counting::is_call_watched(const BlockFacts& block) const {
  return (has_region_ || follows_calls_) &&
         (block.branch == counts_file::ControlFlow::call ||
          block.branch == counts_file::ControlFlow::indirect_call);
}

/// False: it cannot be counted.
bool Counting::make_thread(unsigned number) {
  if (number >= kMostThreads) return false;
  const uint32_t begun = writer_.header().threads;
  const uint32_t part =
      begun < counts_file::kThreadsApart ? begun : counts_file::shared_core(number);
  const CoreCounts shared = writer_.core(part);
  if (shared.header == nullptr) return false;
  writer_.header().threads.store(begun + 1);
  if (owned_threads_[number] == nullptr) {
    owned_threads_[number] = std::make_unique<CountedThread>();
  }
  CountedThread& thread = *owned_threads_[number];
  leave_regions(thread);
  const bool is_same_part = thread.shared.header == shared.header;
  if (!is_same_part) leave_core(thread);
  thread = CountedThread{.shared = shared,
                         .own = shared,
                         .number = static_cast<uint8_t>(std::min(part, counts_file::kThreadsApart)),
                         .memory = thread.memory,
                         .predictor = std::move(thread.predictor),
                         .clock = std::move(thread.clock),
                         .forecaster = std::move(thread.forecaster),
                         .ticks_before = thread.ticks_before,
                         .previous = &kNoBlock,
                         .writer = &writer_,
                         .rounds = {},
                         .targets = std::move(thread.targets),
                         .window = {},
                         .sampled = {},
                         .object_sites = std::move(thread.object_sites),
                         .heap = {},
                         .system_call = {},
                         .registers = nullptr,
                         .constructs = {},
                         .construct_changes = {},
                         .region_parts = std::move(thread.region_parts),
                         .instructions_elsewhere = is_same_part ? thread.instructions_elsewhere : 0,
                         .calls = {},
                         .latest = &kNoBlock,
                         .region = {},
                         .instructions_said = 0};
  if (!is_same_part) thread.region_parts.clear();
  thread.instructions_said = thread.instructions();
  if (objects_ && thread.object_sites == nullptr) {
    thread.object_sites = std::make_unique<ObjectSites>();
  }
  if (machine_) make_core(thread);
  thread.window.core = part;
  thread.window.look_at = thread.window.added = thread.instructions_said;
  threads_[number] = &thread;
  counting_[number] = watches_part_ ? nullptr : &thread;
  return true;
}

/// What a thread that has ended, if there was one, leaves to the next that has its number.
void Counting::leave_core(CountedThread& thread) {
  if (thread.shared.header == nullptr) return;
  thread.targets.forget();
  ended_instructions_ += thread.instructions();
  if (thread.clock == nullptr) return;
  thread.clock->end_block();
  thread.forecaster->stop(*thread.clock);
  thread.shared.header->ticks = thread.clock->now() - thread.ticks_before;
  thread.ticks_before = thread.clock->now();
}

/// The thread's core of the machine: the one that its number had, with the caches as they are.
void Counting::make_core(CountedThread& thread) {
  const bool is_new = thread.memory == nullptr;
  if (is_new) thread.memory = &machine_->add_core();
  if (model_.locality != simulate::Locality::off) begin_thread(*thread.memory, thread.number);
  if (model_.sampled) return;
  if (is_new) {
    thread.predictor = std::make_unique<simulate::BranchPredictor>(machine_->machine().branch);
  }
  if (!model_.cycles) return;
  if (thread.clock == nullptr) {
    thread.clock =
        std::make_unique<simulate::IntervalCore>(machine_->machine(), thread.shared.ticks);
    thread.forecaster =
        std::make_unique<simulate::Forecaster>(machine_->machine(), thread.shared.replays);
    thread.ticks_before = 0;
  }
  thread.clock->set_sites(thread.shared.ticks);
  thread.forecaster->set_sites(thread.shared.replays);
}

void Counting::start_thread(unsigned number) {
  if (is_stopped()) return;
  const std::lock_guard lock(starting_);
  if (!make_thread(number)) {
    ++writer_.header().uncounted_cores;
    if (number < kMostThreads) threads_[number] = counting_[number] = nullptr;
  }
  expect_thread(number);
}

void Counting::forget_threads() {
  threads_.fill(nullptr);
  counting_.fill(nullptr);
}

/// What is translated already goes on calling us. (A trap of QEMU 7.2: a plugin that uninstalls or
/// resets itself while code runs makes it crash.)
void Counting::stop() {
  writer_.header().is_stopped = 1;
  is_stopped_.store(true, std::memory_order_relaxed);
  forget_threads();
  if (turns_) turns_->stop();
}

void Counting::begin_system_call(unsigned number, const SystemCall& call) {
  if (is_stopped()) return;
  if (is_in_turn(number)) {
    turns_->begin_call(number, threads_[number]->now(), system_calls_.announce(call, base_));
  }
  CountedThread* const thread = threads_[number];
  if (thread != nullptr) {
    say_instructions(*thread);
    if (counting_[number] != nullptr) ++thread->shared.header->system_calls;
    thread->system_call_start_ns = monotonic_ns();
    if (objects_) begin_mapping(*thread, call);
    if (system_calls_.is_mmap(call.number)) {
      thread->huge_mapping_bytes = system_calls_.huge_mapping_bytes(call);
    }
  }
  system_calls_.visit_mapping_changes(
      call, [this](uint64_t start, uint64_t bytes) { translation_.forget_mapping(start, bytes); });
  if (const auto pages = system_calls_.find_page_size(call)) {
    set_huge_pages(pages->range, pages->is_huge);
  }
  if (thread != nullptr && system_calls_.ends_thread(call)) thread->note_task();
  if (thread != nullptr && windows_ &&
      (system_calls_.ends_thread(call) || system_calls_.ends_process(call))) {
    leave_window(*thread);
  }
  if (system_calls_.ends_process(call)) {
    note_names(number);
    end_program(number);
    end_turns(number);
  }
}

/// However the process ends, it is known that they were counted.
void Counting::say_instructions(CountedThread& thread) {
  const uint64_t now = thread.instructions();
  image_.add_instructions(now - std::exchange(thread.instructions_said, now));
}

void Counting::end_system_call(unsigned number, int64_t call, int64_t result) {
  if (is_stopped()) return;
  if (native_execs_under_way_ > 0 && system_calls_.is_exec(call)) {  // it has failed
    --native_execs_under_way_;
    --writer_.header().native_execs;
  }
  if (CountedThread* const thread = threads_[number]) {
    if (system_calls_.is_mmap(call) && result > 0 && thread->huge_mapping_bytes != 0) {
      const auto begin = static_cast<uint64_t>(result);
      set_huge_pages({begin, begin + thread->huge_mapping_bytes}, true);
    }
    if (thread->system_call_start_ns != 0 && counting_[number] != nullptr) {
      thread->shared.header->system_call_ns += monotonic_ns() - thread->system_call_start_ns;
    }
    thread->system_call_start_ns = 0;
    if (system_calls_.may_rename(call)) thread->note_task();
    if (objects_) end_mapping(*thread, result);
  }
  if (is_in_turn(number)) turns_->end_call(number, threads_[number]->now(), result < 0);
}

/// The range is mapped by pages of 2 MiB, or is no more, as far as whole ones fit in.
void Counting::set_huge_pages(MemoryRange range, bool is_huge) {
  constexpr uint64_t kHugePage = uint64_t{1} << simulate::kHugePageShift;
  const uint64_t first = (range.begin + kHugePage - 1) / kHugePage * kHugePage;
  if (machine_ && range.begin <= first) {
    machine_->set_huge_pages(first, range.end / kHugePage * kHugePage, is_huge);
  }
}

/// The process ends by a call of this thread: the names of all that are left.
void Counting::note_names(unsigned number) {
  for (unsigned other = 0; other < kMostThreads; ++other) {
    if (threads_[other] == nullptr) continue;
    if (other == number) {
      threads_[other]->note_task();
    } else {
      threads_[other]->note_name();
    }
  }
}

void Counting::end_program(unsigned number) {
  if (!machine_ || model_.locality == simulate::Locality::off) return;
  bool is_any_running = false;
  for (unsigned other = 0; other < kMostThreads; ++other) {
    const CountedThread* const thread = threads_[other];
    const bool is_other = thread != nullptr && other != number;
    is_any_running = is_any_running || (is_other && thread->system_call_start_ns == 0);
  }
  forget_threads();
  // Other threads count nothing from now on; what is under way takes far less than this.
  constexpr useconds_t kLetThemLeaveUs = 20'000;
  if (is_any_running) ::usleep(kLetThemLeaveUs);
  write_tenures(writer_.path() + ".tenures", *machine_);
  retire_machine();
}

void Counting::begin_exec(unsigned number) {
  end_program(number);
  image_.set_state(ImageState::executing);
}

void Counting::exec_failed() {
  // A run with locality has told all that was counted, and counts no more.
  const bool has_ended = model_.locality != simulate::Locality::off;
  image_.set_state(has_ended ? ImageState::uncounted : ImageState::counting);
}

/// The machine models nothing any more, but it stays: threads may still be in it, or hold its
/// locks.
void Counting::retire_machine() {
  retired_machines_.push_back(std::move(machine_));
}

void Counting::before_fork() {
  starting_.lock();
  if (objects_) objects_->lock();
  if (windows_) windows_->mutex().lock();
  if (constructs_) constructs_->lock();
  if (turns_) turns_->before_fork();
}

void Counting::after_fork_in_parent() {
  if (turns_) turns_->after_fork();
  if (constructs_) constructs_->unlock();
  if (windows_) windows_->mutex().unlock();
  if (objects_) objects_->unlock();
  starting_.unlock();
}

void Counting::after_fork_in_child(unsigned number) {
  if (constructs_) constructs_->unlock();
  if (windows_) windows_->mutex().unlock();
  if (objects_) objects_->unlock();
  starting_.unlock();
  CountedThread* const thread = threads_[number];
  CountedThread* const counting = counting_[number];
  forget_threads();  // there are no others
  for (unsigned other = 0; other < kMostThreads; ++other) {
    CountedThread* const gone = owned_threads_[other].get();
    if (other == number || gone == nullptr) continue;
    gone->shared = gone->own = {};
    gone->region_parts.clear();
    gone->region_part = 0;
    gone->clock.reset();
    gone->forecaster.reset();
    gone->targets.forget();
  }
  ended_instructions_ = 0;
  const counts_file::CoreHeader* const part = thread != nullptr ? thread->shared.header : nullptr;
  const bool is_counted = image_.add_forked() && writer_.continue_in_child(image_.number(), part);
  image_.set_state(is_counted ? ImageState::counting : ImageState::uncounted);
  native_execs_under_way_ = 0;
  if (is_counted) {
    writer_.header().is_stopped = is_stopped() ? 1 : 0;
    if (thread != nullptr) {
      threads_[number] = thread;
      counting_[number] = counting;
      thread->number = 0;
      thread->instructions_said = 0;
      thread->own = thread->shared;  // the part that it was in is the child's first
      thread->region_parts.clear();
      thread->region_part = thread->instructions_elsewhere = 0;
      thread->note_task();
      thread->targets.forget();
      if (thread->clock) thread->ticks_before = thread->clock->now();
      thread->window = {};
    }
    if (windows_) windows_->renew();
    if (model_.locality != simulate::Locality::off) renew_machine();
  } else {
    writer_.forget_file();
    is_stopped_.store(true, std::memory_order_relaxed);
  }
  renew_turns(number);
}

/// A child gets a machine of its own with empty caches, so that locality does not tell twice what
/// the parent did.
void Counting::renew_machine() {
  if (!machine_) return;
  const simulate::SetSample& sample = machine_->sample();
  auto renewed =
      simulate::Hierarchy::make(machine_->machine(), {.locality = model_.locality,
                                                      .sample_sets = sample.one_of(),
                                                      .sample_seed = sample.seed(),
                                                      .samples_later = sample_first_ != 0});
  retire_machine();  // its locks may be held by threads that the child does not have
  machine_ = *std::move(renewed);
  if (model_.sampled) {
    lines_ = SampledLines(*machine_);
    translation_.set_lines(static_cast<uint32_t>(line_bytes_), &machine_->sample());
    sample_so_far_ = 0;
    sample_is_drawn_ = false;
    for (std::atomic<uint64_t>& fills : first_fills_) fills = 0;
    say_sample();
  }
  for (const std::unique_ptr<CountedThread>& thread : owned_threads_) {
    if (thread) thread->memory = nullptr;
  }
  for (CountedThread* const thread : threads_) {
    if (thread == nullptr) continue;
    thread->memory = &machine_->add_core();
    thread->sampled = {};
    begin_thread(*thread->memory, thread->number);
  }
}

}  // namespace culprit::counting
