#pragma once

// Counting: all that is counted of one process, whatever engine runs it. An engine shows the code
// of each block when it translates it, and says when a block runs, when memory is accessed, and
// when threads start, call the system, fork and end. What is counted is in the counts file
// (counts_file.h), in which the host side reads it.
//
//     Counting counting(decode_x86_64);
//     RETURN_IF_ERROR(counting.start(options, {.architecture = "x86_64", ...}));
//     counting.start_thread(0);
//     const BlockFacts* block = counting.translate(code, &instructions);
//     counting.run_block<kModel, false>(0, *block);                      // execution.h
//     counting.access_known<kModel, false>(0, {site, index, 8}, address);
//
// run_block() and the functions for accesses are the fast path: they are inline templates, take no
// locks, allocate nothing and write to one thread's memory only.
//
// Threads have numbers below kMostThreads, which may be used again when a thread has ended: the
// new one has its core, with the caches as they are, and counts of its own.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/counting/counted_constructs.h"
#include "simulate/counting/counted_objects.h"
#include "simulate/counting/counting_options.h"
#include "simulate/counting/sampled_lines.h"
#include "simulate/counting/system_calls.h"
#include "simulate/counting/thread.h"
#include "simulate/counting/translation.h"
#include "simulate/counting/windows.h"
#include "simulate/counts/counts_writer.h"
#include "simulate/counts/process_images.h"
#include "simulate/machine/hierarchy.h"
#include "simulate/turns/turn_scheduler.h"

namespace culprit::counting {

struct LineAccess;
struct RoundsInLine;

/// What is modelled; a fast path is compiled for each.
struct Model {
  bool caches = false;
  simulate::Locality locality = simulate::Locality::off;
  bool cycles = false;
  bool sampled = false;  // only lines of some cache sets, from some time on
  bool objects = false;  // what is accessed is told apart by data object
  bool windows = false;  // only in windows of the run
  bool warms = false;  // before a window: caches and predictors see it, nothing is counted of them

  /// What is modelled while a window warms up.
  [[nodiscard]] constexpr Model warming() const {
    Model model = *this;
    model.cycles = false;
    model.warms = true;
    return model;
  }
};

/// The instruction that accesses memory, as an engine keeps it for its accesses.
struct AccessPlace {
  uint32_t site = 0;
  uint16_t index = 0;  // in its block
  uint16_t bytes = 0;  // if its accesses are known: the larger one
};

/// The function that an engine has to call for each access of an instruction.
enum class AccessCall : uint8_t {
  none,   // nothing has to be known of them
  count,  // access()
  round,  // access_of_round()
  known,  // access_known(), with the shape of the access
  wider,  // access_wider(): the engine shows more than AccessPlace::bytes
  load,   // access_known(), of a load of AccessPlace::bytes
  store,  // the same of a store
};

/// What the engine knows of the process.
struct ProcessSetting {
  std::string architecture;   // "x86_64", "aarch64"
  std::string program;        // its path, or a part of it
  std::string costs_path;     // of the library with the costs of instructions, for cycles
  std::string frames_path{};  // of the one that knows variables of the stack
  FindMapping find_mapping;   // asked while blocks are translated
};

/// What rounds of rep movs and rep stos take [ticks].
struct RoundCosts {
  simulate::Ticks copy_start = 0;
  simulate::Ticks fill_start = 0;
  simulate::Ticks copy_64 = 0;  // 64 bytes, by lines
  simulate::Ticks fill_64 = 0;
  simulate::Ticks alone = 0;  // a round that is none of many in a line
  uint64_t distance = 0;      // to what is read: closer ones are alone
  uint64_t distance_mask = 0;

  RoundCosts() = default;
  explicit RoundCosts(const simulate::StringSettings& settings);
  [[nodiscard]] simulate::Ticks of_bytes(const KnownAccesses& accesses, uint64_t bytes) const {
    return bytes * (accesses.load_bytes != 0 ? copy_64 : fill_64) / 64;
  }
  [[nodiscard]] bool is_alone(uint64_t source, uint64_t destination) const {
    return ((destination - source - 1) & distance_mask) < distance - 1;
  }
};

class Counting {
 public:
  static constexpr unsigned kMostThreads = counts_file::kMaxCpus;  // at a time

  explicit Counting(DecodeFunction decode) : translation_(writer_, decode) {}
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  /// Reads what the host side has put into the folder, and makes the counts file there as the last
  /// thing: without such a file the host side knows that nothing has run.
  Result<void> start(const CountingOptions& options, ProcessSetting setting);

  [[nodiscard]] Model model() const { return model_; }
  [[nodiscard]] bool has_turns() const { return turns_ != nullptr; }

  /// nullptr: a table is full, the block is not counted (and that is).
  const BlockFacts* translate(std::span<const BlockInstruction> code,
                              std::vector<TranslatedInstruction>* translated) {
    return translation_.translate(code, translated);
  }
  /// Whether it ends with a call whose slot has to be known (call_pushes()), if it has one.
  [[nodiscard]] bool is_call_watched(const BlockFacts& block) const;
  [[nodiscard]] AccessCall access_call(const BlockFacts& block,
                                       const KnownAccesses& accesses) const;

  /// A thread is there. By the thread that starts it, one at a time, or by the new one before its
  /// first block.
  void start_thread(unsigned number);

  /// The function that begins with the block, if it is one that allocates: enter_allocator() has to
  /// be called each time when it runs, after run_block().
  [[nodiscard]] std::optional<objects::Allocator> find_allocator(const BlockFacts& block);
  /// `registers`: where the engine keeps the thread's, as RegisterFile says.
  void enter_allocator(unsigned number, objects::Allocator allocator, RegisterFile registers);

  /// Whether note_registers() has to be called each time when the block runs, before anything is
  /// called from it: where the engine keeps those of the thread from then on.
  [[nodiscard]] bool needs_registers(const BlockFacts& block);
  void note_registers(unsigned number, RegisterFile registers);

  /// The function that begins with the block, if constructs begin or end there: enter_construct()
  /// has to be called each time when it runs, after run_block(). nullptr: it is none.
  [[nodiscard]] const ConstructEdge* find_construct(const BlockFacts& block);
  void enter_construct(unsigned number, const ConstructEdge& edge, RegisterFile registers);

  // System calls of the program.
  void begin_system_call(unsigned number, const SystemCall& call);
  void end_system_call(unsigned number, int64_t call, int64_t result);
  /// Tells by how much the program's addresses are shifted in this process.
  void set_base(uint64_t base) { base_ = base; }

  /// The program that this process runs ends now, by a call of this thread: what is kept in memory
  /// is written, and nothing is counted any more.
  void end_program(unsigned number);
  /// An exec ends the program: the new one is counted, too, as another process image.
  void begin_exec(unsigned number);
  /// It is not executed: what runs goes on.
  void exec_failed();
  /// Notes that the system call under way starts a program that is not counted, if it succeeds.
  void add_native_exec() {
    ++native_execs_under_way_;
    ++writer_.header().native_execs;
  }
  /// Words of the engine's own.
  void add_message(std::string_view text) { writer_.add_message(text); }

  // Around a fork, by the thread `number` that calls it.
  void before_fork();
  void after_fork_in_parent();
  /// The child counts into a file of its own; if it cannot have one, nothing is counted.
  void after_fork_in_child(unsigned number);

  /// Whether a limit was reached, from which on nothing is counted.
  [[nodiscard]] bool is_stopped() const { return is_stopped_.load(std::memory_order_relaxed); }

  // The fast path (execution.h). `kModel`: what model() says, `kInTurns`: what has_turns() says.

  template <Model kModel, bool kInTurns>
  void run_block(unsigned number, const BlockFacts& block);
  /// An access that is counted as it happens (AccessCall::count).
  template <Model kModel>
  void access(unsigned number, AccessPlace place, uint64_t address, AccessShape shape);
  /// An access that is only modelled, since counts follow from executions.
  template <Model kModel>
  void access_known(unsigned number, AccessPlace place, uint64_t address, AccessShape shape);
  template <Model kModel>
  void access_wider(unsigned number, AccessPlace place, uint64_t address, AccessShape shape);
  template <Model kModel, bool kIsStore>
  void access_known(unsigned number, AccessPlace place, uint64_t address);
  /// An access of one round of rep movs or rep stos (AccessCall::round).
  template <Model kModel>
  void access_of_round(unsigned number, AccessPlace place, uint64_t address, AccessShape shape);
  /// Does rounds that come before the one with which `round` (BlockFacts::is_round()) is about to
  /// run: to be called before run_block(). See rounds.h.
  template <Model kModel>
  void do_rounds(unsigned number, const BlockFacts& round, ChangedRegisters registers);
  /// A call wrote its return address there, before the block that it calls runs.
  void call_pushes(unsigned number, uint64_t address) {
    if (CountedThread* const thread = threads_[number]) thread->calls.note_slot(address);
  }
  /// Whether an access at the address may be one that is modelled, where a model is sampled.
  [[nodiscard]] bool may_be_modelled(uint64_t address) const { return lines_.may_hold(address); }
  /// With Model::sampled and locality, before anything else is found out of a known access: false:
  /// nothing has to be done; else access_noticed() has to be called.
  bool notices(unsigned number, AccessPlace place, uint64_t address);
  template <Model kModel>
  void access_noticed(unsigned number, AccessPlace place, uint64_t address, AccessShape shape);

 private:
  Result<void> prepare(const CountingOptions& options, ProcessSetting setting);
  Result<void> make_machine(const CountingOptions& options, const ProcessSetting& setting);
  Result<void> find_region(const CountingOptions& options);
  bool make_thread(unsigned number);
  void make_core(CountedThread& thread);
  void leave_core(CountedThread& thread);
  void note_names(unsigned number);
  void forget_threads();
  void stop();
  void renew_machine();
  void retire_machine();

  CountedThread* find_thread(unsigned number, const BlockFacts& block);
  CountedThread* watch_block(unsigned number, const BlockFacts& block);
  bool is_in_region(CountedThread& thread, const BlockFacts& block);
  bool is_skipped(CountedThread& thread, const BlockFacts& block);
  const BlockFacts& count_block(CountedThread& thread, const BlockFacts& block);
  template <Model kModel>
  void model_block(CountedThread& thread, const BlockFacts& before, const BlockFacts& block);
  void finish_block(CountedThread& thread, const BlockFacts& before, const BlockFacts& now);
  void check_limit(uint64_t own_before, uint64_t own_now);
  template <Model kModel>
  void fetch_block(CountedThread& thread, const BlockFacts& block);
  struct SiteOfObject {
    uint32_t site = 0;
    objects::ObjectNumber object = objects::kNothing;
  };
  SiteOfObject find_site_of(CountedThread& thread, uint32_t instruction, uint64_t address);
  uint32_t find_site(CountedThread& thread, uint32_t instruction, uint64_t address);
  objects::ObjectNumber find_allocator_object(CountedThread& thread);
  objects::ObjectNumber find_object_of(CountedThread& thread, objects::ObjectNumber object,
                                       uint64_t address);
  const objects::FrameLayout& frame_of(const BlockFacts& block);
  objects::ObjectNumber find_stack_object(CountedThread& thread, uint64_t address);
  objects::ObjectNumber find_foreign_object(CountedThread& thread, uint64_t address);
  void note_offset(CountedThread& thread, uint32_t site, objects::ObjectNumber object,
                   uint64_t address);
  uint32_t find_other_site(CountedThread& thread, uint32_t instruction,
                           objects::ObjectNumber object, uint64_t address);
  template <Model kModel>
  void model_shaped(CountedThread& thread, AccessPlace place, uint64_t address, AccessShape shape,
                    bool is_new);
  size_t follow_calls(CountedThread& thread, const BlockFacts& before, const BlockFacts& now);
  // Rounds (rounds.h).
  [[nodiscard]] bool is_overlapping(uint64_t source, uint64_t destination) const;
  uint64_t find_rounds(unsigned number, const BlockFacts& round, const uint64_t* registers);
  void move_all(const KnownAccesses& accesses, const uint64_t* registers, uint64_t rounds) const;
  void note_rounds(unsigned number, const BlockFacts& round, uint64_t rounds);
  [[nodiscard]] simulate::Ticks find_round_ticks(const CountedThread& thread, bool is_backward,
                                                 uint64_t bytes) const;
  template <Model kModel>
  void count_rounds(CountedThread& thread, const BlockFacts& round, const RoundsInLine& line);
  template <Model kModel>
  void access_line(CountedThread& thread, const LineAccess& line);
  template <Model kModel>
  void access_line_at(CountedThread& thread, const LineAccess& line, uint32_t site);
  template <Model kModel>
  void access_objects(CountedThread& thread, LineAccess line);

  void begin_mapping(CountedThread& thread, const SystemCall& call);
  void end_mapping(CountedThread& thread, int64_t result);
  Result<void> start_objects(const CountingOptions& options, const ProcessSetting& setting);
  Result<void> start_constructs(const CountingOptions& options, const ProcessSetting& setting);
  void see_code(uint32_t mapping, const FoundMapping& found);
  void settle_region(CountedThread& thread, const BlockFacts* counted);
  RegionPart* find_region_part(CountedThread& thread, ThreadConstructs::Place place);
  void switch_region_part(CountedThread& thread, uint64_t key, RegionPart& to,
                          const BlockFacts* counted);
  void leave_regions(CountedThread& thread);
  template <Model kModel>
  void model_sampled(CountedThread& thread, uint32_t site, uint64_t address, AccessShape shape,
                     bool is_new);
  template <Model kModel>
  void note_access(CountedThread& thread, uint64_t address);
  void look_at_sample(CountedThread& thread, uint64_t address);
  void look_at_object(CountedThread& thread, AccessPlace place, uint64_t address,
                      AccessShape shape);
  void begin_sample();
  void say_sample();
  void count_sampled_miss(CountedThread& thread, uint32_t site, uint64_t address,
                          simulate::Outcome outcome, uint8_t stratum, counts_file::Counter first);
  void look_at_window(CountedThread& thread);
  void leave_window(CountedThread& thread);
  void write_window(CountedThread& thread);

  void say_instructions(CountedThread& thread);
  void set_huge_pages(MemoryRange range, bool is_huge);
  void start_turns(uint32_t line_transfer_cycles);
  void expect_thread(unsigned number);
  void end_turns(unsigned number);
  void renew_turns(unsigned number);
  [[nodiscard]] bool is_in_turn(unsigned number) const {
    return turns_ != nullptr && number < TurnScheduler::kMostThreads && threads_[number] != nullptr;
  }
  template <bool kInTurns>
  void wait_for_turn(unsigned number);

  // The places are the numbers of threads; one that is not counted has nullptr. `counting_` has
  // those whose accesses are counted now: all, or those in the region.
  std::array<CountedThread*, kMostThreads> threads_{};
  std::array<CountedThread*, kMostThreads> counting_{};
  std::array<std::unique_ptr<CountedThread>, kMostThreads> owned_threads_;
  std::atomic<uint64_t> ended_instructions_{0};  // of threads whose number another one has
  uint64_t limit_ = UINT64_MAX;                  // of the instructions of all threads together
  bool watches_part_ = false;                    // --roi, --skip
  bool has_region_ = false;
  uint64_t skipped_ = 0;
  std::atomic<uint64_t> run_so_far_{0};  // instructions of all threads, until they are `skipped_`
  SampledLines lines_;
  // Of a sample that begins later:
  uint64_t sample_first_ = 0;               // accesses of all threads, before it does; 0: at once
  std::atomic<uint64_t> sample_so_far_{0};  // of these accesses
  std::atomic<bool> sample_is_drawn_{false};
  std::array<std::atomic<uint64_t>, counts_file::kMostGroups> first_fills_{};  // of L1, by group

  OwnImage image_;
  CountsWriter writer_;
  Translation translation_;
  SystemCalls system_calls_;
  uint64_t base_ = 0;
  Model model_;
  uint64_t line_bytes_ = 64;  // of the machine, if there is one
  RoundCosts round_costs_;
  std::atomic<bool> knows_registers_{false};  // that an engine shows, of rounds: they are right
  std::unique_ptr<simulate::Hierarchy> machine_;
  std::vector<std::unique_ptr<simulate::Hierarchy>> retired_machines_;
  std::unique_ptr<TurnScheduler> turns_;  // --deterministic
  std::unique_ptr<Windows> windows_;      // --windows
  std::atomic<uint32_t> native_execs_under_way_{0};
  std::unique_ptr<CountedObjects> objects_;
  const objects::ShadowMemory* shadow_ = nullptr;  // of objects_
  std::unique_ptr<CountedConstructs> constructs_;
  bool follows_calls_ = false;  // for either
  std::atomic<bool> is_stopped_{false};
  std::mutex starting_;  // of threads: one at a time
};

}  // namespace culprit::counting
