#pragma once

// What every collection of samples or counts results in, whoever collects: room `collect`
// from the kernel or the shim, room `simulate` from an emulated program.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"

namespace culprit {

/// automatic: the events asked for; without any the timer, or what replaces it. simulate: by
/// run_simulated() (room `simulate`), not record(). timer_and_simulate: one after the other.
enum class EngineChoice : uint8_t {
  automatic,
  timer,
  posix_timer,
  pmu,
  simulate,
  timer_and_simulate
};

struct RecordProgress {
  double elapsed_s = 0;
  uint64_t samples = 0;
  uint64_t lost = 0;
};

/// Called about once a second with all tables and the counts that are new; an error (disk
/// full) stops the recording, and the error is returned with what was recorded so far kept.
using RecordSink = std::function<Result<void>(const Profile&)>;
using ProgressSink = std::function<void(const RecordProgress&)>;

/// What was recorded is handed on so often.
inline constexpr uint64_t kFlushEveryNs = 1'000'000'000;

/// What a recording leaves for its caller.
struct Recording {
  Profile profile;             // tables complete; counts since the last sink call
  std::map<ImageId, Fd> held;  // files of images with samples, kept open
  std::vector<std::pair<ImageId, ImageFacts>> jit_facts;  // what maps and dumps told of JIT code
  uint64_t samples = 0;
  uint64_t lost = 0;
  EngineChoice engine = EngineChoice::timer;  // the one that was used
  std::vector<std::string> remarks;           // for the terminal: what fell back, and why
  int command_wait_status = 0;                // as wait(2); of the command, if there was one
  bool command_started = false;
  bool interrupted = false;  // somebody asked for its end

  /// What was recorded; a recording is of one run.
  [[nodiscard]] RunId run_id() const { return RunId(profile.runs.size() - 1); }
  Run& run() { return profile.runs.back(); }
  [[nodiscard]] const Run& run() const { return profile.runs.back(); }
};

}  // namespace culprit
