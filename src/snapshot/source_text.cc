#include "snapshot/source_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sys/stat.h>

#include "base/file.h"
#include "snapshot/find_files.h"

namespace culprit {
namespace {

constexpr uint32_t kContextLines = 3;
constexpr uint32_t kOwnContextLines = 6;  // above a function: its signature and comment
constexpr uint32_t kMaxFunctionLines = 5000;
constexpr uint64_t kMaxFileBytes = 32 << 20;
constexpr uint64_t kMaxTotalBytes = 16 << 20;  // of one image
constexpr size_t kMaxLineBytes = 1000;         // generated code has lines without end

struct LineRange {
  uint32_t first;
  uint32_t last;
};
using Wanted = std::map<StringId, std::vector<LineRange>>;

void want(Wanted& wanted, StringId file, uint32_t first, uint32_t last, uint32_t context) {
  if (file == StringId(0u) || file.is_all() || first == 0) return;
  const uint32_t from = first > context ? first - context : 1;
  const uint32_t to = last > UINT32_MAX - context ? last : last + context;
  wanted[file].push_back({from, to});
}

/// The function's own file from its declaration to its last line, if that is plausible.
void want_functions(const ImageFacts& facts, Wanted& wanted) {
  auto row = facts.lines.begin();
  for (const FunctionFact& function : facts.functions) {
    uint32_t first = function.line;
    uint32_t last = function.line;
    row = std::lower_bound(row, facts.lines.end(), function.begin,
                           [](const LineFact& l, FileOffset at) { return l.offset < at; });
    for (; row != facts.lines.end() && row->offset < function.end; ++row) {
      if (row->file != function.file || row->line == 0) continue;
      first = first == 0 ? row->line : std::min(first, row->line);
      last = std::max(last, row->line);
    }
    if (last >= first && last - first <= kMaxFunctionLines)
      want(wanted, function.file, first, last, kOwnContextLines);
  }
}

Wanted find_wanted_lines(const ImageFacts& facts) {
  Wanted wanted;
  want_functions(facts, wanted);
  for (const LineFact& row : facts.lines) want(wanted, row.file, row.line, row.line, kContextLines);
  for (const InlineFact& call : facts.inlines)
    want(wanted, call.call_file, call.call_line, call.call_line, kContextLines);
  for (auto& [file, ranges] : wanted) {
    std::sort(ranges.begin(), ranges.end(),
              [](const LineRange& a, const LineRange& b) { return a.first < b.first; });
    size_t kept = 0;
    for (const LineRange& range : ranges) {
      if (kept > 0 && range.first <= uint64_t{ranges[kept - 1].last} + 1)
        ranges[kept - 1].last = std::max(ranges[kept - 1].last, range.last);
      else
        ranges[kept++] = range;
    }
    ranges.resize(kept);
  }
  return wanted;
}

struct SourceFile {
  std::string text;
  int64_t mtime_ns = 0;
  bool is_refused = false;  // it is there, but may not be read
};

struct SourcePlace {
  std::string path;
  ReadingRights rights;
};

std::vector<SourcePlace> list_places(const std::string& path,
                                     const std::vector<std::string>& symbol_folders,
                                     const ReadingRights& rights) {
  std::vector<SourcePlace> places;
  for (const std::string& folder : symbol_folders)
    places.push_back({place_below(folder, path), ReadingRights::of_owner(folder)});
  if (path.starts_with('/')) places.push_back({path, rights});  // a relative one: relative to what?
  return places;
}

/// The first of `places` that can be read; nullopt if none is there or it is no text.
std::optional<SourceFile> read_source(const std::vector<SourcePlace>& places) {
  bool is_refused = false;
  for (const SourcePlace& place : places) {
    const OpenedAs opened = open_as(place.rights, place.path);
    is_refused = is_refused || opened.is_refused;
    struct stat status{};
    if (!opened.fd || ::fstat(opened.fd->get(), &status) != 0) continue;
    Result<std::string> text = read_fd(opened.fd->get(), place.path, kMaxFileBytes);
    if (!text || text->find('\0') != std::string::npos) return std::nullopt;
    return SourceFile{*std::move(text),
                      status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec,
                      false};
  }
  if (is_refused) return SourceFile{{}, 0, true};
  return std::nullopt;
}

/// Cuts the wanted lines out of `text`; returns the bytes taken.
uint64_t cut_lines(const std::string& text, StringId file, const std::vector<LineRange>& ranges,
                   std::vector<SourceFact>& sources) {
  uint64_t taken_bytes = 0;
  size_t at = 0;
  uint32_t number = 1;
  for (const LineRange& range : ranges) {
    SourceFact fact{file, range.first, {}};
    for (; at < text.size() && number <= range.last; ++number) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (number >= range.first) {
        fact.lines.push_back(text.substr(at, std::min(end - at, kMaxLineBytes)));
        taken_bytes += fact.lines.back().size();
      }
      at = end + 1;
    }
    if (!fact.lines.empty()) sources.push_back(std::move(fact));
  }
  return taken_bytes;
}

}  // namespace

SourceOutcome add_source_text(ImageFacts& facts, const std::vector<std::string>& symbol_folders,
                              const ReadingRights& rights, int64_t binary_mtime_ns) {
  SourceOutcome outcome;
  uint64_t total_bytes = 0;
  for (const auto& [file, ranges] : find_wanted_lines(facts)) {
    const std::string& path = facts.strings.text(file);
    const auto source = read_source(list_places(path, symbol_folders, rights));
    if (!source) continue;
    if (source->is_refused) {
      ++outcome.refused;
      continue;
    }
    if (total_bytes > kMaxTotalBytes) {
      outcome.remark = "source text left out beyond 16 MB";
      return outcome;
    }
    total_bytes += cut_lines(source->text, file, ranges, facts.sources);
    if (binary_mtime_ns != 0 && source->mtime_ns > binary_mtime_ns && outcome.remark.empty())
      outcome.remark = "source file " + path + " is newer than the binary";
  }
  return outcome;
}

}  // namespace culprit
