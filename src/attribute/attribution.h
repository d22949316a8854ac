#pragma once

// attribute: a location → function, inline stack, line, from ImageFacts alone.
//
//     Attributor attributor(facts);
//     const CodePlace place = attributor.find(offset);      // row numbers, no allocation
//     const Attribution told = attributor.attribute(offset); // frames, innermost first

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/image_facts.h"
#include "model/profile.h"

namespace culprit {

/// One level of code at an address. The innermost frame has the line of the address;
/// each outer one has the line where it calls the next inner one.
struct Frame {
  StringId function;  // in the ImageFacts' own strings; "" if unknown
  StringId file;
  uint32_t line = 0;
  bool inlined = false;  // this frame was inlined into the next outer one
};

struct Attribution {
  const FunctionFact* function = nullptr;  // the symbol that holds the address; may be null
  std::vector<Frame> frames;               // innermost first; empty if nothing is known
};

/// Whether a source came with a compiler or a package, so that nobody changes it to make a program
/// faster: "/usr/include/c++/12/bits/stl_vector.h", "/rustc/90c5418/library/core/src/slice/mod.rs".
bool is_system_source(std::string_view path);

/// The innermost frame of the program's own sources; nullptr: all of them are a system's. A source
/// that is not known counts as the program's.
/// Shape:  frames innermost first, in the strings of `facts`
const Frame* find_own_frame(const ImageFacts& facts, const std::vector<Frame>& frames);

/// Looks up facts; nullptr where none are known. The reference must stay valid.
using FactsLookup = std::function<const ImageFacts*(ImageId)>;

/// What is known of an address, as row numbers of its ImageFacts.
struct CodePlace {
  static constexpr uint32_t kNone = 0xffffffff;
  uint32_t function = kNone;  // functions: the symbol that holds it
  uint32_t inlined = kNone;   // inlines: the innermost inlined call
  uint32_t line = kNone;      // lines: the row that holds it, if it has a line
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// Attributes offsets of one image. Constant amortised time for ascending offsets,
/// logarithmic for any other order. One thread at a time.
class Attributor {
 public:
  /// `facts` must outlive the Attributor.
  explicit Attributor(const ImageFacts& facts);

  CodePlace find(FileOffset offset);
  Attribution attribute(FileOffset offset);

  /// The basic block that holds `offset`; null where the facts have none.
  const BlockFact* find_block(FileOffset offset);

  /// The frames of a place, innermost first; empty if nothing is known.
  [[nodiscard]] std::vector<Frame> frames(const CodePlace& place) const;
  /// The row of inlines that holds row `inlined`; kNone if the function itself does.
  [[nodiscard]] uint32_t inlined_into(uint32_t inlined) const { return parents_[inlined]; }
  [[nodiscard]] const ImageFacts& facts() const { return facts_; }

 private:
  /// The innermost inlined call is `inlined` from `begin` to the next Stretch.
  struct Stretch {
    FileOffset begin;
    uint32_t inlined = CodePlace::kNone;
  };
  void nest_inlines();
  void begin_stretch(FileOffset begin, uint32_t inlined);

  const ImageFacts& facts_;
  std::vector<uint32_t> parents_;   // parallel to facts_.inlines
  std::vector<Stretch> stretches_;  // ascending
  size_t function_cursor_ = 0;      // where the last search ended, in each table
  size_t line_cursor_ = 0;
  size_t stretch_cursor_ = 0;
  size_t block_cursor_ = 0;
};

}  // namespace culprit
