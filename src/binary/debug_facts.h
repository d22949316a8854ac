#pragma once

// What debug information says about wanted stretches of code, as plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"

namespace culprit {

struct AddressRange {
  LinkAddress begin;
  LinkAddress end;
};

/// A function as the debug information has it; one entry for each of its ranges.
struct DebugFunction {
  LinkAddress begin;
  LinkAddress end;
  uint32_t name = 0;  // in DebugFacts::strings: the linkage name if there is one
  uint32_t file = 0;  // of its declaration
  uint32_t line = 0;
};

/// Holds from `address` to the next row; file 0 and line 0: nothing known.
struct DebugLine {
  LinkAddress address;
  uint32_t file = 0;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t discriminator = 0;
};

/// An inlined call; depth 0 is inlined directly into the function.
struct DebugInline {
  LinkAddress begin;
  LinkAddress end;
  uint32_t depth = 0;
  uint32_t name = 0;
  uint32_t call_file = 0;
  uint32_t call_line = 0;
  uint32_t line = 0;  // of its declaration
  uint32_t call_discriminator = 0;
};

/// What is known about one wanted range. Lines and inlines are cut to the range; the
/// function is not: it may reach beyond it.
struct RangeFacts {
  std::optional<uint64_t> unit;        // offset of the compilation unit that describes it
  std::optional<uint64_t> lines_unit;  // and the one that `lines` are from
  std::optional<DebugFunction> function;
  std::vector<DebugLine> lines;      // by address
  std::vector<DebugInline> inlines;  // by begin, then outer before inner
};

struct DebugFacts {
  std::vector<std::string> strings;  // 0 is ""
  std::vector<RangeFacts> ranges;    // parallel to what was wanted
  uint32_t missing_split_units = 0;  // wanted units whose .dwo or .dwp was not found
  uint32_t damaged_units = 0;        // wanted units that could be read only in part
};

/// "/a/./b//c/../d" -> "/a/b/d", by text alone.
std::string normalize_path(const std::string& path);

}  // namespace culprit
