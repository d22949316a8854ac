#pragma once

// ThreadConstructs: the OpenMP constructs that one thread is in, and calls of the runtime that are
// under way. Constructs end where the program's calls say so, or with the function that began them
// (an exception, longjmp, a cancelled loop): heights are those of the thread's CallStack.
//
//     main → GOMP_parallel → body → GOMP_critical_start …
//     1      2               3      4                       heights
//     frames: call of parallel (waiting), body of parallel, call of critical (waiting)

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "openmp/runtime_calls.h"

namespace culprit::counting {

class ThreadConstructs {
 public:
  /// Where a thread is.
  struct Place {
    uint32_t path = 0;        // 0: outside of all constructs
    bool is_waiting = false;  // to be let in, or at its end
    friend bool operator==(const Place&, const Place&) = default;
  };

  struct Frame {
    enum class What : uint8_t {
      call,      // of a function of the runtime
      body,      // of a construct, in the function that began it
      function,  // that is the body of one
      lock,      // is held; ends with nothing but its release
    };
    What what = What::body;
    Place place;
    uint16_t kind = 0;
    openmp::RuntimeCall call{};  // of a call
    size_t height = 0;           // of the function that it ends with
    uint64_t lock = 0;
    uint32_t opens = 0;  // of a call: the path that it returns into
  };

  [[nodiscard]] Place place() const { return frames_.empty() ? idle_ : frames_.back().place; }
  /// The path that what begins now is below.
  [[nodiscard]] uint32_t path() const { return frames_.empty() ? 0 : frames_.back().place.path; }
  [[nodiscard]] const std::vector<Frame>& frames() const { return frames_; }
  /// Whether what is called now is called by the runtime itself.
  [[nodiscard]] bool is_in_runtime() const {
    return !frames_.empty() && frames_.back().what == Frame::What::call;
  }

  /// The innermost function that is a construct's body; nullptr: the thread is in none.
  [[nodiscard]] const Frame* function() const;

  void push(const Frame& frame);
  /// Takes the innermost construct of the kind away, and those of the same function inside it that
  /// have not ended. nullopt: there is none.
  std::optional<Frame> end(uint16_t kind);
  /// A lock, wherever it is.
  std::optional<Frame> release(uint64_t lock);

  /// Whether fewer calls are under way than something needs.
  [[nodiscard]] bool is_any_over(size_t height) const { return height < highest_; }
  /// Takes away one that is over, the innermost first; nullopt: there are no more.
  std::optional<Frame> take_over(size_t height);

  /// The construct that ends with the barrier that comes next, if it is called in that function.
  struct Ended {
    uint32_t path = 0;
    size_t height = 0;
  };
  Ended single{};          // of libgomp: nothing says where it ends
  uint32_t last_work = 0;  // path of the work-sharing construct that has ended

 private:
  void find_highest();

  std::vector<Frame> frames_;
  Place idle_{};        // where a thread is that has nothing to do: after its team's end
  size_t highest_ = 0;  // of the frames' heights
};

}  // namespace culprit::counting
