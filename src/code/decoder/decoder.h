#pragma once

// Decoder: machine code bytes → instructions.
//
//     ASSIGN_OR_RETURN(Decoder decoder, Decoder::make("x86_64"));
//     std::vector<Instruction> code = decoder.decode(bytes, LinkAddress(0x12a0));

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/result.h"
#include "code/effects.h"
#include "code/instruction.h"

namespace culprit {

/// How x86 is written; other architectures have one way only.
enum class Syntax : uint8_t { att, intel };

/// What instructions are wanted with. Texts take most of the time of decoding, operands much of the
/// rest; blocks need neither.
enum class Detail : uint8_t { flow, operands, text };

class Decoder {
 public:
  /// `architecture` as in ImageFacts: "x86_64" or "aarch64"; others are errors.
  static Result<Decoder> make(const std::string& architecture, Syntax syntax = Syntax::att);
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// Every byte of `code` belongs to exactly one instruction of the result, in order.
  /// What cannot be decoded becomes "(bad)": one byte, or on aarch64 one word.
  [[nodiscard]] std::vector<Instruction> decode(std::string_view code, LinkAddress start,
                                                Detail detail = Detail::text) const;

  /// What each of `instructions` does, which were decoded from the first byte of `code` on.
  [[nodiscard]] std::vector<Effect> read_effects(
      std::string_view code, const std::vector<Instruction>& instructions) const;

 private:
  struct Parts;
  explicit Decoder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace culprit
