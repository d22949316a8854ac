#pragma once

// The functions of OpenMP runtimes that programs call where constructs begin and end: libgomp's
// (GOMP_*), LLVM's (__kmpc_*), and the locks of both (omp_*), by the names of their symbols. For
// those who see calls from outside, as a simulator does, and need no code inside the program.
//
//     GOMP_loop_dynamic_start  begins_work  loop  dynamic
//     GOMP_critical_start      enters       critical
//     GOMP_parallel            runs_team    parallel, body: argument 0

#include <cstdint>
#include <optional>
#include <string_view>

#include "openmp/region_kinds.h"

namespace culprit::openmp {

/// What a call means for the thread that makes it.
enum class Step : uint8_t {
  none,
  works,           // for the thread where it is, which is its own affair
  runs_team,       // has a team run the body, and returns when all have ended
  starts_team,     // the same in two calls: the caller runs the body in between (before GCC 4.9)
  ends_team,       // the second
  begins_serial,   // a team of this thread alone, which calls the body itself
  ends_serial,     //
  begins_work,     // returns inside a loop, or sections
  takes_piece,     // a chunk, a section: of libgomp; returns 0 if there is none
  takes_last,      // the same of LLVM's runtime, which has no other end
  ends_work,       // may wait for the team
  begins_single,   // returns whether this thread runs it; a barrier follows, or nothing
  begins_copy,     // the same with copyprivate: waits unless this thread runs it (returns 0)
  ends_copy,       //
  begins_if,       // returns whether this thread is inside
  enters,          // waits until this thread is inside
  leaves,          //
  locks,           // as `enters`, but may be left in any order
  locks_if,        // as `begins_if`
  unlocks,         //
  waits,           // does nothing else
  creates_task,    // the body may run at once, later, or on other threads
  runs_task_loop,  // as creates_task, and may wait for the tasks
};

struct RuntimeCall {
  static constexpr uint8_t kNone = 0xff;

  Step step = Step::none;
  uint8_t body = kNone;      // argument that is the function with the construct's body
  uint8_t schedule = kNone;  // argument that is the schedule, as LLVM's runtime has them
  uint16_t kind = CULPRIT_KIND_NONE;
  uint16_t detail = CULPRIT_DETAIL_NONE;
  uint16_t loop = CULPRIT_DETAIL_NONE;  // runs_team: the body is a loop of this schedule
  friend bool operator==(const RuntimeCall&, const RuntimeCall&) = default;
};

std::optional<RuntimeCall> find_runtime_call(std::string_view symbol);

/// What LLVM's runtime means by a number.
/// Source: enum sched_type of LLVM 19's runtime
struct Schedule {
  uint16_t detail = CULPRIT_DETAIL_OTHER;
  bool distributes = false;  // over teams
};
Schedule find_schedule(uint32_t number);

}  // namespace culprit::openmp
