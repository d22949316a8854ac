#pragma once

// Unwinder: copies of user registers and stacks → call frames, for the samples of many
// processes. It keeps what it learns of a file, for all processes and the whole time; of
// processes it keeps nothing, so mappings may change (exec, dlopen, fork) at any time.
//
//   Unwinder unwinder("x86_64", [&](uint32_t pid, const Mapping& mapping) { ... });
//   UnwoundStack stack = unwinder.unwind(pid, spaces, sample.user_registers, sample.user_stack);
//   if (const LedgerKind* kind = find_stop_kind(stack.stop)) ledger.add(*kind);
//
// Memory: the tables of at most 256 files with at most 32,768 rules each; those that were not
// used for the longest time go first, and are read again when they are needed.
//
// A mapping of "[vdso]" must have file_offset 0 (perf's records have one that means nothing),
// and `open` may answer it with a memfd.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "records/user_stack.h"

namespace culprit {

class Unwinder {
 public:
  /// `architecture` of the samples, as `uname -m` prints it. One that is not known makes
  /// every walk end with UnwindStop::unsupported. A FileKey means the same file throughout;
  /// `open` is asked once for each, unless it was forgotten for want of room.
  Unwinder(std::string_view architecture, OpenMappedFile open);
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;
  ~Unwinder();

  /// Whatever the registers and the stack hold, it ends after kMostUnwoundFrames frames.
  UnwoundStack unwind(uint32_t pid, const AddressSpaces& spaces, const RegisterDump& registers,
                      std::span<const std::byte> stack);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culprit
