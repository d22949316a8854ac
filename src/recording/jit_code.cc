#include "recording/jit_code.h"

#include <algorithm>
#include <fmt/format.h>

#include "recording/jit_files.h"
#include "records/perf_map.h"

namespace culprit {

namespace {

// A map of a busy Java or Node server has some 10 MB and 100,000 lines; a jitdump has the code,
// too.
constexpr uint64_t kMaxMapBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxDumpBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxMapLineBytes = uint64_t{1} << 20;
constexpr size_t kMaxObjects = 1 << 20;  // of one process

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
  process->user = read_user(pid);
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
  process.dump = {};
  process.dump_header.reset();
  process.dump_file = open(process, pid, process.root, path, process.dump);
}

Fd JitCode::open(Process& process, uint32_t pid, const Fd& root, const std::string& path,
                 Reading& reading) {
  JitFile file = open_in_root(root, path, process.user);
  if (file.trust == Trust::refused) {
    // A server starts as root and becomes somebody else.
    if (const auto user = read_user(pid); user && user != process.user) {
      process.user = user;
      file = open_in_root(root, path, user);
    }
  }
  if (file.trust == Trust::refused && !std::exchange(reading.is_refused, true)) ++refused_files_;
  return std::move(file.fd);
}

std::string JitCode::read(const Fd& fd, uint64_t limit_bytes, Reading& reading) {
  const uint64_t allowed_bytes =
      std::min(limit_bytes - std::min(limit_bytes, reading.read_bytes), bytes_left_);
  // One more than allowed shows that there is more.
  std::string text = read_from(fd, reading.consumed_bytes, allowed_bytes + 1);
  if (text.size() > allowed_bytes) {
    text.pop_back();
    end(reading);
  }
  reading.read_bytes += text.size();
  bytes_left_ -= text.size();
  return text;
}

bool JitCode::has_room(Process& process, Reading& reading) {
  if (process.objects.size() < kMaxObjects && objects_left_ > 0) {
    --objects_left_;
    return true;
  }
  end(reading);
  return false;
}

void JitCode::end(Reading& reading) {
  if (!std::exchange(reading.is_over, true)) ++cut_files_;
}

void JitCode::add_to(Ledger& ledger) const {
  if (refused_files_ > 0) ledger.add(ledger::kJitFilesRefused, refused_files_);
  if (cut_files_ > 0) ledger.add(ledger::kJitFilesCut, cut_files_);
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
  if (process.map.is_over) return;
  Fd fd = open(process, pid, process.root, fmt::format("/tmp/perf-{}.map", process.pid_inside),
               process.map);
  if (!fd) fd = open(process, pid, Fd(), fmt::format("/tmp/perf-{}.map", pid), process.map);
  if (!fd) return;
  const std::string text = read(fd, kMaxMapBytes, process.map);
  size_t consumed = 0;
  for (PerfMapEntry& entry : parse_perf_map(text, consumed)) {
    if (!has_room(process, process.map)) return;
    CodeObject object;
    object.start = entry.start;
    object.size_bytes = entry.size_bytes;
    object.name = std::move(entry.name);
    process.code.map({entry.start, entry.start + entry.size_bytes, 0,
                      static_cast<FileKey>(process.objects.size())});
    process.objects.push_back(std::move(object));
  }
  process.map.consumed_bytes += consumed;
  if (text.size() - consumed > kMaxMapLineBytes) end(process.map);
}

void JitCode::read_dump(Process& process) {
  if (!process.dump_file || process.dump.is_over) return;
  const std::string text = read(process.dump_file, kMaxDumpBytes, process.dump);
  std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (!process.dump_header) {
    const Result<JitdumpHeader> header = parse_jitdump_header(bytes);
    if (!header) return;  // perhaps not written yet
    process.dump_header = *header;
    bytes = bytes.subspan(header->header_bytes);
    process.dump.consumed_bytes = header->header_bytes;
  }
  std::vector<JitRecord> records;
  size_t consumed = 0;
  if (!parse_jitdump(bytes, process.dump_header->order, records, consumed)) {
    process.dump.is_over = true;  // damaged from here on
  }
  process.dump.consumed_bytes += consumed;
  for (JitRecord& record : records) {
    if (auto* info = std::get_if<JitDebugInfo>(&record)) {
      process.lines_of_next = std::move(info->lines);
      continue;
    }
    if (!has_room(process, process.dump)) break;
    if (auto* load = std::get_if<JitLoad>(&record)) apply(process, *load);
    if (const auto* move = std::get_if<JitMove>(&record)) apply(process, *move);
  }
  // Changes take place in the order of time; those of the same time as they were told.
  std::stable_sort(process.changes.begin() + static_cast<ptrdiff_t>(process.changes_applied),
                   process.changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

void JitCode::add_change(Process& process, uint64_t time_ns, const Mapping& mapping) {
  process.made_at[mapping.start.value] = mapping.file;
  process.changes.emplace_back(time_ns, mapping);
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
  const auto made = process.made_at.find(move.from.value);
  if (made == process.made_at.end()) return;
  const FileKey object = made->second;
  add_change(process, move.time_ns, Mapping{move.to, move.to + move.size_bytes, 0, object});
}

void JitCode::advance(Process& process, uint64_t time_ns) {
  while (process.changes_applied < process.changes.size()) {
    const auto& [change_ns, mapping] = process.changes[process.changes_applied];
    if (change_ns > time_ns) return;
    process.code.map(mapping);
    ++process.changes_applied;
  }
}

std::optional<Location> JitCode::locate(uint32_t pid, RunAddress address, uint64_t time_ns,
                                        ProfileBuilder& builder) {
  const auto at = processes_.find(pid);
  if (at == processes_.end()) return std::nullopt;
  Process& process = *at->second;
  advance(process, time_ns);
  const Mapping* const mapping = process.code.find(address);
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
