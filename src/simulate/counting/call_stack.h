#pragma once

// CallStack: the calls that one thread has under way. Calls push, returns pop down to where they
// land, so that tail calls, calls through linkage stubs and recursion need nothing more.
//
// What jumps over frames leaves dead ones behind. They end with a return to a frame below; and on
// CPUs whose calls push, with the next call, since the stack grows downwards and no frame lives at
// or below the slot that a call now writes:
//
//     main → parse → fail → longjmp to main → report
//     slots:  ff8      fe0                     ff8        parse and fail are over
//
// The rule holds within one stack of the program. A call at an address above all frames' slots is
// on another one (makecontext, a signal's): nothing is over then. A return to where no call came
// from (a signal handler's, into a new context) ends nothing either; the return that leads back
// does.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace culprit::counting {

struct BlockFacts;

class CallStack {
 public:
  struct Call {
    const BlockFacts* from = nullptr;  // the block that ends with it; it returns to the block's end
    uint64_t slot = 0;                 // where its return address is; 0: unknown
    uint64_t highest_slot = 0;         // of it and all below
  };
  static constexpr size_t kMostCalls = 1 << 20;

  /// Where the call that is under way has put its return address.
  void note_slot(uint64_t address) { slot_ = address; }

  /// The thread has run `before` and runs `now`. Returns the least height it came down to.
  size_t follow(const BlockFacts& before, const BlockFacts& now);

  /// Calls under way, with those that were forgotten since there were too many: the oldest.
  [[nodiscard]] size_t height() const { return forgotten_ + calls_.size(); }
  /// The calls under way that were not forgotten, the oldest first.
  [[nodiscard]] std::span<const Call> calls() const { return calls_; }
  /// Sites of the instructions that called, the innermost first: as many as there is room for.
  [[nodiscard]] std::span<const uint32_t> path(std::span<uint32_t> room) const;

 private:
  void push(const BlockFacts& from);
  void end_dead_calls(uint64_t slot);
  void land(uint64_t address);

  std::vector<Call> calls_;
  size_t forgotten_ = 0;
  uint64_t slot_ = 0;
};

}  // namespace culprit::counting
