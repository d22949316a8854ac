#include "simulate/frames/dwarf_frames.h"

#include <algorithm>
#include <cstdlib>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <utility>

#include "base/file.h"

namespace culprit {

using objects::FrameVariable;

namespace {

/// Scopes within scopes; no honest file has more.
constexpr int kDeepest = 64;
constexpr size_t kMostVariables = 4096;

std::optional<Dwarf_Op> find_single_operation(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute place;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  const bool is_there = dwarf_attr(die, attribute, &place) != nullptr &&
                        dwarf_getlocation(&place, &operations, &count) == 0 && count == 1;
  return is_there ? std::optional(operations[0]) : std::nullopt;
}

/// By so much the register is below the frame's end, while the function's body runs: the most that
/// a rule of the unwinder says.
std::optional<int64_t> find_distance(Dwarf_Die* function, unsigned number, Dwarf_CFI* rules) {
  std::optional<int64_t> most;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(function, at, &base, &begin, &end)) > 0;) {
    while (begin < end) {
      Dwarf_Frame* frame = nullptr;
      Dwarf_Op* operations = nullptr;
      size_t count = 0;
      Dwarf_Addr row_end = 0;
      if (dwarf_cfi_addrframe(rules, begin, &frame) != 0) break;
      const bool is_known = dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1 &&
                            operations[0].atom == DW_OP_bregx && operations[0].number == number;
      if (is_known) most = std::max(most.value_or(0), static_cast<int64_t>(operations[0].number2));
      const bool goes_on =
          dwarf_frame_info(frame, nullptr, &row_end, nullptr) >= 0 && row_end > begin;
      ::free(frame);
      if (!goes_on) break;
      begin = row_end;
    }
  }
  return most;
}

/// Where the frame base is, from the frame's end on.
std::optional<int64_t> find_frame_base(Dwarf_Die* function, Dwarf_CFI* rules) {
  const std::optional<Dwarf_Op> base = find_single_operation(function, DW_AT_frame_base);
  if (!base) return std::nullopt;
  if (base->atom == DW_OP_call_frame_cfa) return 0;
  if (base->atom < DW_OP_reg0 || base->atom > DW_OP_reg31 || rules == nullptr) return std::nullopt;
  const auto distance = find_distance(function, base->atom - unsigned{DW_OP_reg0}, rules);
  return distance ? std::optional(-*distance) : std::nullopt;
}

bool is_array_or_struct(Dwarf_Die* type) {
  switch (dwarf_tag(type)) {
    case DW_TAG_array_type:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

/// The number of the type, or of an array the one of its elements; 0: not known.
uint64_t number_of_type(const Dwarf_Die& type) {
  Dwarf_Die element = type;
  for (int depth = 0; dwarf_tag(&element) == DW_TAG_array_type; ++depth) {
    Dwarf_Attribute reference;
    Dwarf_Die inner;
    const bool leads_on =
        depth < kDeepest && dwarf_attr_integrate(&element, DW_AT_type, &reference) != nullptr &&
        dwarf_formref_die(&reference, &inner) != nullptr && dwarf_peel_type(&inner, &element) == 0;
    if (!leads_on) return 0;
  }
  return dwarf_dieoffset(&element);
}

/// The first file of a unit has the number 0 in DWARF 5, which dwarf_decl_file() takes for none.
std::string find_place(Dwarf_Die* die) {
  int line = 0;
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const bool is_known = dwarf_decl_line(die, &line) == 0 &&
                        dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) != nullptr &&
                        dwarf_formudata(&attribute, &number) == 0 &&
                        dwarf_diecu(die, &unit, nullptr, nullptr) != nullptr &&
                        dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count;
  const char* const path = is_known ? dwarf_filesrc(files, number, nullptr, nullptr) : nullptr;
  if (path == nullptr) return "";
  const std::string_view whole = path;
  return std::string(whole.substr(whole.rfind('/') + 1)) + ":" + std::to_string(line);
}

std::optional<FrameVariable> read_variable(Dwarf_Die* die, int64_t base) {
  const std::optional<Dwarf_Op> place = find_single_operation(die, DW_AT_location);
  const char* const name = dwarf_diename(die);
  if (!place || place->atom != DW_OP_fbreg || name == nullptr) return std::nullopt;
  Dwarf_Attribute reference;
  Dwarf_Die type;
  Dwarf_Die peeled;
  Dwarf_Word size = 0;
  const bool has_type = dwarf_attr_integrate(die, DW_AT_type, &reference) != nullptr &&
                        dwarf_formref_die(&reference, &type) != nullptr &&
                        dwarf_peel_type(&type, &peeled) == 0;
  if (!has_type || !is_array_or_struct(&peeled) || dwarf_aggregate_size(&peeled, &size) != 0) {
    return std::nullopt;
  }
  constexpr uint64_t kLargestFrame = uint64_t{1} << 40;
  const auto begin = static_cast<int64_t>(place->number + static_cast<uint64_t>(base));
  const bool is_in_frame = begin < 0 && begin > -static_cast<int64_t>(kLargestFrame) && size != 0 &&
                           size <= static_cast<uint64_t>(-begin);
  if (!is_in_frame) return std::nullopt;
  return FrameVariable{name, find_place(die), begin, size, number_of_type(peeled)};
}

void read_scope(Dwarf_Die* scope, int64_t base, int depth, std::vector<FrameVariable>& variables) {
  Dwarf_Die child;
  if (depth > kDeepest || dwarf_child(scope, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable:
        if (auto variable = read_variable(&child, base)) variables.push_back(*std::move(variable));
        break;
      case DW_TAG_lexical_block:
      case DW_TAG_inlined_subroutine:
        read_scope(&child, base, depth + 1, variables);
        break;
      default:
        break;
    }
  } while (variables.size() < kMostVariables && dwarf_siblingof(&child, &child) == 0);
}

struct Search {
  uint64_t address;
  Dwarf_Die function;
  bool is_found = false;
};

int look_at_function(Dwarf_Die* function, void* word) {
  Search& search = *static_cast<Search*>(word);
  if (dwarf_haspc(function, search.address) <= 0) return DWARF_CB_OK;
  search.function = *function;
  search.is_found = true;
  return DWARF_CB_ABORT;
}

}  // namespace

std::vector<FrameVariable> join_overlapping(std::vector<FrameVariable> variables) {
  constexpr size_t kMostNames = 3;
  std::stable_sort(variables.begin(), variables.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<FrameVariable> joined;
  std::vector<std::string> names;  // of the last one
  for (FrameVariable& one : variables) {
    const auto end_of = [](const FrameVariable& variable) {
      return variable.begin + static_cast<int64_t>(variable.size_bytes);
    };
    if (joined.empty() || one.begin >= end_of(joined.back())) {
      names = {one.name};
      joined.push_back(std::move(one));
      continue;
    }
    FrameVariable& last = joined.back();
    const int64_t end = std::max(end_of(last), end_of(one));
    last.size_bytes = static_cast<uint64_t>(end - last.begin);
    const bool is_alike = one.begin == last.begin && one.type == last.type;
    const bool has_its_name = std::find(names.begin(), names.end(), one.name) != names.end();
    if (has_its_name && (is_alike || names.size() > 1)) continue;
    names.push_back(has_its_name ? "another" : one.name);
    if (names.size() <= kMostNames) last.name += " or " + names.back();
    if (names.size() == kMostNames + 1) last.name += " or others";
  }
  return joined;
}

DwarfFrames::~DwarfFrames() {
  if (rules_ != nullptr) dwarf_cfi_end(rules_);
  dwarf_end(dwarf_);
  elf_end(elf_);
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

/// The mapping stays, no descriptor does.
bool DwarfFrames::map(const std::string& path) {
  const Result<Fd> fd = open_readable(path);
  struct stat status{};
  if (!fd || ::fstat(fd->get(), &status) != 0 || status.st_size <= 0) return false;
  const auto size = static_cast<size_t>(status.st_size);
  void* const bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd->get(), 0);
  if (bytes == MAP_FAILED) return false;
  bytes_ = {static_cast<char*>(bytes), size};
  return true;
}

std::unique_ptr<DwarfFrames> DwarfFrames::open(const std::string& path) {
  elf_version(EV_CURRENT);
  std::unique_ptr<DwarfFrames> frames(new DwarfFrames());
  if (!frames->map(path)) return nullptr;
  frames->elf_ = elf_memory(frames->bytes_.data(), frames->bytes_.size());
  if (frames->elf_ == nullptr) return nullptr;
  frames->dwarf_ = dwarf_begin_elf(frames->elf_, DWARF_C_READ, nullptr);
  if (frames->dwarf_ == nullptr) return nullptr;
  frames->rules_ = dwarf_getcfi_elf(frames->elf_);
  frames->find_units();
  return frames->units_.empty() ? nullptr : std::move(frames);
}

void DwarfFrames::find_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Half version = 0;
  uint8_t type = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf_, unit, &unit, &version, &type, &die, nullptr) == 0) {
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
      if (begin < end) units_.push_back({begin, end, dwarf_dieoffset(&die)});
    }
  }
}

std::vector<FrameVariable> DwarfFrames::find_variables(uint64_t function) {
  for (const UnitCode& unit : units_) {
    if (function < unit.begin || function >= unit.end) continue;
    Dwarf_Die die;
    if (dwarf_offdie(dwarf_, unit.die, &die) == nullptr) continue;
    Search search{function, {}};
    dwarf_getfuncs(&die, look_at_function, &search, 0);
    if (!search.is_found) continue;
    const std::optional<int64_t> base = find_frame_base(&search.function, rules_);
    if (!base) return {};
    std::vector<FrameVariable> variables;
    read_scope(&search.function, *base, 0, variables);
    return join_overlapping(std::move(variables));
  }
  return {};
}

}  // namespace culprit
