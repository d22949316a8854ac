#pragma once

// DwarfFrames: variables in the frames of functions, by DWARF. Built on libdw.
//
//     DW_TAG_subprogram parse      DW_AT_frame_base  DW_OP_call_frame_cfa    the frame's end, or a
//                                                    register, as far below as the unwinder's rules
//                                                    say
//       DW_TAG_variable words      DW_AT_location    DW_OP_fbreg -2432       2,432 bytes before it
//
// Only arrays and structs are told, and only those that are in one place for as long as the
// function runs. Scopes that come one after the other may share a place: their variables are one,
// by all of their names. Whoever sees a single name knows that all of it has one type.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulate/objects/frame_source.h"

struct Dwarf;
struct Dwarf_CFI_s;
struct Elf;

namespace culprit {

class DwarfFrames final : public objects::FrameSource {
 public:
  /// nullptr: the file has no debug information of functions.
  static std::unique_ptr<DwarfFrames> open(const std::string& path);
  ~DwarfFrames() override;

  std::vector<objects::FrameVariable> find_variables(uint64_t function) override;

 private:
  DwarfFrames() = default;
  bool map(const std::string& path);
  void find_units();

  std::span<char> bytes_;  // of the file, mapped
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  Dwarf_CFI_s* rules_ = nullptr;  // of the unwinder
  struct UnitCode {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t die = 0;  // its offset
  };
  std::vector<UnitCode> units_;
};

/// Ascending; what overlaps is joined.
std::vector<objects::FrameVariable> join_overlapping(std::vector<objects::FrameVariable> variables);

}  // namespace culprit
