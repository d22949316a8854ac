// Inline rows are nested intervals. They are cut once into stretches that do not
// overlap, each with its innermost call; the rest of the stack follows by parents:
//
//     rows        [--- f ---------------)
//                    [- g --)  [- h -)
//     stretches   f  g      f  h     f  none

#include "attribute/attribution.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace culprit {

namespace {

constexpr size_t kDeepestInlining = 512;  // deeper nesting than this is no compiler's work

/// The last row that begins at or before `offset`; `rows.size()` if there is none.
/// Looks near `cursor` first: neighbours are asked for one after the other.
template <class Row>
size_t find_last_begun(const std::vector<Row>& rows, FileOffset offset, size_t& cursor,
                       FileOffset Row::* begin) {
  const auto begins_after = [begin](FileOffset at, const Row& row) { return at < row.*begin; };
  auto first = rows.begin();
  if (cursor < rows.size() && rows[cursor].*begin <= offset) {
    for (size_t step = 0; step < 8; ++step, ++cursor) {
      if (cursor + 1 == rows.size() || offset < rows[cursor + 1].*begin) return cursor;
    }
    first += static_cast<std::ptrdiff_t>(cursor);
  }
  const auto after = std::upper_bound(first, rows.end(), offset, begins_after);
  if (after == rows.begin()) return rows.size();
  cursor = static_cast<size_t>(after - rows.begin()) - 1;
  return cursor;
}

}  // namespace

bool is_system_source(std::string_view path) {
  constexpr std::string_view kFolders[] = {"/usr/include/", "/usr/lib/",   "/usr/local/include/",
                                           "/rustc/",       "/rust/deps/", "/usr/share/"};
  return std::ranges::any_of(kFolders,
                             [&](std::string_view folder) { return path.starts_with(folder); });
}

const Frame* find_own_frame(const ImageFacts& facts, const std::vector<Frame>& frames) {
  const auto own = std::ranges::find_if(frames, [&](const Frame& frame) {
    return !is_system_source(facts.strings.text(frame.file));
  });
  return own == frames.end() ? nullptr : &*own;
}

Attributor::Attributor(const ImageFacts& facts) : facts_(facts) {
  nest_inlines();
}

void Attributor::begin_stretch(FileOffset begin, uint32_t inlined) {
  if (!stretches_.empty() && stretches_.back().begin >= begin) {
    stretches_.back().inlined = inlined;  // the one before was empty
  } else {
    stretches_.push_back({begin, inlined});
  }
}

void Attributor::nest_inlines() {
  const std::vector<InlineFact>& rows = facts_.inlines;
  parents_.assign(rows.size(), CodePlace::kNone);
  stretches_.reserve(2 * rows.size());
  const auto outer_first = [](const InlineFact& a, const InlineFact& b) {
    return std::tie(a.begin, a.depth) < std::tie(b.begin, b.depth);
  };
  std::vector<uint32_t> order;  // none: as they are
  if (!std::is_sorted(rows.begin(), rows.end(), outer_first)) {
    order.resize(rows.size());
    std::iota(order.begin(), order.end(), uint32_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return outer_first(rows[a], rows[b]); });
  }

  struct Open {
    uint32_t row;
    FileOffset end;  // not past its parent's
  };
  std::vector<Open> open;
  const auto close_until = [&](FileOffset next, const InlineFact* row) {
    while (!open.empty() && (open.back().end <= next ||
                             (row != nullptr && rows[open.back().row].depth >= row->depth))) {
      const FileOffset end = std::min(open.back().end, next);
      open.pop_back();
      begin_stretch(end, open.empty() ? CodePlace::kNone : open.back().row);
    }
  };
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const uint32_t row = order.empty() ? i : order[i];
    if (rows[row].begin >= rows[row].end) continue;
    close_until(rows[row].begin, &rows[row]);
    if (open.size() >= kDeepestInlining) continue;
    parents_[row] = open.empty() ? CodePlace::kNone : open.back().row;
    open.push_back({row, open.empty() ? rows[row].end : std::min(rows[row].end, open.back().end)});
    begin_stretch(rows[row].begin, row);
  }
  close_until(FileOffset(UINT64_MAX), nullptr);
}

CodePlace Attributor::find(FileOffset offset) {
  CodePlace place;
  const size_t function =
      find_last_begun(facts_.functions, offset, function_cursor_, &FunctionFact::begin);
  if (function < facts_.functions.size() && offset < facts_.functions[function].end) {
    place.function = static_cast<uint32_t>(function);
  }
  const size_t line = find_last_begun(facts_.lines, offset, line_cursor_, &LineFact::offset);
  if (line < facts_.lines.size() && facts_.lines[line].line != 0) {
    place.line = static_cast<uint32_t>(line);
  }
  const size_t stretch = find_last_begun(stretches_, offset, stretch_cursor_, &Stretch::begin);
  if (stretch < stretches_.size()) place.inlined = stretches_[stretch].inlined;
  return place;
}

const BlockFact* Attributor::find_block(FileOffset offset) {
  const size_t row = find_last_begun(facts_.blocks, offset, block_cursor_, &BlockFact::begin);
  if (row == facts_.blocks.size()) return nullptr;
  const BlockFact& block = facts_.blocks[row];
  return offset - block.begin < block.size_bytes ? &block : nullptr;
}

std::vector<Frame> Attributor::frames(const CodePlace& place) const {
  std::vector<Frame> frames;
  if (place == CodePlace{}) return frames;
  Frame at;  // file and line of the frame to come
  if (place.line != CodePlace::kNone) {
    at.file = facts_.lines[place.line].file;
    at.line = facts_.lines[place.line].line;
  }
  for (uint32_t row = place.inlined; row != CodePlace::kNone; row = parents_[row]) {
    const InlineFact& call = facts_.inlines[row];
    frames.push_back({call.name, at.file, at.line, true});
    at.file = call.call_file;
    at.line = call.call_line;
  }
  const StringId name =
      place.function == CodePlace::kNone ? StringId(0u) : facts_.functions[place.function].name;
  frames.push_back({name, at.file, at.line, false});
  return frames;
}

Attribution Attributor::attribute(FileOffset offset) {
  const CodePlace place = find(offset);
  Attribution told;
  if (place.function != CodePlace::kNone) told.function = &facts_.functions[place.function];
  told.frames = frames(place);
  return told;
}

}  // namespace culprit
