#include "binary/split_dwarf.h"

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <optional>
#include <utility>

namespace culprit {
namespace {

namespace dwarf = llvm::dwarf;
using llvm::DWARFDie;

constexpr int kDeepestScope = 256;

bool may_hold_functions(dwarf::Tag tag) {
  switch (tag) {
    case dwarf::DW_TAG_namespace:
    case dwarf::DW_TAG_module:
    case dwarf::DW_TAG_class_type:
    case dwarf::DW_TAG_structure_type:
    case dwarf::DW_TAG_union_type:
    case dwarf::DW_TAG_lexical_block:
    case dwarf::DW_TAG_try_block:
    case dwarf::DW_TAG_catch_block:
      return true;
    default:
      return false;
  }
}

class Walker {
 public:
  Walker(RangeCollector& collector, const std::function<uint32_t(uint64_t)>& file_name)
      : collector_(collector), file_name_(file_name) {}

  void walk_children(const DWARFDie& parent, uint32_t inline_depth, int depth) {
    if (depth > kDeepestScope) return;
    for (const DWARFDie child : parent.children()) {
      const dwarf::Tag tag = child.getTag();
      if (tag == dwarf::DW_TAG_subprogram) {
        add_function(child);
        walk_children(child, 0, depth + 1);
      } else if (tag == dwarf::DW_TAG_inlined_subroutine) {
        if (add_inline(child, inline_depth)) walk_children(child, inline_depth + 1, depth + 1);
      } else if (may_hold_functions(tag)) {
        walk_children(child, inline_depth, depth + 1);
      }
    }
  }

 private:
  template <class Use>
  bool for_each_range(const DWARFDie& die, const Use& use) {
    llvm::Expected<llvm::DWARFAddressRangesVector> ranges = die.getAddressRanges();
    if (!ranges) {
      llvm::consumeError(ranges.takeError());
      return false;
    }
    bool any = false;
    for (const llvm::DWARFAddressRange& range : *ranges) {
      const LinkAddress begin(range.LowPC);
      const LinkAddress end(range.HighPC);
      if (begin >= end || !collector_.wants(begin, end)) continue;
      use(begin, end);
      any = true;
    }
    return any;
  }

  uint32_t intern_name(const DWARFDie& die) {
    const char* name = die.getSubroutineName(llvm::DINameKind::LinkageName);
    return collector_.intern(name == nullptr ? "" : name);
  }

  void add_function(const DWARFDie& die) {
    for_each_range(die, [&](LinkAddress begin, LinkAddress end) {
      DebugFunction function{begin, end, intern_name(die), 0,
                             static_cast<uint32_t>(die.getDeclLine())};
      if (const auto file = dwarf::toUnsigned(die.findRecursively(dwarf::DW_AT_decl_file)))
        function.file = file_name_(*file);
      collector_.add_function(function);
    });
  }

  bool add_inline(const DWARFDie& die, uint32_t inline_depth) {
    return for_each_range(die, [&](LinkAddress begin, LinkAddress end) {
      DebugInline call{begin, end, inline_depth, intern_name(die), 0, 0, 0, 0};
      call.call_file = file_name_(dwarf::toUnsigned(die.find(dwarf::DW_AT_call_file), 0));
      call.call_line =
          static_cast<uint32_t>(dwarf::toUnsigned(die.find(dwarf::DW_AT_call_line), 0));
      call.line = static_cast<uint32_t>(die.getDeclLine());
      call.call_discriminator =
          static_cast<uint32_t>(dwarf::toUnsigned(die.find(dwarf::DW_AT_GNU_discriminator), 0));
      collector_.add_inline(call);
    });
  }

  RangeCollector& collector_;
  const std::function<uint32_t(uint64_t)>& file_name_;
};

std::string file_name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 == 0: no slash, the whole text
}

/// The package of the debug file at `path`; without one, where LLVM may look in vain.
std::string find_package(const std::string& path, const std::vector<std::string>& folders) {
  std::vector<std::string> stems = {path};
  if (path.ends_with(".debug")) stems.push_back(path.substr(0, path.size() - 6));
  for (const std::string& folder : folders) {
    for (const std::string& stem : stems) {
      for (const std::string& place : {folder + "/" + stem, folder + "/" + file_name_of(stem)}) {
        if (llvm::sys::fs::exists(place + ".dwp")) return place + ".dwp";
      }
    }
  }
  if (llvm::sys::fs::exists(stems.back() + ".dwp")) return stems.back() + ".dwp";
  return path + ".dwp";
}

/// Where a unit's .dwo may be in `folders`, if not where the compiler wrote it.
std::vector<std::string> list_places(const DWARFDie& skeleton,
                                     const std::vector<std::string>& folders) {
  const std::string name =
      dwarf::toString(skeleton.find({dwarf::DW_AT_dwo_name, dwarf::DW_AT_GNU_dwo_name}), "");
  if (name.empty()) return {};
  const std::string built_in = dwarf::toString(skeleton.find(dwarf::DW_AT_comp_dir), "");
  std::vector<std::string> places;
  for (const std::string& folder : folders) {
    places.push_back(folder + "/" + (name.starts_with('/') ? "" : built_in + "/") + name);
    places.push_back(folder + "/" + name);
    places.push_back(folder + "/" + file_name_of(name));
  }
  return places;
}

}  // namespace

struct SplitDwarf::State {
  std::vector<std::string> folders;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
};

SplitDwarf::SplitDwarf(std::unique_ptr<State> state) : state_(std::move(state)) {}
SplitDwarf::SplitDwarf(SplitDwarf&&) noexcept = default;
SplitDwarf& SplitDwarf::operator=(SplitDwarf&&) noexcept = default;
SplitDwarf::~SplitDwarf() = default;

Result<SplitDwarf> SplitDwarf::open(std::span<const std::byte> debug_file, const std::string& path,
                                    std::vector<std::string> folders) {
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  auto state = std::make_unique<State>();
  state->folders = std::move(folders);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(debug_file.data()), debug_file.size());
  state->buffer = llvm::MemoryBuffer::getMemBuffer(bytes, path, false);
  auto object = llvm::object::ObjectFile::createObjectFile(state->buffer->getMemBufferRef());
  if (!object) return Error{llvm::toString(object.takeError())};
  state->object = std::move(*object);
  state->context = llvm::DWARFContext::create(
      *state->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr,
      find_package(path, state->folders), ignore, ignore);
  return SplitDwarf(std::move(state));
}

bool SplitDwarf::read_unit(uint64_t skeleton_offset, RangeCollector& collector,
                           const std::function<uint32_t(uint64_t index)>& file_name) {
  llvm::DWARFCompileUnit* unit = state_->context->getCompileUnitForOffset(skeleton_offset);
  if (unit == nullptr) return false;
  DWARFDie root = unit->getNonSkeletonUnitDIE(false);
  if (!root) return false;
  if (!root.getDwarfUnit()->isDWOUnit()) {
    for (const std::string& place : list_places(root, state_->folders)) {
      const DWARFDie found = unit->getNonSkeletonUnitDIE(false, place);
      if (!found || !found.getDwarfUnit()->isDWOUnit()) continue;
      root = found;
      break;
    }
  }
  Walker(collector, file_name).walk_children(root, 0, 0);
  return root.getDwarfUnit()->isDWOUnit();
}

}  // namespace culprit
