#pragma once

// RowKey: the row that a sample belongs to, as ids, so that a hundred thousand
// locations add up without touching a string; describe() names it afterwards.

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "attribute/code_index.h"
#include "attribute/object_names.h"
#include "attribute/region_names.h"
#include "flow/code_flow.h"
#include "report/report.h"
#include "report/row_names.h"

namespace culprit {

/// The levels of a report, as flags.
struct Levels {
  bool process = false, comm = false, thread = false, module = false, function = false,
       line = false, loop = false, block = false, instruction = false, object = false,
       region = false;

  static Levels of(const std::vector<RowLevel>& levels);
  void add(RowLevel level);
  [[nodiscard]] bool names_process() const { return process || comm; }
  /// Rows of different contexts may differ.
  [[nodiscard]] bool context() const { return names_process() || thread || region; }
  [[nodiscard]] bool address() const { return loop || block || instruction; }
  [[nodiscard]] bool code() const { return function || line || address(); }
};

struct RowKey {
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr uint64_t kNoOffset = UINT64_MAX;

  uint32_t process = kNone;  // rows of the profile's tables
  uint32_t thread = kNone;
  uint32_t image = kNone;
  uint32_t name = kNone;   // of the function, in the image's own strings
  uint32_t asked = kNone;  // likewise: of the function around it that the filters mean
  uint32_t file = kNone;   // likewise
  uint32_t line = 0;
  uint64_t offset = kNoOffset;  // instruction, block, loop, or code without a name
  ObjectId object{};            // as counts have it
  RegionId region{};            // as contexts have it
  bool code = false;            // false: only process, thread and region mean something
  bool inlined = false;
  bool has_block = false;  // offset is the first of a block or loop that is known
  friend bool operator==(const RowKey&, const RowKey&) = default;
};

struct RowKeyHash {
  size_t operator()(const RowKey& key) const noexcept;
};

/// Makes keys and names them. `levels`: which parts matter.
class RowKeys {
 public:
  /// Filters by function mean the innermost, except where another frame is chosen: then all code
  /// of the functions that they name, with what is inlined into it.
  RowKeys(CodeIndex& code, Levels levels, FrameChoice frames = FrameChoice::innermost,
          const std::vector<Filter>& filters = {})
      : code_(code),
        levels_(levels),
        frames_(frames),
        asked_(find_asked_functions(frames, filters)),
        flow_(code),
        objects_(code),
        regions_(code),
        images_(code.profile().images.size() + 1) {}
  RowKeys(const RowKeys&) = delete;  // names point into the pool
  RowKeys& operator=(const RowKeys&) = delete;

  /// Process, thread and region of a context, as far as they matter.
  [[nodiscard]] RowKey of_context(ContextId context) const;
  /// Adds the code at `location` to the key of its context.
  RowKey of_location(RowKey key, const Location& location);
  /// Adds the data object, as far as it matters.
  [[nodiscard]] RowKey of_object(RowKey key, ObjectId object) const;
  /// One frame of a call stack at `location` (call trees: no blocks or instructions).
  RowKey of_frame(RowKey key, const Location& location, const Frame& frame) const;

  /// The key's names, which live as long as this.
  RowNames name(const RowKey& key);
  ReportRow describe(const RowKey& key) { return to_row(name(key)); }

 private:
  /// Words of an image, as names, by the ids of its own strings; found once each.
  struct ImageNames {
    Name module;
    std::vector<Name> words;
  };

  void name_code(const RowKey& key, RowNames& row);
  void name_address(const RowKey& key, RowNames& row);
  static std::vector<std::string> find_asked_functions(FrameChoice frames,
                                                       const std::vector<Filter>& filters);
  const Frame* find_asked(ImageId image, const std::vector<Frame>& frames);
  /// The loop or block around a location, whichever the levels ask for.
  std::optional<CodeIndex::Range> find_part(const Location& location);
  [[nodiscard]] RowKey of_loop(RowKey key, const Location& location);
  ImageNames& image_names(ImageId image);
  Name module(ImageId image);
  Name word(ImageId image, StringId id);

  CodeIndex& code_;
  Levels levels_;
  FrameChoice frames_;
  std::vector<std::string> asked_;               // patterns
  std::unordered_map<uint64_t, bool> is_asked_;  // by image and name
  CodeFlow flow_;
  ObjectNames objects_;
  RegionNames regions_;
  NamePool pool_;
  std::vector<ImageNames> images_;  // parallel to the profile's, one more for none
};

}  // namespace culprit
