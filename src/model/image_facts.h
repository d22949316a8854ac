#pragma once

// ImageFacts: what reports need to know of an image without having it. Made once
// by `snapshot`, stored in the profile, read by `attribute`: a profile travels
// alone because of them. They cover the parts of the image that have counts.
//
// All offsets are in the image's own offset space (see Image in profile.h).

#include <cstdint>
#include <string>
#include <vector>

#include "base/address.h"
#include "model/string_table.h"

namespace culprit {

/// Where names and lines came from, for doctor, ledger and `report --by module`.
enum class SymbolSource : uint8_t {
  none,
  dynsym,
  minidebug,
  symtab,
  dwarf,
  kallsyms,
  jit_map,
  jitdump
};

/// A function: [begin, end). In order of begin; nested or overlapping ranges do
/// not occur (aliases are resolved to one name).
struct FunctionFact {
  FileOffset begin;
  FileOffset end;
  StringId name;          // demangled, for people
  StringId linkage_name;  // as the linker sees it; "" if the same
  StringId file;          // of its declaration; "" if unknown
  uint32_t line = 0;
  friend bool operator==(const FunctionFact&, const FunctionFact&) = default;
};

/// A row of the line table: holds from `offset` to the next row. file "" and line
/// 0: no line known from here on.
struct LineFact {
  FileOffset offset;
  StringId file;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t discriminator = 0;  // tells copies of a line apart, as the compiler numbers them
  friend bool operator==(const LineFact&, const LineFact&) = default;
};

/// An inlined call covering [begin, end). Sorted by begin, then outer before inner:
/// the frames that contain an address, in order, are its inline stack. A call with
/// several ranges has a row for each.
struct InlineFact {
  FileOffset begin;
  FileOffset end;
  uint32_t depth = 0;  // 0: inlined directly into the function
  StringId name;       // demangled
  StringId call_file;  // where it was called
  uint32_t call_line = 0;
  StringId linkage_name{};  // as the linker would see it; "" if the same
  uint32_t line = 0;        // of its declaration; 0 if unknown
  uint32_t call_discriminator = 0;
  friend bool operator==(const InlineFact&, const InlineFact&) = default;
};

/// Machine code of one stretch.
struct CodeFact {
  FileOffset begin;
  std::string bytes;
  friend bool operator==(const CodeFact&, const CodeFact&) = default;
};

/// A basic block of a function, as `code` decodes: [begin, begin + size_bytes). In order of
/// begin; none overlap, none reach beyond their function. They are kept beside the code
/// because decoding is by far the slowest thing a report could do.
struct BlockFact {
  FileOffset begin;
  uint32_t size_bytes = 0;
  friend bool operator==(const BlockFact&, const BlockFact&) = default;
};

enum class JumpKind : uint8_t {
  complete,       // by a table, all entries of which are known
  partial,        // by a table that may go on
  never_returns,  // a call that never comes back; `to` is the place behind it
};

/// Where control goes that the instruction itself does not say. In order of `from`, then `to`,
/// which is where a block begins, or outside of the function.
struct JumpFact {
  FileOffset from;  // an indirect jump, or a call
  FileOffset to;
  JumpKind kind = JumpKind::complete;
  friend bool operator==(const JumpFact&, const JumpFact&) = default;
};

/// Consecutive lines of a source file, numbered from first_line.
struct SourceFact {
  StringId file;
  uint32_t first_line = 1;
  std::vector<std::string> lines;
  friend bool operator==(const SourceFact&, const SourceFact&) = default;
};

/// A loaded part of the file: offset [begin, begin + size) is at `link_address`.
struct SegmentFact {
  FileOffset begin;
  uint64_t size_bytes = 0;
  LinkAddress link_address;
  friend bool operator==(const SegmentFact&, const SegmentFact&) = default;
};

/// A member of the type of some data: of the variable at `place`, of what the call there allocates,
/// or of a variable on the stack of the function that begins there. All members of one of these
/// follow each other; elements of arrays have one type.
struct FieldFact {
  FileOffset place;
  bool is_call = false;
  StringId type;
  uint64_t element_bytes = 0;
  StringId name;         // "who.id"; "": padding, or the whole of what is no struct
  StringId member_type;  // "": padding
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  StringId variable{};  // of the stack: as its object is named (instance_names.h); "": no such one
  friend bool operator==(const FieldFact&, const FieldFact&) = default;
};

struct ImageFacts {
  std::string architecture;  // "x86_64", "aarch64": for decoding `code`
  SymbolSource symbol_source = SymbolSource::none;
  bool has_lines = false;
  std::string debug_file;  // where debug information was found; "" if in the image
  std::string missing;     // why there is less than there could be; "" if nothing is missing

  StringTable strings;  // own ones: facts are stored and loaded alone
  std::vector<SegmentFact> segments;
  std::vector<FunctionFact> functions;
  std::vector<LineFact> lines;
  std::vector<InlineFact> inlines;
  std::vector<BlockFact> blocks;  // empty: not found yet, `code` has to be decoded
  std::vector<JumpFact> jumps;
  std::vector<CodeFact> code;
  std::vector<SourceFact> sources;
  std::vector<FieldFact> fields;  // by (is_call, place, variable, offset)
};

/// Makes the facts of code that is one function and has no file, as a BPF program is. Their source
/// is kallsyms.
ImageFacts make_code_object_facts(const std::string& architecture, const std::string& name,
                                  uint64_t size_bytes);

/// What the facts take in memory.
/// Units:  -> [bytes]
/// Errors: of strings, the allocator's own share is not known: a tenth or so
uint64_t estimate_memory_bytes(const ImageFacts& facts);

/// The link address of an offset; the offset's own number where no segment has it.
LinkAddress to_link_address(const ImageFacts& facts, FileOffset offset);

}  // namespace culprit
