#pragma once

// RerunStreams: the standard streams of a command that runs once more. Its output has been seen
// already and goes to /dev/null; its standard input is that of the first run from where it began,
// if it can be rewound; else there is nothing in it.

#include <memory>
#include <optional>
#include <sys/types.h>

namespace culprit {

class RerunStreams {
 public:
  enum class Errors : uint8_t { shown, hidden };  // what it writes to standard error

  /// Where standard input is; call it before the first run. nullopt: it cannot be rewound.
  static std::optional<off_t> find_input();

  /// Ours, which the command inherits, are exchanged until this ends.
  explicit RerunStreams(std::optional<off_t> input_start, Errors errors = Errors::shown);
  RerunStreams(const RerunStreams&) = delete;
  RerunStreams& operator=(const RerunStreams&) = delete;
  ~RerunStreams();

 private:
  class NullStream;
  std::unique_ptr<NullStream> input_;  // of an input that cannot be rewound
  std::unique_ptr<NullStream> output_;
  std::unique_ptr<NullStream> errors_;
  off_t input_end_ = -1;
};

}  // namespace culprit
