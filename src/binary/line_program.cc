#include "binary/line_program.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <dwarf.h>
#include <tuple>

namespace culprit {
namespace {

constexpr uint32_t kLargestColumn = UINT16_MAX;  // of libdw
constexpr uint32_t kLargestDiscriminator = (1u << 24) - 1;
constexpr uint64_t kMostFiles = 1 << 20;

/// Takes little-endian values off bytes; past their end everything is 0, and `failed` is set.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed = false;

  [[nodiscard]] size_t left() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] const std::byte* at() const { return at_; }

  uint64_t fixed(size_t size) {
    if (size > left() || size > sizeof(uint64_t)) return fail();
    uint64_t value = 0;
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }
  uint8_t byte() {
    if (at_ == end_) return static_cast<uint8_t>(fail());
    return static_cast<uint8_t>(*at_++);
  }
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t next = byte();
      if (failed || shift > 63) return fail();
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if ((next & 0x80) == 0) return value;
    }
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t next = byte();
      if (failed || shift > 63) return static_cast<int64_t>(fail());
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if ((next & 0x80) != 0) continue;
      if (shift + 7 < 64 && (next & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
  }
  std::string_view text() {
    const void* const end = std::memchr(at_, 0, left());
    if (end == nullptr) {
      fail();
      return {};
    }
    const auto* const begin = reinterpret_cast<const char*>(at_);
    at_ = static_cast<const std::byte*>(end) + 1;
    return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
  }
  std::span<const std::byte> bytes(uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const std::span<const std::byte> taken(at_, size);
    at_ += size;
    return taken;
  }

 private:
  uint64_t fail() {
    failed = true;
    at_ = end_;
    return 0;
  }

  const std::byte* at_;
  const std::byte* end_;
};

/// A field of a file or folder in version 5: what it says, and in which form.
struct EntryField {
  uint64_t content = 0;
  uint64_t form = 0;
};

struct Entry {
  std::string_view text;
  uint64_t folder = 0;
};

class HeaderReader {
 public:
  HeaderReader(Cursor& in, const LineSections& sections, size_t offset_bytes)
      : in_(in), sections_(sections), offset_bytes_(offset_bytes) {}

  /// Version 5: a description of the fields, then so many entries. False: damaged, or rare.
  bool read_entries(std::vector<Entry>& entries) {
    std::vector<EntryField> fields(in_.byte());
    for (EntryField& field : fields) field = {in_.uleb(), in_.uleb()};
    const uint64_t count = in_.uleb();
    if (in_.failed || count > kMostFiles || (fields.empty() && count > 0)) return false;
    entries.resize(std::min<uint64_t>(count, in_.left()));
    if (entries.size() != count) return false;
    for (Entry& entry : entries) {
      for (const EntryField& field : fields) {
        if (!read_field(field, entry)) return false;
      }
    }
    return !in_.failed;
  }

 private:
  std::optional<std::string_view> find_text(std::span<const std::byte> section) {
    const uint64_t at = in_.fixed(offset_bytes_);
    if (in_.failed || at >= section.size()) return std::nullopt;
    Cursor text(section.subspan(at));
    const std::string_view found = text.text();
    if (text.failed) return std::nullopt;
    return found;
  }

  bool read_field(const EntryField& field, Entry& entry) {
    uint64_t number = 0;
    std::optional<std::string_view> text;
    switch (field.form) {
      case DW_FORM_string:
        text = in_.text();
        break;
      case DW_FORM_line_strp:
        text = find_text(sections_.line_strings);
        if (!text) return false;
        break;
      case DW_FORM_strp:
        text = find_text(sections_.strings);
        if (!text) return false;
        break;
      case DW_FORM_udata:
        number = in_.uleb();
        break;
      case DW_FORM_data1:
        number = in_.fixed(1);
        break;
      case DW_FORM_data2:
        number = in_.fixed(2);
        break;
      case DW_FORM_data16:
        in_.bytes(16);  // an MD5
        break;
      default:
        return false;
    }
    if (field.content == DW_LNCT_path) {
      if (!text) return false;
      entry.text = *text;
    } else if (field.content == DW_LNCT_directory_index) {
      if (text || field.form == DW_FORM_data16) return false;
      entry.folder = number;
    }
    return !in_.failed;
  }

  Cursor& in_;
  const LineSections& sections_;
  size_t offset_bytes_;
};

/// Versions 2 to 4: texts that end with an empty one.
bool read_old_entries(Cursor& in, std::string_view folder, std::vector<Entry>& folders,
                      std::vector<Entry>& files) {
  folders.push_back({folder, 0});
  for (std::string_view text = in.text(); !text.empty(); text = in.text()) {
    folders.push_back({text, 0});
    if (folders.size() > kMostFiles) return false;
  }
  files.push_back({"???", 0});  // as libdw calls the file that has no number
  for (std::string_view text = in.text(); !text.empty(); text = in.text()) {
    files.push_back({text, in.uleb()});
    in.uleb();  // when it was changed
    in.uleb();  // its size
    if (files.size() > kMostFiles) return false;
  }
  return !in.failed;
}

/// Collects the rows that RangeRows has.
class RowSorter {
 public:
  explicit RowSorter(const std::vector<AddressRange>& ranges)
      : ranges_(ranges), found_(ranges.size()), before_(ranges.size()) {}

  void add(const LineRow& row) {
    const Placed placed{row, count_++};
    if (count_ == 1 || placed.comes_after(last_)) last_ = placed;
    // The first range that begins at or behind the row, and the one that may hold it.
    while (next_ < ranges_.size() && ranges_[next_].begin.value < row.address) ++next_;
    while (next_ > 0 && ranges_[next_ - 1].begin.value >= row.address) --next_;
    if (next_ < ranges_.size()) {
      std::optional<Placed>& before = before_[next_];
      if (!before || placed.comes_after(*before)) before = placed;
    }
    if (next_ > 0 && row.address < ranges_[next_ - 1].end.value)
      found_[next_ - 1].push_back(placed);
  }

  std::vector<RangeRows> take() {
    std::vector<RangeRows> all(ranges_.size());
    std::optional<Placed> before;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (before_[i] && (!before || before_[i]->comes_after(*before))) before = before_[i];
      // What lies in the range before is behind its begin, and before that of this one.
      RangeRows& rows = all[i];
      if (before) rows.before = finished(*before);
      rows.is_last = count_ == 0 || last_.row.address <= ranges_[i].begin.value;
      std::vector<Placed>& found = found_[i];
      std::sort(found.begin(), found.end(),
                [](const Placed& a, const Placed& b) { return b.comes_after(a); });
      rows.rows.reserve(found.size());
      for (const Placed& one : found) rows.rows.push_back(finished(one));
    }
    return all;
  }

 private:
  struct Placed {
    LineRow row;
    uint64_t number = 0;
    [[nodiscard]] bool comes_after(const Placed& other) const {
      const auto rank = [](const Placed& p) {
        return std::tuple(p.row.address, !p.row.is_end, p.number);
      };
      return rank(*this) > rank(other);
    }
  };

  /// The last row of all ends its sequence, whatever it says.
  LineRow finished(const Placed& placed) const {
    LineRow row = placed.row;
    row.is_end = row.is_end || placed.number == last_.number;
    return row;
  }

  const std::vector<AddressRange>& ranges_;
  std::vector<std::vector<Placed>> found_;
  std::vector<std::optional<Placed>> before_;
  Placed last_;
  uint64_t count_ = 0;
  size_t next_ = 0;
};

}  // namespace

std::optional<LineProgram> LineProgram::parse(const LineSections& sections, uint64_t offset,
                                              std::string_view folder) {
  if (std::endian::native != std::endian::little || offset >= sections.lines.size())
    return std::nullopt;
  Cursor all(sections.lines.subspan(offset));
  size_t offset_bytes = 4;
  uint64_t length = all.fixed(4);
  if (length == UINT32_MAX) {
    offset_bytes = 8;
    length = all.fixed(8);
  }
  Cursor in(all.bytes(length));
  const uint64_t version = in.fixed(2);
  if (version < 2 || version > 5) return std::nullopt;
  LineProgram program;
  if (version == 5) {
    program.address_bytes_ = in.byte();
    if (in.byte() != 0) return std::nullopt;  // segments
  }
  const uint64_t header_bytes = in.fixed(offset_bytes);
  if (in.failed || header_bytes > in.left()) return std::nullopt;
  program.code_ = {in.at() + header_bytes, in.left() - header_bytes};
  Cursor header(in.bytes(header_bytes));
  program.least_instruction_ = header.byte();
  if (version >= 4 && header.byte() != 1) return std::nullopt;  // several operations at once
  header.byte();                                                // is_stmt
  program.line_base_ = static_cast<int8_t>(header.byte());
  program.line_range_ = header.byte();
  program.opcode_base_ = header.byte();
  if (program.line_range_ == 0 || program.opcode_base_ == 0) return std::nullopt;
  for (uint8_t opcode = 1; opcode < program.opcode_base_; ++opcode)
    program.operands_.push_back(header.byte());
  std::vector<Entry> folders;
  std::vector<Entry> files;
  HeaderReader reader(header, sections, offset_bytes);
  const bool is_sound = version == 5 ? reader.read_entries(folders) && reader.read_entries(files)
                                     : read_old_entries(header, folder, folders, files);
  if (!is_sound || header.failed) return std::nullopt;
  for (const Entry& file : files) {
    if (file.folder >= folders.size()) return std::nullopt;
    std::string path;
    const std::string_view its_folder = folders[file.folder].text;
    if (version == 5 && its_folder.empty()) return std::nullopt;
    const bool is_complete = file.text.starts_with('/') || its_folder.empty();
    if (!is_complete) path = std::string(its_folder) + '/';
    path += file.text;
    program.files_.push_back(std::move(path));
  }
  return program;
}

std::optional<std::vector<RangeRows>> LineProgram::run(
    const std::vector<AddressRange>& ranges) const {
  RowSorter sorter(ranges);
  Cursor in(code_);
  struct State {
    uint64_t address = 0;
    uint64_t file = 1;
    uint64_t line = 1;
    uint64_t column = 0;
    uint64_t discriminator = 0;
  } state;
  bool is_rare = false;
  const auto add_row = [&](bool is_end) {
    is_rare |= state.file > UINT32_MAX || state.line > INT32_MAX || state.column > kLargestColumn ||
               state.discriminator > kLargestDiscriminator;
    sorter.add({state.address, static_cast<uint32_t>(state.file), static_cast<uint32_t>(state.line),
                static_cast<uint32_t>(state.column), static_cast<uint32_t>(state.discriminator),
                is_end});
    state.discriminator = 0;
  };
  while (in.left() > 0 && !in.failed && !is_rare) {
    const uint8_t opcode = in.byte();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      state.address += uint64_t{least_instruction_} * (adjusted / line_range_);
      state.line += static_cast<uint64_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      add_row(false);
      continue;
    }
    switch (opcode) {
      case 0: {
        const uint64_t size = in.uleb();
        if (size == 0) return std::nullopt;
        Cursor extended(in.bytes(size));
        switch (extended.byte()) {
          case DW_LNE_end_sequence:
            add_row(true);
            state = {};
            break;
          case DW_LNE_set_address:
            if (size - 1 != sizeof(uint64_t) || address_bytes_ != sizeof(uint64_t))
              return std::nullopt;
            state.address = extended.fixed(sizeof(uint64_t));
            break;
          case DW_LNE_set_discriminator:
            state.discriminator = extended.uleb();
            break;
          case DW_LNE_define_file:
            return std::nullopt;
          default:
            break;
        }
        if (extended.failed) return std::nullopt;
        break;
      }
      case DW_LNS_copy:
        if (operands_[opcode - 1] != 0) return std::nullopt;
        add_row(false);
        break;
      case DW_LNS_advance_pc:
        if (operands_[opcode - 1] != 1) return std::nullopt;
        state.address += least_instruction_ * in.uleb();
        break;
      case DW_LNS_advance_line:
        if (operands_[opcode - 1] != 1) return std::nullopt;
        state.line += static_cast<uint64_t>(in.sleb());
        break;
      case DW_LNS_set_file:
        if (operands_[opcode - 1] != 1) return std::nullopt;
        state.file = in.uleb();
        break;
      case DW_LNS_set_column:
        if (operands_[opcode - 1] != 1) return std::nullopt;
        state.column = in.uleb();
        break;
      case DW_LNS_const_add_pc:
        if (operands_[opcode - 1] != 0) return std::nullopt;
        state.address += uint64_t{least_instruction_} * ((255 - opcode_base_) / line_range_);
        break;
      case DW_LNS_fixed_advance_pc:
        if (operands_[opcode - 1] != 1) return std::nullopt;
        state.address += in.fixed(2);
        break;
      default:  // is_stmt, blocks, prologues, ISAs: not asked for, nor what is newer
        for (uint8_t i = 0; i < operands_[opcode - 1]; ++i) in.uleb();
        break;
    }
  }
  if (in.failed || is_rare) return std::nullopt;
  return sorter.take();
}

}  // namespace culprit
