#pragma once

// LiveNames: names of functions that have counts while these grow, and the code of one of them.
// A thread of low priority looks them up; whoever draws takes what there is by then.
//
//     want(profile)          places without a name  → symbol tables alone, image by image
//     want_code(place)       one function           → lines, inlined calls and code, too
//
// Tables are read again when new places come; how often follows from what the last time took, so
// that this thread has a hundredth of a CPU in the long run.

#include <condition_variable>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "attribute/attribution.h"
#include "model/profile.h"
#include "snapshot/snapshot.h"

namespace culprit {

class LiveNames {
 public:
  LiveNames();
  LiveNames(const LiveNames&) = delete;
  LiveNames& operator=(const LiveNames&) = delete;
  /// Ends the thread; what it reads at that moment is waited for.
  ~LiveNames();

  /// Names for all places that have counts in `profile`, soon. `tables`: those of the recording,
  /// whose images keep their numbers.
  void want(const std::shared_ptr<const Profile>& tables, const Profile& profile);
  /// The code of the function that holds `place`, soon.
  void want_code(const std::shared_ptr<const Profile>& tables, const Location& place);

  /// The facts by image. Valid for as long as any copy of the lookup is.
  [[nodiscard]] FactsLookup names() const;
  /// The facts of the function that was last wanted, with its code; other images have none.
  [[nodiscard]] FactsLookup code() const;
  /// Whether the code that was wanted is still looked for.
  [[nodiscard]] bool is_reading_code() const;

  /// Waits until everything that is wanted was looked for, at most so long.
  bool wait(uint64_t timeout_ms);

 private:
  using Facts = std::shared_ptr<const ImageFacts>;
  struct Names {
    Facts facts;                     // null: not looked for yet
    std::vector<FileOffset> places;  // that they were made for, ascending
    std::vector<FileOffset> wanted;  // all that they should be made for, ascending
    uint64_t rest_factor = 0;        // how long nothing is read, by what the last time took
    uint64_t not_before_ns = 0;      // CLOCK_MONOTONIC
  };
  struct Job {
    ImageId image;
    std::vector<FileOffset> places;
    bool with_code = false;
  };

  void run();
  bool take(Job& job, uint64_t& wait_until_ns);
  Facts read(const Profile& tables, const Job& job);
  void finish(const Job& job, Facts facts, uint64_t took_ns);

  mutable std::mutex mutex_;  // of all that follows
  std::condition_variable changed_;
  bool is_over_ = false;
  bool is_busy_ = false;
  std::shared_ptr<const Profile> tables_;
  std::map<ImageId, Names> images_;
  Location code_place_;
  bool wants_code_ = false;
  Facts code_;
  std::shared_future<Result<KernelSymbols>> kernel_symbols_;
  std::thread thread_;
};

}  // namespace culprit
