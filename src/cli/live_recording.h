#pragma once

// LiveRecording: record() in a thread of its own, and what it has handed on until now.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "collect/record.h"
#include "recording/run_control.h"
#include "top/live_counts.h"

namespace culprit {

class LiveRecording {
 public:
  /// `takes_what_it_may`: where the whole system is refused, the processes that one may watch are
  /// sampled instead.
  LiveRecording(RecordOptions options, bool takes_what_it_may);
  LiveRecording(const LiveRecording&) = delete;
  LiveRecording& operator=(const LiveRecording&) = delete;
  /// Ends the recording; a program that it started is asked to end (SIGTERM), but not waited for.
  ~LiveRecording();

  LiveCounts& counts() { return counts_; }
  [[nodiscard]] uint64_t lost() const { return lost_; }
  /// "whole system", "process 4711", ...
  [[nodiscard]] std::string describe() const;
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Why it ended, if that was an error.
  [[nodiscard]] std::optional<Error> problem() const;

 private:
  class Control final : public RunControl {
   public:
    void stop();
    [[nodiscard]] int descriptor() const override { return events_.descriptor(); }
    RunRequests take() override { return events_.take(); }
    void follow_command(pid_t command) override { command_ = command; }

   private:
    EventControl events_;
    std::atomic<pid_t> command_ = 0;
  };

  void run(bool takes_what_it_may);
  Result<Recording> record_now();

  RecordOptions options_;
  Control control_;
  LiveCounts counts_;
  std::atomic<uint64_t> lost_ = 0;
  std::atomic<bool> has_ended_ = false;
  mutable std::mutex mutex_;  // of what follows
  std::string of_;
  std::optional<Error> problem_;
  std::thread thread_;
};

}  // namespace culprit
