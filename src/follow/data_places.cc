#include "follow/data_places.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "records/mapped_path.h"

namespace culprit {

namespace {

/// What the kernel calls memory that no file is behind.
bool is_anonymous_memory(std::string_view path) {
  return path.empty() || path.starts_with("//anon") || path.starts_with("/anon_hugepage") ||
         path.starts_with("/dev/zero");
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// The stack pointer of the sampled thread in user code, where the sample has it.
/// Source: asm/perf_regs.h of x86 (PERF_REG_X86_SP) and arm64 (PERF_REG_ARM64_SP)
std::optional<RunAddress> find_stack_pointer(const RegisterDump& registers,
                                             std::string_view architecture) {
  const unsigned bit = architecture == "x86_64" ? 7 : architecture == "aarch64" ? 31 : 64;
  if (registers.abi == 0 || bit == 64 || (registers.mask >> bit & 1) == 0) return std::nullopt;
  size_t before = 0;
  for (unsigned i = 0; i < bit; ++i) before += registers.mask >> i & 1;
  if (before >= registers.values.size()) return std::nullopt;
  return RunAddress(registers.values[before]);
}

bool holds(const Mapping& mapping, RunAddress address) {
  return mapping.start <= address && address < mapping.end;
}

constexpr std::string_view kUndescribed = "[not in the recording]";

}  // namespace

void DataPlaces::map(const MmapRecord& map) {
  if (map.length > UINT64_MAX - map.start.value) return;
  const auto [at, is_new] = keys_.try_emplace(map.path, static_cast<FileKey>(files_.size()));
  if (is_new) {
    files_.push_back({std::string(strip_deleted(map.path)),
                      map.path.starts_with('/') && !is_anonymous_memory(map.path)});
  }
  has_data_maps_ = has_data_maps_ || !map.executable;
  const FileKey key = 2 * at->second + (map.executable ? 1 : 0);
  spaces_.map(map.pid, {map.start, map.start + map.length, map.file_offset, key});
}

ObjectId DataPlaces::intern(const DataObject& object) {
  std::vector<DataObject>& rows = builder_.profile().objects;
  if (rows.empty()) rows.emplace_back();  // unknown
  const auto [at, is_new] = objects_.try_emplace(object, ObjectId(rows.size()));
  if (is_new) rows.push_back(object);
  return at->second;
}

ObjectId DataPlaces::find(uint32_t pid, const SampleRecord& sample) {
  const RunAddress address(sample.data_address);
  const DataObject object =
      address >= kKernelHalf ? make_object(ObjectKind::global, "[kernel]")
                             : place(pid, address,
                                     find_stack_pointer(sample.user_registers,
                                                        builder_.profile().machine.architecture));
  Ledger& ledger = builder_.profile().ledger;
  if (object.kind == ObjectKind::unknown) {
    ledger.add(has_data_maps_ ? ledger::kUnknownData : ledger::kDataMapsMissing);
    if (builder_.profile().objects.empty()) builder_.profile().objects.emplace_back();
    return has_data_maps_ ? kUnknownObject : intern(object);
  }
  const bool has_name = object.kind == ObjectKind::stack ||
                        !builder_.profile().strings.text(object.name).starts_with('[');
  if (!has_name) ledger.add(ledger::kUnnamedData);
  return intern(object);
}

DataObject DataPlaces::place(uint32_t pid, RunAddress address,
                             std::optional<RunAddress> stack_pointer) {
  const Space& space = spaces_.mappings(pid);
  const At at = std::partition_point(space.begin(), space.end(),
                                     [&](const Mapping& m) { return m.end <= address; });
  if (at == space.end() || !holds(*at, address)) {
    return place_unmapped(pid, at, address, stack_pointer);
  }
  const File& file = file_of(*at);
  if (file.is_file) return place_in_file(pid, *at, address);
  if (is_anonymous_memory(file.path)) return place_in_anonymous(pid, at, address, stack_pointer);
  if (file.path == "[heap]") return make_object(ObjectKind::heap, file.path);
  if (file.path.starts_with("[stack")) return make_object(ObjectKind::stack, "[stack]");
  return make_object(ObjectKind::mapping, file.path);  // "[vdso]", "anon_inode:[perf_event]"
}

DataObject DataPlaces::place_in_file(uint32_t pid, const Mapping& held, RunAddress address) {
  const std::optional<MappedImage> image = find_image_of(pid, held);
  if (!image) return make_object(ObjectKind::mapping, file_of(held).path);
  if (const auto object = place_in_image(*image, address)) return *object;
  return make_data_of(held);
}

DataObject DataPlaces::make_data_of(const Mapping& mapping) {
  return make_object(ObjectKind::global,
                     fmt::format("[{} of {}]", is_code(mapping) ? "code" : "data",
                                 last_name(file_of(mapping).path)));
}

/// The .bss of a file follows its mappings without a gap.
DataObject DataPlaces::place_in_anonymous(uint32_t pid, At held, RunAddress address,
                                          std::optional<RunAddress> stack_pointer) {
  if (stack_pointer && holds(*held, *stack_pointer)) {
    return make_object(ObjectKind::stack, "[stack]");
  }
  const At first = spaces_.mappings(pid).begin();
  At before = held;
  while (before != first && std::prev(before)->end == before->start && !file_of(*before).is_file) {
    --before;
  }
  if (file_of(*before).is_file) {
    const std::optional<MappedImage> image = find_image_of(pid, *before);
    if (image && image->symbols == nullptr) return make_data_of(*before);
    const auto object = image ? place_in_image(*image, address) : std::nullopt;
    if (object) return *object;
  }
  if (is_heap(pid, held)) return make_object(ObjectKind::heap, "[heap]");
  return make_object(ObjectKind::mapping, kAnonymousPath);
}

/// Kernels call the first part of the heap anonymous memory. It is the only such memory that
/// follows the program, at a distance that they draw.
bool DataPlaces::is_heap(uint32_t pid, At held) {
  constexpr uint64_t kLargestDistance = (uint64_t{1} << 30) + (uint64_t{1} << 26);
  const At first = spaces_.mappings(pid).begin();
  At before = held;
  while (before != first && !file_of(*before).is_file) --before;
  const bool is_near = file_of(*before).is_file && held->start - before->end <= kLargestDistance;
  const std::optional<MappedImage> image = is_near ? find_image_of(pid, *before) : std::nullopt;
  return image && builder_.profile().images[image->image.value].kind == ImageKind::program;
}

/// Where only code was recorded, the data of a file is found by where its code is. A fault below
/// the stack comes before the mapping that lets the stack grow.
DataObject DataPlaces::place_unmapped(uint32_t pid, At after, RunAddress address,
                                      std::optional<RunAddress> stack_pointer) {
  constexpr uint64_t kRedZoneBytes = 128;  // below the stack pointer; of the psABI of x86-64
  const Space& space = spaces_.mappings(pid);
  const bool is_below_stack = after != space.end() && file_of(*after).path.starts_with("[stack");
  if (is_below_stack && stack_pointer && *stack_pointer <= address + kRedZoneBytes) {
    return make_object(ObjectKind::stack, "[stack]");
  }
  const auto try_image = [&](const Mapping& mapping) -> std::optional<DataObject> {
    const std::optional<MappedImage> image = find_image(pid, mapping);
    return image ? place_in_image(*image, address) : std::nullopt;
  };
  if (!has_data_maps_) {
    if (after != space.begin()) {
      if (const auto object = try_image(*std::prev(after))) return *object;
    }
    if (after != space.end()) {
      if (const auto object = try_image(*after)) return *object;
    }
  }
  return make_object(ObjectKind::unknown, kUndescribed);
}

std::optional<DataObject> DataPlaces::place_in_image(const MappedImage& image, RunAddress address) {
  if (image.symbols == nullptr) return std::nullopt;
  const std::optional<LinkAddress> link = image.symbols->find_link_address(*image.code, address);
  if (!link) return std::nullopt;
  const DataSymbols::Part* part = DataSymbols::find(image.symbols->variables, *link);
  const bool is_variable = part != nullptr;
  if (!is_variable) part = DataSymbols::find(image.symbols->sections, *link);
  if (part == nullptr) return std::nullopt;
  std::string name = part->name;
  if (!is_variable) {
    const Profile& profile = builder_.profile();
    name = fmt::format("[{} of {}]", name,
                       last_name(profile.strings.text(profile.images[image.image.value].path)));
  }
  DataObject object = make_object(ObjectKind::global, name);
  object.site = {image.image, image.symbols->to_offset(part->begin)};
  object.size_bytes = part->size_bytes;
  return object;
}

/// The image whose code the mapping is.
std::optional<DataPlaces::MappedImage> DataPlaces::find_image(uint32_t pid, const Mapping& code) {
  if (!is_code(code) || !file_of(code).is_file) return std::nullopt;
  const Mapping* const mapping = code_.find(pid, code.start);
  if (mapping == nullptr) return std::nullopt;
  const std::optional<ImageId> image = images_.find_image(pid, *mapping);
  if (!image) return std::nullopt;
  return MappedImage{*image, mapping, find_symbols(*image, pid, *mapping)};
}

/// The image of a mapped file; nullopt: none of its code is mapped, it is a file of data.
std::optional<DataPlaces::MappedImage> DataPlaces::find_image_of(uint32_t pid,
                                                                 const Mapping& held) {
  if (is_code(held)) return find_image(pid, held);
  const Mapping* nearest = nullptr;
  const auto distance = [&](const Mapping& one) {
    return std::max(one.start, held.start) - std::min(one.start, held.start);
  };
  for (const Mapping& one : spaces_.mappings(pid)) {
    if (one.file != held.file + 1) continue;
    if (nearest == nullptr || distance(one) < distance(*nearest)) nearest = &one;
  }
  return nearest == nullptr ? std::nullopt : find_image(pid, *nearest);
}

const DataSymbols* DataPlaces::find_symbols(ImageId image, uint32_t pid, const Mapping& code) {
  const auto [at, is_new] = symbols_.try_emplace(image);
  if (is_new && reader_.open && reader_.read) {
    const Profile& profile = builder_.profile();
    const std::optional<Fd> file = reader_.open(pid, code);
    if (file) {
      at->second = reader_.read(*file, profile.strings.text(profile.images[image.value].path));
    }
  }
  return at->second ? &*at->second : nullptr;
}

}  // namespace culprit
