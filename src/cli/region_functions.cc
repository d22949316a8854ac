// find_region_functions(): from a function's name to its place in a file and the instructions that
// make room for a jump there.

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "binary/elf_file.h"
#include "binary/stack_arguments.h"
#include "binary/symbols.h"
#include "cli/region_requests.h"
#include "patch/moved_code.h"
#include "simulate/region_places.h"

namespace culprit {
namespace {

/// Of a call's arguments on the stack (functions.c).
constexpr uint64_t kHandedOnBytes = 512;

/// "FUNCTION jumps back to its own beginning: it cannot be a region of a program as it is".
Error refuse(const std::string& name, const std::string& why) {
  return Error{
      fmt::format("{} {}: it cannot be a region of a running program\n-> --engine simulate, "
                  "CULPRIT_REGION in the source, or -finstrument-functions",
                  in_quotes(name), why)};
}

/// Functions that return twice have to know where their caller's frame ends; the dynamic linker's
/// are called in ways of their own.
std::string find_objection(std::string_view function, std::string_view file) {
  constexpr std::string_view kReturnTwice[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp",
                                               "vfork",  "__vfork", "getcontext"};
  if (std::ranges::find(kReturnTwice, function) != std::end(kReturnTwice)) return "returns twice";
  if (function == "_start") return "has no caller";
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld.so") ? "is the dynamic linker's own"
                                                                   : "";
}

/// The function that begins there. Where another one lies inside it, what is behind that is no
/// beginning: the symbol is that of the piece before.
const Symbol* find_function(const Symbols& symbols, LinkAddress begin) {
  const Symbol* const found = symbols.find(begin);
  if (found == nullptr || found->begin != begin) return nullptr;
  const auto is_same = [&](const Symbol& one) {
    return one.begin < begin && one.name.data() == found->name.data();
  };
  return std::ranges::any_of(symbols.all(), is_same) ? nullptr : found;
}

Result<std::vector<RegionFunction>> find_in_file(const std::string& name,
                                                 const counting::RegionPlaces& places,
                                                 const Decoder& decoder) {
  ASSIGN_OR_RETURN(const Fd fd, open_readable(places.path));
  ASSIGN_OR_RETURN(const MappedFile file, MappedFile::map(fd.get(), places.path));
  ASSIGN_OR_RETURN(const ElfFile elf, ElfFile::open(file.bytes()));
  if (elf.architecture() != "x86_64") return refuse(name, "is not x86-64 code");
  const Symbols symbols = Symbols::read(elf, nullptr);
  std::vector<RegionFunction> functions;
  for (const uint64_t offset : places.offsets) {
    const auto begin = elf.to_link_address(FileOffset(offset));
    const Symbol* const symbol = begin ? find_function(symbols, *begin) : nullptr;
    if (symbol == nullptr) continue;
    if (const std::string why = find_objection(symbol->name, places.path); !why.empty()) {
      return refuse(name, why);
    }
    if (const auto stack = find_stack_arguments(elf, symbol->begin); stack > kHandedOnBytes) {
      return refuse(name,
                    fmt::format("takes {} bytes of arguments on the stack, and a wrapper hands "
                                "on {}",
                                *stack, kHandedOnBytes));
    }
    const std::span<const std::byte> bytes = elf.loaded_bytes(symbol->begin, symbol->end);
    const std::string_view code(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const Result<MovedCode> moved = plan_move(decoder, code, symbol->begin);
    if (!moved) return refuse(name, moved.error().message);
    functions.push_back({name,
                         places.path,
                         offset,
                         std::string(code.substr(0, moved->replaced)),
                         moved->bytes,
                         {}});
    for (const MovedCode::Reference& one : moved->references) {
      functions.back().references.push_back({one.at, one.behind, one.is_address, one.target});
    }
  }
  if (functions.empty()) return refuse(name, "has no beginning of its own");
  return functions;
}

}  // namespace

Result<std::vector<RegionFunction>> find_region_functions(const std::vector<std::string>& names,
                                                          const std::string& program) {
  ASSIGN_OR_RETURN(const Decoder decoder, Decoder::make("x86_64"));
  std::vector<RegionFunction> functions;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const counting::RegionPlaces places, find_region(name, program));
    ASSIGN_OR_RETURN(std::vector<RegionFunction> found, find_in_file(name, places, decoder));
    for (RegionFunction& one : found) {
      const bool is_known = std::ranges::any_of(functions, [&](const RegionFunction& known) {
        return known.path == one.path && known.file_offset == one.file_offset;
      });
      if (!is_known) functions.push_back(std::move(one));
    }
  }
  return functions;
}

}  // namespace culprit
