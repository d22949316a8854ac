#include "simulate/turns/turn_scheduler.h"

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

namespace culprit::counting {
namespace {

constexpr TurnQuanta kSchedulerQuanta{.shortest = 100, .longest = 400};

/// Never destroyed: its watcher may outlive the test.
TurnScheduler& make_scheduler() {
  static auto& all = *new std::vector<std::unique_ptr<TurnScheduler>>;
  return *all.emplace_back(std::make_unique<TurnScheduler>(kSchedulerQuanta));
}

/// Threads that tell a scheduler what an engine's would, and note in which order they run.
class Program {
 public:
  Program() {
    EXPECT_EQ(::pipe(ends_.data()), 0);
    EXPECT_EQ(::pipe(words_.data()), 0);
    EXPECT_TRUE(scheduler_.expect(0, clocks_[0]));
  }

  void call(unsigned number, const std::function<void()>& work) {
    scheduler_.begin_call(number, clocks_[number], {});
    work();
    scheduler_.end_call(number, clocks_[number], false);
  }

  void run_blocks(unsigned number, unsigned blocks, uint64_t step) {
    for (unsigned i = 0; i < blocks; ++i) {
      if (scheduler_.is_over(number, clocks_[number])) {
        scheduler_.pass(number, clocks_[number], false);
      }
      order_.push_back(number);  // nobody else runs now
      clocks_[number] += step;
    }
  }

  void start(unsigned number, const std::function<void()>& work) {
    scheduler_.begin_call(0, clocks_[0], {.starts_thread = true});
    EXPECT_TRUE(scheduler_.expect(number, clocks_[number]));
    threads_.emplace_back([this, number, work] { run_thread(number, work); });
    scheduler_.end_call(0, clocks_[0], false);
  }
  /// Newer QEMUs do it so: the thread tells of itself, some time after it has begun.
  void start_untold(unsigned number, const std::function<void()>& work) {
    scheduler_.begin_call(0, clocks_[0], {.starts_thread = true});
    threads_.emplace_back([this, number, work] {
      ::usleep(300 * number);
      EXPECT_TRUE(scheduler_.expect(number, clocks_[number]));
      run_thread(number, work);
    });
    scheduler_.end_call(0, clocks_[0], false);
  }
  /// QEMU's call waits until the thread is there, which takes the machine `delay_us`.
  void start_and_wait(unsigned number, unsigned delay_us, const std::function<void()>& work) {
    scheduler_.begin_call(0, clocks_[0], {.starts_thread = true});
    const auto has_come = std::make_shared<std::promise<void>>();
    threads_.emplace_back([this, number, delay_us, work, has_come] {
      ::usleep(delay_us);
      EXPECT_TRUE(scheduler_.expect(number, clocks_[number]));
      has_come->set_value();
      run_thread(number, work);
    });
    has_come->get_future().wait();
    scheduler_.end_call(0, clocks_[0], false);
  }
  void fail_to_start(unsigned number, bool is_told) {
    scheduler_.begin_call(0, clocks_[0], {.starts_thread = true});
    if (is_told) {
      EXPECT_TRUE(scheduler_.expect(number, clocks_[number]));
    }
    scheduler_.end_call(0, clocks_[0], true);
  }

  void read_from(unsigned number, const std::array<int, 2>& pipe) {
    char byte = 0;
    call(number, [&] { EXPECT_EQ(::read(pipe[0], &byte, 1), 1); });
  }
  void write_to(unsigned number, const std::array<int, 2>& pipe) {
    call(number, [&] { EXPECT_EQ(::write(pipe[1], "x", 1), 1); });
  }

  std::vector<unsigned> end() {
    for (size_t i = 0; i < threads_.size(); ++i) {
      read_from(0, ends_);
      run_blocks(0, 3, 10);
    }
    for (std::thread& one : threads_) one.join();
    scheduler_.stop();
    for (const int one : {ends_[0], ends_[1], words_[0], words_[1]}) ::close(one);
    return order_;
  }

  const std::array<int, 2>& words() const { return words_; }

 private:
  void run_thread(unsigned number, const std::function<void()>& work) {
    run_blocks(number, 1, 1);
    work();
    write_to(number, ends_);
    scheduler_.begin_call(number, clocks_[number], {.ends_thread = true});
  }

  TurnScheduler& scheduler_ = make_scheduler();
  std::vector<std::thread> threads_;
  std::array<uint64_t, 4> clocks_{0, 5000, 70, 0};  // begin anywhere
  std::vector<unsigned> order_;
  std::array<int, 2> ends_{};
  std::array<int, 2> words_{};
};

/// The order in which its threads run, if it is the same each time.
std::vector<unsigned> run_often(const std::function<void(Program&)>& start) {
  std::vector<unsigned> first;
  for (int run = 0; run < 20; ++run) {
    Program program;
    start(program);
    const std::vector<unsigned> order = program.end();
    if (run == 0) first = order;
    EXPECT_EQ(order, first) << "run " << run;
  }
  return first;
}

#define NEEDS_WATCHING() \
  if (!TurnScheduler::can_watch()) GTEST_SKIP() << "this kernel does not show what threads do"

TEST(TurnScheduler, OrderOfThreadsIsTheSameWhateverTheKernelDoes) {
  NEEDS_WATCHING();
  const auto order = run_often([](Program& program) {
    for (const unsigned number : {1U, 2U, 3U}) {
      program.start(number, [&program, number] { program.run_blocks(number, 200, 5 + number); });
    }
  });
  EXPECT_EQ(order.size(), 3 * 201U + 9U);
}

TEST(TurnScheduler, ThreadThatTellsOfItselfIsWaitedFor) {
  NEEDS_WATCHING();
  const auto order = run_often([](Program& program) {
    for (const unsigned number : {3U, 1U, 2U}) {
      program.start_untold(number, [&program, number] { program.run_blocks(number, 200, 7); });
      program.run_blocks(0, 5, 100);
    }
  });
  EXPECT_EQ(order.size(), 3 * 201U + 3 * 5 + 9U);
  // The first thread runs beside who has started it, until the second one starts.
  const auto first = std::find(order.begin(), order.end(), 3U);
  EXPECT_LT(first - order.begin(), 5);
}

TEST(TurnScheduler, OrderIsTheSameHoweverLongAThreadTakesToCome) {
  NEEDS_WATCHING();
  const auto start_three = [](Program& program, unsigned delay_us) {
    for (const unsigned number : {3U, 1U, 2U}) {
      program.start_and_wait(number, delay_us,
                             [&program, number] { program.run_blocks(number, 50, 7); });
    }
  };
  const auto soon = run_often([&](Program& program) { start_three(program, 0); });
  const auto late = run_often([&](Program& program) { start_three(program, 3000); });
  EXPECT_EQ(late, soon);
}

TEST(TurnScheduler, ThreadThatWasNotStartedIsNotWaitedFor) {
  NEEDS_WATCHING();
  for (const bool is_told : {false, true}) {
    const auto order = run_often([is_told](Program& program) {
      program.fail_to_start(2, is_told);
      program.start(1, [&program] { program.run_blocks(1, 20, 10); });
      program.fail_to_start(3, is_told);
      program.run_blocks(0, 20, 10);
    });
    EXPECT_EQ(order.size(), 21 + 20 + 3U);
  }
}

TEST(TurnScheduler, WhoIsWokenComesAtTheTimeOfWhoWakesIt) {
  NEEDS_WATCHING();
  const auto order = run_often([](Program& program) {
    program.start(1, [&program] {
      for (int i = 0; i < 20; ++i) {
        program.read_from(1, program.words());
        program.run_blocks(1, 2, 10);
      }
    });
    program.start(2, [&program] {
      for (int i = 0; i < 20; ++i) {
        program.run_blocks(2, 50, 10);
        program.write_to(2, program.words());
      }
    });
  });
  EXPECT_EQ(order.size(), 1 + 20 * 2U + 1 + 20 * 50U + 6);
  // It has slept through 500 of the other: but does not run that long before it.
  unsigned in_a_row = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    in_a_row = i > 0 && order[i] == order[i - 1] ? in_a_row + 1 : 1;
    if (order[i] == 1) {
      EXPECT_LE(in_a_row, 2 * 2U);
    }
  }
}

}  // namespace
}  // namespace culprit::counting
