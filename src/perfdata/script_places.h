#pragma once

// ScriptPlaces: what perf's text says of an address, where the profile needs it.
//
//   mapped       the place is image and file offset, as in a perf.data file; names are
//                kept for the case that the binary is not to be had
//   not mapped   the place is the dso with the address as printed, and the names are the
//                only ones there will ever be: such an image is never looked up

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/builder.h"
#include "model/image_facts.h"
#include "perfdata/script_line.h"
#include "records/callchain.h"

namespace culprit {

class ScriptPlaces {
 public:
  explicit ScriptPlaces(ProfileBuilder& builder) : builder_(builder) {}

  /// Forgets the frames of the last sample.
  void begin_sample() { hints_.clear(); }
  /// `address` (in the process; of callers the byte before) is what perf printed as `frame`,
  /// whose views must live until the next begin_sample().
  void expect(RunAddress address, const ScriptFrame& frame, bool is_caller);
  /// The place of an address that mappings put at `place`.
  Location refine(RunAddress address, const Location& place);

  /// The names, by image.
  std::vector<std::pair<ImageId, ImageFacts>> release_facts();

 private:
  struct Hint {
    ScriptFrame frame;
    bool is_caller = false;
  };
  struct Named {
    FileOffset end;
    StringId name;  // of the profile's strings
  };
  struct Names {
    bool is_looked_up = false;  // a binary can say more
    std::map<FileOffset, Named> functions;
  };

  bool note(ImageId image, FileOffset offset, const Hint& hint);
  ImageId find_image(const std::string& dso, bool is_offset, size_t layer);
  Location place_in_dso(const Hint& hint);

  ProfileBuilder& builder_;
  std::unordered_map<uint64_t, Hint> hints_;  // of the sample, by address
  std::unordered_map<std::string, std::vector<ImageId>> images_;
  std::map<ImageId, Names> names_;
};

/// The mode in which the code of a frame runs: the text does not say, but the dso does.
Mode find_script_mode(const ScriptFrame& frame);

}  // namespace culprit
