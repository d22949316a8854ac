#pragma once

// Three kinds of address that must not be mixed, as types:
//
//   FileOffset    position in the bytes of an ELF file; for kernel, modules and
//                 JIT code the offset from the start of the code. What the
//                 model stores: it is the same in every run.
//   LinkAddress   the address inside the ELF, as objdump prints it (p_vaddr).
//   RunAddress    the address in a running process.

#include <compare>
#include <cstdint>
#include <functional>

namespace culprit {

template <class Tag>
struct Address {
  uint64_t value = 0;

  constexpr Address() = default;
  constexpr explicit Address(uint64_t v) : value(v) {}
  friend constexpr auto operator<=>(Address, Address) = default;
  friend constexpr Address operator+(Address a, uint64_t bytes) { return Address(a.value + bytes); }
  /// Distance in bytes; both of the same kind.
  friend constexpr uint64_t operator-(Address a, Address b) { return a.value - b.value; }
};

template <class T>
inline constexpr bool kIsAddress = false;
template <class Tag>
inline constexpr bool kIsAddress<Address<Tag>> = true;

using FileOffset = Address<struct FileOffsetTag>;
using LinkAddress = Address<struct LinkAddressTag>;
using RunAddress = Address<struct RunAddressTag>;

/// The first address of the kernel's half.
inline constexpr RunAddress kKernelHalf(uint64_t{1} << 63);

}  // namespace culprit

template <class Tag>
struct std::hash<culprit::Address<Tag>> {
  size_t operator()(culprit::Address<Tag> a) const noexcept {
    return std::hash<uint64_t>()(a.value);
  }
};
