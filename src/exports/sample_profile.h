#pragma once

// LLVM's sample profile as text: counts of lines, relative to where their function is
// declared, with inlined calls as profiles of their own inside.
//
//     grind:2400:10         name : bytes of code executed, inlined ones, too : times entered
//      2: 100               line 2 of the function
//      3.1: 60 weigh:50     line 3, discriminator 1; calls weigh 50 times
//      4: scale:980         at line 4 scale was inlined; its part of the bytes
//       1: 140
//
// The total tells compilers how hot a function is, beside what else could be inlined. Bytes are
// what llvm-profgen has there: counts of lines would make a long line as hot as a short one.

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace culprit {

/// A line within its function. LLVM keeps the low 16 bits of the distance.
struct LinePlace {
  uint32_t offset = 0;
  uint32_t discriminator = 0;
  friend auto operator<=>(const LinePlace&, const LinePlace&) = default;
};

/// Where a line is, seen from its function's declaration. `discriminator` as the line
/// table has it: clang packs several numbers into it, of which the base one stays.
LinePlace line_place(uint32_t line, uint32_t declaration_line, uint32_t discriminator);

/// How many copies of the line's code each count stands for (unrolled, vectorised), which
/// clang packs into the discriminator, too; 1 where it says nothing.
uint32_t duplication_factor(uint32_t discriminator);

struct FunctionSamples {
  struct Line {
    uint64_t count = 0;
    std::map<std::string, uint64_t> calls;
  };
  uint64_t entered = 0;
  uint64_t total = 0;  // bytes of code x executions, with those of what is inlined
  std::map<LinePlace, Line> lines;
  std::map<LinePlace, std::map<std::string, FunctionSamples>> inlined;

  /// The text, beginning with the head that a function of its own has.
  [[nodiscard]] std::string write(const std::string& name) const;

 private:
  void write_body(size_t depth, std::string& text) const;
};

/// The name as the source has it: without what passes append (".cold", ".part.0",
/// ".llvm.123"), and without characters that the format takes for its own.
std::string sample_profile_name(std::string_view linkage_name);

}  // namespace culprit
