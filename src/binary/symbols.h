#pragma once

// Symbols: the functions of an ELF file by its symbol tables, as ranges that do
// not overlap.
//
//   .symtab (of the file or of its debug file), else .gnu_debugdata and .dynsym
//
// A symbol table names entry points, often several for one place (aliases) and
// some without a size (assembly). What is made of it here:
//   aliases         one name: functions before bare labels, global or weak before local,
//                   then fewer leading underscores, shorter, alphabetical
//   size 0          reaches to the next symbol or the end of the section; inside a
//                   sized function it is only a label, and left out
//   nested          the inner function wins; the outer one continues behind it
//   PLT stubs       "memcpy@plt" (x86-64, aarch64)

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "binary/elf_file.h"

namespace culprit {

enum class SymbolTableKind : uint8_t { none, dynsym, minidebug, symtab };

struct Symbol {
  LinkAddress begin;
  LinkAddress end;
  std::string_view name;  // mangled, without version
};

class Symbols {
 public:
  /// `debug_file` (may be null) is where a stripped `image` left its .symtab. Both files
  /// must outlive the Symbols: names point into them. Damaged tables give fewer symbols.
  static Symbols read(const ElfFile& image, const ElfFile* debug_file);

  /// All symbols by address, without overlaps.
  [[nodiscard]] const std::vector<Symbol>& all() const { return symbols_; }
  [[nodiscard]] SymbolTableKind kind() const { return kind_; }
  [[nodiscard]] const Symbol* find(LinkAddress address) const;

 private:
  std::vector<Symbol> symbols_;
  SymbolTableKind kind_ = SymbolTableKind::none;
  std::vector<std::byte> minidebug_bytes_;
  std::unique_ptr<ElfFile> minidebug_;
  std::deque<std::string> stub_names_;
};

}  // namespace culprit
