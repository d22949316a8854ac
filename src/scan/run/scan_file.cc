#include "scan/run/scan_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "model/fact_fields.h"
#include "model/profile_merger.h"
#include "model/rows.h"

namespace culprit::scan {
namespace {

constexpr const char* kWhatDiffers =
    "a scan keeps the counts of places where runs differ by their loop count, and of all others "
    "their sums";

/// Taken by whoever writes; the kernel gives it back however he ends. A worker that was just begun
/// when its scan was killed may have it for a moment longer.
Result<Fd> lock_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return errno_error("cannot open '" + path + "'", errno);
  constexpr int kTries = 100;
  for (int tried = 0; tried < kTries; ++tried) {
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
    if (errno != EWOULDBLOCK) return errno_error("cannot lock '" + path + "'", errno);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return Error{
      fmt::format("another scan is writing to '{}': wait for it, or choose another file "
                  "(-o FILE)",
                  path)};
}

/// Adds the rows of `more` that begin where none of `rows` does.
template <class Row>
void add_rows(std::vector<Row>& rows, const std::vector<Row>& more, const auto& translate) {
  std::set<FileOffset> known;
  for (const Row& row : rows) known.insert(row.begin);
  for (Row row : more) {
    if (known.contains(row.begin)) continue;
    translate_ids(row, translate);
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.begin < b.begin; });
}

/// What two cells know of one library or program. Lines and inlined calls cover what the functions
/// of one cell cover: those of functions that are new come along as a whole.
bool unite_facts(ImageFacts& facts, const ImageFacts& more) {
  std::set<FileOffset> known;
  for (const FunctionFact& function : facts.functions) known.insert(function.begin);
  std::vector<FunctionFact> added;
  for (const FunctionFact& function : more.functions) {
    if (!known.contains(function.begin)) added.push_back(function);
  }
  if (added.empty()) return false;
  const auto translate = [&]<class T>(T id) {
    if constexpr (std::is_same_v<T, StringId>) {
      return id.is_all() ? id : facts.strings.intern(more.strings.text(id));
    } else {
      return id;
    }
  };
  const auto is_in_added = [&](FileOffset offset) {
    return std::any_of(added.begin(), added.end(), [&](const FunctionFact& function) {
      return function.begin <= offset && offset < function.end;
    });
  };
  for (LineFact line : more.lines) {
    if (!is_in_added(line.offset)) continue;
    translate_ids(line, translate);
    facts.lines.push_back(line);
  }
  std::stable_sort(facts.lines.begin(), facts.lines.end(),
                   [](const LineFact& a, const LineFact& b) { return a.offset < b.offset; });
  for (InlineFact call : more.inlines) {
    if (!is_in_added(call.begin)) continue;
    translate_ids(call, translate);
    facts.inlines.push_back(call);
  }
  std::stable_sort(facts.inlines.begin(), facts.inlines.end(),
                   [](const InlineFact& a, const InlineFact& b) { return a.begin < b.begin; });
  add_rows(facts.functions, added, translate);
  add_rows(facts.blocks, more.blocks, translate);
  for (const CodeFact& code : more.code) {
    const bool has = std::any_of(facts.code.begin(), facts.code.end(),
                                 [&](const CodeFact& one) { return one.begin == code.begin; });
    if (!has) facts.code.push_back(code);
  }
  std::stable_sort(facts.code.begin(), facts.code.end(),
                   [](const CodeFact& a, const CodeFact& b) { return a.begin < b.begin; });
  return true;
}

}  // namespace

ScanFile::ScanFile(std::string path, Fd lock, Profile profile, ProfileWriter writer)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      profile_(std::move(profile)),
      cells_(find_cells(profile_)),
      writer_(std::make_unique<ProfileWriter>(std::move(writer))) {}

Result<ScanFile> ScanFile::open(const std::string& path) {
  if (!file_exists(path)) {
    ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(path));
    Profile profile;
    profile.ledger.note(kWhatDiffers);
    RETURN_IF_ERROR(writer.append(profile));
    ASSIGN_OR_RETURN(Fd lock, lock_file(path));
    return ScanFile(path, std::move(lock), std::move(profile), std::move(writer));
  }
  ASSIGN_OR_RETURN(Fd lock, lock_file(path));
  Profile profile;
  {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
    ASSIGN_OR_RETURN(profile, reader.read_profile());
  }
  profile.ledger.erase(ledger::kInterrupted);
  clear_counts(profile);  // they are in the file
  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::extend(path, profile));
  return ScanFile(path, std::move(lock), std::move(profile), std::move(writer));
}

const ImageFacts* ScanFile::find_library_facts(const Image& image) const {
  if (image.build_id.empty()) return nullptr;
  for (const auto& [ours, facts] : facts_) {
    if (profile_.images[ours.value].build_id == image.build_id) return &facts;
  }
  return nullptr;
}

Result<void> ScanFile::write_facts(ImageId ours, const ImageFacts& facts, bool is_new) {
  if (is_new) {
    if (profile_.images[ours.value].kind == ImageKind::library) facts_.emplace(ours, facts);
    return writer_->write_facts(ours, facts);
  }
  const auto [known, is_unread] = facts_.try_emplace(ours);
  if (is_unread) {
    ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path_));
    ASSIGN_OR_RETURN(std::optional<ImageFacts> stored, reader.read_facts(ours));
    if (!stored) {
      known->second = facts;
      return writer_->write_facts(ours, facts);
    }
    known->second = *std::move(stored);
  }
  if (!unite_facts(known->second, facts)) return {};
  return writer_->write_facts(ours, known->second);
}

Result<void> ScanFile::add(const Profile& cell) {
  ProfileMerger merger(std::move(profile_));
  merger.add(cell);
  profile_ = merger.take();
  RETURN_IF_ERROR(writer_->append(profile_));
  clear_counts(profile_);
  return {};
}

Result<void> ScanFile::add(const std::string& path, const CellDetails& native, bool& is_measured) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile cell, reader.read_profile());
  const std::vector<Cell> cells = find_cells(cell);
  for (const auto& [label, text] : native) {
    if (cells.empty()) break;
    label_run(cell.strings, cell.runs[cells.front().first.value], label, text);
  }
  is_measured = !cells.empty() && cells.front().is_measured();
  const size_t images = profile_.images.size();
  ProfileMerger merger(std::move(profile_));
  const std::vector<ImageId> ours = merger.add(cell);
  profile_ = merger.take();
  // Facts first: a cell whose counts are there has all.
  for (size_t image = 0; image < ours.size(); ++image) {
    ASSIGN_OR_RETURN(const auto facts, reader.read_facts(ImageId(image)));
    if (!facts) continue;
    RETURN_IF_ERROR(write_facts(ours[image], *facts, ours[image].value >= images));
  }
  RETURN_IF_ERROR(writer_->append(profile_));
  clear_counts(profile_);
  return {};
}

Result<void> ScanFile::close() {
  return writer_->close(profile_);
}

Result<size_t> forget_cells(const std::string& path,
                            const std::function<bool(const Cell&)>& is_forgotten) {
  ASSIGN_OR_RETURN(const Fd lock, lock_file(path));
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  const std::vector<Cell> cells = find_cells(profile);
  std::vector<uint32_t> new_run(profile.runs.size(), RunId::kAllValue);
  std::vector<Run> runs;
  size_t forgotten = 0;
  for (const Cell& cell : cells) {
    if (is_forgotten(cell)) {
      ++forgotten;
      continue;
    }
    const auto keep = [&](RunId run) {
      new_run[run.value] = static_cast<uint32_t>(runs.size());
      runs.push_back(profile.runs[run.value]);
    };
    keep(cell.first);
    for (const Point& point : cell.points) {
      if (point.run != cell.first) keep(point.run);
    }
  }
  const auto is_kept = [&](ContextId context) {
    if (context.value >= profile.contexts.size()) return false;
    const RunId run = profile.contexts[context.value].run;
    return run.value < new_run.size() && new_run[run.value] != RunId::kAllValue;
  };
  std::erase_if(profile.histograms, [&](const auto& one) { return !is_kept(one.context); });
  std::erase_if(profile.counts, [&](const auto& one) { return !is_kept(one.context); });
  for (Context& context : profile.contexts) {
    if (context.run.value < new_run.size()) context.run = RunId(new_run[context.run.value]);
  }
  profile.runs = std::move(runs);
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  {
    ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(fresh));
    std::set<ImageId> used;
    for (const Histogram& histogram : profile.histograms) used.insert(histogram.image);
    for (const ImageId image : used) {
      ASSIGN_OR_RETURN(const auto facts, reader.read_facts(image));
      if (facts) RETURN_IF_ERROR(writer.write_facts(image, *facts));
    }
    RETURN_IF_ERROR(writer.close(profile));
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0) {
    return errno_error("cannot replace '" + path + "'", errno);
  }
  return forgotten;
}

}  // namespace culprit::scan
