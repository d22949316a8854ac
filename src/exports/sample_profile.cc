#include "exports/sample_profile.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace culprit {

namespace {

// A discriminator of clang is up to three numbers, lowest bits first: the base one, the
// duplication factor, the number of a copy. Each is one 1 bit (zero), or a 0 bit and 6
// bits, the last of which says that 7 more follow.
// (llvm/include/llvm/IR/DebugInfoMetadata.h, "Discriminator encoding".)

uint32_t first_number(uint32_t packed) {
  if ((packed & 1) != 0) return 0;
  packed >>= 1;
  const uint32_t low = packed & 0x1f;
  return (packed & 0x20) == 0 ? low : low | ((packed >> 1) & 0xfe0);
}

uint32_t without_first_number(uint32_t packed) {
  if ((packed & 1) != 0) return packed >> 1;
  return packed >> ((packed & 0x40) != 0 ? 14 : 7);
}

}  // namespace

LinePlace line_place(uint32_t line, uint32_t declaration_line, uint32_t discriminator) {
  return {(line - declaration_line) & 0xffff, first_number(discriminator)};
}

uint32_t duplication_factor(uint32_t discriminator) {
  return std::max<uint32_t>(1, first_number(without_first_number(discriminator)));
}

std::string FunctionSamples::write(const std::string& name) const {
  std::string text = fmt::format("{}:{}:{}\n", name, total, entered);
  write_body(1, text);
  return text;
}

void FunctionSamples::write_body(size_t depth, std::string& text) const {
  const auto begin_line = [&](const LinePlace& place) {
    text += std::string(depth, ' ') + std::to_string(place.offset);
    if (place.discriminator != 0) text += "." + std::to_string(place.discriminator);
    text += ": ";
  };
  for (const auto& [place, line] : lines) {
    begin_line(place);
    text += std::to_string(line.count);
    for (const auto& [callee, count] : line.calls) text += fmt::format(" {}:{}", callee, count);
    text += "\n";
  }
  for (const auto& [place, calls] : inlined) {
    for (const auto& [name, samples] : calls) {
      begin_line(place);
      text += fmt::format("{}:{}\n", name, samples.total);
      samples.write_body(depth + 1, text);
    }
  }
}

std::string sample_profile_name(std::string_view linkage_name) {
  for (const std::string_view suffix : {".llvm.", ".part.", ".isra.", ".constprop.", ".cold"}) {
    linkage_name = linkage_name.substr(0, linkage_name.find(suffix));
  }
  std::string name(linkage_name);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '#' || c == '\x7f') c = '_';
  }
  return name;
}

}  // namespace culprit
