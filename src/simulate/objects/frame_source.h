#pragma once

// FrameSource: which variables lie where in the frames of a program's functions, as its debug
// information says. What reads that is in a shared object of its own (simulate/frames), which the
// plugin loads when it needs it.

#include <cstdint>
#include <string>
#include <vector>

namespace culprit::objects {

/// A variable that is in memory for as long as its function runs: an array, a struct.
struct FrameVariable {
  std::string name;   // "words"; where several have one place after the other: "words or line", or
                      // "words or another" if it is another one's name, too
  std::string place;  // of its declaration: "parse.c:12"; "": not known
  int64_t begin = 0;  // from the frame's end on, where the stack pointer was before the call
  uint64_t size_bytes = 0;
  uint64_t type = 0;  // of itself, or of an array its elements': equal numbers are of one type
  friend bool operator==(const FrameVariable&, const FrameVariable&) = default;
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  /// Of the function that begins at the address in the file: ascending, without overlaps.
  virtual std::vector<FrameVariable> find_variables(uint64_t function) = 0;
};

/// What the shared object exports by the name kOpenFrameSource. `path`: of the program's file, or
/// of a library. nullptr: it has no debug information.
using OpenFrameSource = FrameSource* (*)(const char* path);
inline constexpr const char* kOpenFrameSource = "culprit_open_frame_source";
inline constexpr const char* kFramesLibrary = "libculprit_frames.so";

}  // namespace culprit::objects
