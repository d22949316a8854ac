#pragma once

// ImageSource: how a collector identifies what is mapped. Whoever records a machine opens the
// files while their processes live; whoever reads a recording has names and build-ids only.

#include <cstdint>
#include <optional>

#include "records/address_spaces.h"
#include "records/callchain.h"
#include "records/record.h"

namespace culprit {

class ImageSource {
 public:
  virtual ~ImageSource() = default;

  /// A number for the mapped file; the same for all mappings of the same file. `is_first`: its
  /// process has nothing else mapped yet.
  virtual FileKey intern(const MmapRecord& map, bool is_first) = 0;
  /// Text of the kernel, of a module, or of a guest's.
  virtual void map_kernel(const MmapRecord&) {}
  virtual void process(const KsymbolRecord& symbol) = 0;
  /// The image of a mapping of code; nullopt: no file is behind it.
  virtual std::optional<ImageId> find_image(uint32_t pid, const Mapping& mapping) = 0;

  /// The place of an address. `mapping`: what holds it in the process; null: nothing does, or
  /// it is not the process's own. A place without an image is not known yet: the sample waits.
  virtual Location locate(uint32_t pid, const CallFrame& frame, const Mapping* mapping) = 0;
  /// The place of an address that cannot wait.
  virtual Location locate_now(uint32_t pid, const CallFrame& frame, const Mapping* mapping) {
    return locate(pid, frame, mapping);
  }
  /// Whether the image stands for addresses that nothing is known of.
  [[nodiscard]] virtual bool is_unknown(ImageId) const { return false; }

  /// A forked child runs what its parent has mapped.
  virtual void fork(uint32_t /*parent_pid*/, uint32_t /*pid*/) {}
  /// exec, a number used again, or the end: what the process had mapped is about to be gone.
  virtual void forget(uint32_t /*pid*/) {}
};

}  // namespace culprit
