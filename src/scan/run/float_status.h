#pragma once

// Which exceptional floating-point operations a program does, and where the first of each kind is,
// from a native run: the CPU keeps in a status register (MXCSR, and that of the x87) what has
// happened since the program began. Values of its operands are not needed for that.
//
//     run 1   the status at the end of each thread         overflow, denormal
//     run 2   traps where the first overflow happens       kernel+0x11a0
//     run 3   traps where the first denormal is used       kernel+0x11b4
//
// The software PMU does not see values. So this takes the CPU that the program was built for, and
// permission to trace our own children.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::scan {

/// The bits of MXCSR and of the x87's status word.
enum class FloatEvent : uint8_t {
  invalid = 0x01,
  denormal_operand = 0x02,
  division_by_zero = 0x04,
  overflow = 0x08,
  underflow = 0x10,
};

/// "overflow", "denormal operand": for people, and in the file.
std::string float_event_name(FloatEvent event);

struct FloatEventPlace {
  FloatEvent event = FloatEvent::invalid;
  std::string path;          // of the first such instruction's file; "": it could not be found
  uint64_t file_offset = 0;  // of that instruction
};

/// Runs `command` as often as there are kinds of events, and once more. Standard input and output
/// are those of our caller. No other children of this process may end meanwhile.
/// Errors: it cannot be traced; it does not end well, or not within `limit_ns`; another CPU's
Result<std::vector<FloatEventPlace>> watch_float_events(const std::vector<std::string>& command,
                                                        uint64_t limit_ns);

}  // namespace culprit::scan
