#include "recording/jit_code.h"

#include <algorithm>
#include <fmt/format.h>

#include "recording/jit_files.h"
#include "records/perf_map.h"

namespace culprit {

namespace {

constexpr uint64_t kMaxReadBytes = uint64_t{1} << 28;  // of one file, at a time
constexpr size_t kMaxObjects = 1 << 22;

/// FNV-1a: code objects of different runs are the same if this is.
uint64_t hash_bytes(std::string_view bytes, uint64_t hash) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  }
  return hash;
}

/// "jit-1234.dump", as perf has it.
bool is_jitdump_path(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("jit-") && name.ends_with(".dump");
}

}  // namespace

void JitCode::watch(uint32_t pid) {
  std::unique_ptr<Process>& process = processes_[pid];
  if (process != nullptr) return;
  process = std::make_unique<Process>();
  process->pid_inside = read_pid_inside(pid);
  process->root = open_process_root(pid);
}

void JitCode::fork(uint32_t parent_pid, uint32_t pid) {
  if (!is_watched(parent_pid)) return;
  watch(pid);
  processes_[pid]->parent_pid = parent_pid;
}

void JitCode::note_mapping(uint32_t pid, const std::string& path) {
  if (!is_jitdump_path(path)) return;
  watch(pid);
  Process& process = *processes_[pid];
  process.dump = open_in_root(process.root, path);
  process.dump_header.reset();
  process.dump_read_bytes = 0;
}

void JitCode::refresh(uint32_t pid) {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return;
  Process& process = *at->second;
  read_map(process, pid);
  read_dump(process);
  // The time of the child's samples may be past what was read of the parent.
  const uint32_t parent_pid = std::exchange(process.parent_pid, 0);
  if (parent_pid != 0) refresh(parent_pid);
  process.parent_pid = parent_pid;
}

void JitCode::read_map(Process& process, uint32_t pid) {
  Fd fd = open_in_root(process.root, fmt::format("/tmp/perf-{}.map", process.pid_inside));
  if (!fd) fd = open_in_root(Fd(), fmt::format("/tmp/perf-{}.map", pid));
  if (!fd) return;
  const std::string text = read_from(fd, process.map_read_bytes, kMaxReadBytes);
  size_t consumed = 0;
  for (PerfMapEntry& entry : parse_perf_map(text, consumed)) {
    if (process.objects.size() >= kMaxObjects) return;
    CodeObject object;
    object.start = entry.start;
    object.size_bytes = entry.size_bytes;
    object.name = std::move(entry.name);
    process.code.map(0, {entry.start, entry.start + entry.size_bytes, 0,
                         static_cast<FileKey>(process.objects.size())});
    process.objects.push_back(std::move(object));
  }
  process.map_read_bytes += consumed;
}

void JitCode::read_dump(Process& process) {
  if (!process.dump || process.dump_is_damaged) return;
  const std::string text = read_from(process.dump, process.dump_read_bytes, kMaxReadBytes);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (!process.dump_header) {
    const Result<JitdumpHeader> header = parse_jitdump_header(bytes);
    if (!header) return;  // perhaps not written yet
    process.dump_header = *header;
    bytes = bytes.subspan(header->header_bytes);
    process.dump_read_bytes = header->header_bytes;
  }
  std::vector<JitRecord> records;
  size_t consumed = 0;
  if (!parse_jitdump(bytes, process.dump_header->order, records, consumed)) {
    process.dump_is_damaged = true;
  }
  process.dump_read_bytes += consumed;
  for (JitRecord& record : records) {
    if (process.objects.size() >= kMaxObjects) return;
    if (auto* load = std::get_if<JitLoad>(&record)) apply(process, *load);
    if (const auto* move = std::get_if<JitMove>(&record)) apply(process, *move);
    if (auto* info = std::get_if<JitDebugInfo>(&record)) {
      process.lines_of_next = std::move(info->lines);
    }
  }
}

/// In the order of time; those of the same time as they were told.
void JitCode::add_change(Process& process, uint64_t time_ns, const Mapping& mapping) {
  const auto at =
      std::upper_bound(process.changes.begin() + static_cast<ptrdiff_t>(process.changes_applied),
                       process.changes.end(), time_ns,
                       [](uint64_t time, const auto& change) { return time < change.first; });
  process.changes.emplace(at, time_ns, mapping);
}

void JitCode::apply(Process& process, JitLoad& load) {
  CodeObject object;
  object.start = load.address;
  object.size_bytes = load.code.size();
  object.name = std::move(load.name);
  object.code = std::move(load.code);
  object.lines = std::exchange(process.lines_of_next, {});
  object.born_ns = load.time_ns;
  object.is_from_dump = true;
  if (object.size_bytes > UINT64_MAX - object.start.value) return;
  add_change(process, load.time_ns,
             Mapping{object.start, object.start + object.size_bytes, 0,
                     static_cast<FileKey>(process.objects.size())});
  process.objects.push_back(std::move(object));
}

void JitCode::apply(Process& process, const JitMove& move) {
  if (move.size_bytes > UINT64_MAX - move.to.value) return;
  // The object that was last made or moved to where this one comes from.
  const auto made = std::find_if(process.changes.rbegin(), process.changes.rend(),
                                 [&](const auto& c) { return c.second.start == move.from; });
  if (made == process.changes.rend()) return;
  const FileKey object = made->second.file;
  add_change(process, move.time_ns, Mapping{move.to, move.to + move.size_bytes, 0, object});
}

void JitCode::advance(Process& process, uint64_t time_ns) {
  while (process.changes_applied < process.changes.size()) {
    const auto& [change_ns, mapping] = process.changes[process.changes_applied];
    if (change_ns > time_ns) return;
    process.code.map(0, mapping);
    ++process.changes_applied;
  }
}

std::optional<Location> JitCode::locate(uint32_t pid, RunAddress address, uint64_t time_ns,
                                        ProfileBuilder& builder) {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return std::nullopt;
  Process& process = *at->second;
  advance(process, time_ns);
  const Mapping* const mapping = process.code.find(0, address);
  if (mapping == nullptr) {
    // Parents have other numbers, and of a circle made by a number used again only one goes on.
    const uint32_t parent_pid = std::exchange(process.parent_pid, 0);
    if (parent_pid == 0) return std::nullopt;
    const std::optional<Location> inherited = locate(parent_pid, address, time_ns, builder);
    process.parent_pid = parent_pid;
    return inherited;
  }
  CodeObject& object = process.objects[mapping->file];
  if (object.image.is_all()) object.image = make_image(object, builder);
  return Location{object.image, FileOffset(mapping->file_offset + (address - mapping->start))};
}

ImageId JitCode::make_image(CodeObject& object, ProfileBuilder& builder) {
  Profile& profile = builder.profile();
  constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;
  const std::string hash =
      fmt::format("{:016x}-{:x}", hash_bytes(object.code, hash_bytes(object.name, kFnvStart)),
                  object.size_bytes);
  const auto [at, is_new] = images_.try_emplace(hash, ImageId(profile.images.size()));
  if (!is_new) return at->second;

  Image image;
  image.kind = ImageKind::jit;
  image.path = builder.intern("[jit] " + object.name);
  image.size_bytes = object.size_bytes;
  image.content_hash = hash;
  image.born_ns = static_cast<int64_t>(object.born_ns);
  profile.images.push_back(image);

  ImageFacts facts;
  facts.architecture = profile.machine.architecture;
  facts.symbol_source = object.is_from_dump ? SymbolSource::jitdump : SymbolSource::jit_map;
  facts.functions.push_back({FileOffset(0), FileOffset(object.size_bytes),
                             facts.strings.intern(object.name), StringId(0u), StringId(0u), 0});
  if (!object.code.empty()) facts.code.push_back({FileOffset(0), std::move(object.code)});
  std::sort(object.lines.begin(), object.lines.end(),
            [](const JitLine& a, const JitLine& b) { return a.address < b.address; });
  for (const JitLine& line : object.lines) {
    if (line.address < object.start || line.address - object.start >= object.size_bytes) continue;
    const FileOffset offset(line.address - object.start);
    if (!facts.lines.empty() && facts.lines.back().offset == offset) facts.lines.pop_back();
    facts.lines.push_back({offset, facts.strings.intern(line.file), line.line, 0});
  }
  facts.has_lines = !facts.lines.empty();
  facts_.emplace_back(at->second, std::move(facts));
  return at->second;
}

}  // namespace culprit
