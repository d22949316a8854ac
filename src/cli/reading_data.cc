#include "cli/reading_data.h"

#include <algorithm>
#include <utility>

#include "simulate/objects/elf_objects.h"
#include "snapshot/find_files.h"

namespace culprit {

namespace {

DataSymbols::Part to_part(const objects::ElfVariable& variable) {
  return {variable.name, LinkAddress(variable.address), variable.size_bytes};
}

/// The symbols of the debug file, whose addresses are those of the file itself.
std::vector<objects::ElfVariable> read_left_symbols(const Fd& file, const std::string& path,
                                                    const FileSearch& search) {
  Result<MappedFile> bytes = MappedFile::map(file.get(), path);
  if (!bytes) return {};
  Result<ElfFile> elf = ElfFile::open(bytes->bytes());
  if (!elf || elf->has_symbol_table()) return {};
  const OpenedElf binary{path, *std::move(bytes), *std::move(elf), search.rights};
  const std::optional<OpenedElf> debug_file = find_debug_file(binary, path, search);
  if (!debug_file) return {};
  Result<objects::ElfObjects> found = objects::parse_elf_objects(debug_file->bytes.bytes());
  return found ? std::move(found->variables) : std::vector<objects::ElfVariable>();
}

std::optional<DataSymbols> read_data_symbols(const Fd& file, const std::string& path,
                                             const FileSearch& search) {
  const Result<MappedFile> bytes = MappedFile::map(file.get(), path);
  if (!bytes) return std::nullopt;
  Result<objects::ElfObjects> found = objects::parse_elf_objects(bytes->bytes());
  if (!found) return std::nullopt;
  if (auto left = read_left_symbols(file, path, search); !left.empty()) {
    found->variables = std::move(left);
  }
  DataSymbols symbols;
  for (const objects::ElfLoad& load : found->loads) {
    symbols.loads.push_back({FileOffset(load.offset), LinkAddress(load.address), load.file_bytes,
                             load.memory_bytes, load.is_code});
  }
  for (const objects::ElfVariable& one : found->sections) symbols.sections.push_back(to_part(one));
  for (const objects::ElfVariable& one : found->variables) {
    symbols.variables.push_back(to_part(one));
  }
  std::ranges::sort(symbols.sections, {}, &DataSymbols::Part::begin);
  return symbols;
}

}  // namespace

ReadDataSymbols find_data_reader(const SnapshotOptions& options) {
  return [search = FileSearch{options.symbol_folders, false, options.rights}](
             const Fd& file, const std::string& path) {
    return read_data_symbols(file, path, search);
  };
}

}  // namespace culprit
