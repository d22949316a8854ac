#pragma once

// RowNames: what a row is called, as words of one NamePool: equal words are one string,
// so that a hundred thousand rows are compared, merged and sorted without copying text.
// Only the rows that are shown become a ReportRow.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/row_index.h"
#include "report/report.h"

namespace culprit {

/// A word of a NamePool, or none. Names of one pool are equal where their texts are.
class Name {
 public:
  Name() = default;
  explicit Name(const std::string& in_pool) : text_(&in_pool) {}

  explicit operator bool() const { return text_ != nullptr; }
  const std::string& operator*() const { return *text_; }
  friend bool operator==(Name, Name) = default;
  friend bool operator<(Name a, Name b) {  // none first, as with std::optional
    if (a.text_ == b.text_) return false;
    return a.text_ == nullptr || (b.text_ != nullptr && *a.text_ < *b.text_);
  }

 private:
  friend struct std::hash<Name>;
  const std::string* text_ = nullptr;
};

/// Finds words that are the same; must outlive the Names it gave.
class NamePool {
 public:
  /// A word of a text that stays where it is, and is not copied.
  Name lasting(const std::string& text);
  /// A word of a text that may go.
  Name name(std::string_view text);

 private:
  template <class Keep>
  Name find_or_add(std::string_view text, Keep keep);

  RowIndex index_;
  std::vector<const std::string*> words_;
  std::deque<std::string> own_;  // of them, those of texts that went
};

/// The fields of ReportRow of the same names.
struct RowNames {
  Name process, thread, module, function, file, object, region, region_path;
  std::optional<uint32_t> process_id, thread_id, line;
  std::optional<uint64_t> address, end_address;
  bool inlined = false;
  bool skid = false;
  Name asked;  // filters only: the function around the code that they mean; tells no rows apart
};

/// The row with these names; its values are empty.
ReportRow to_row(const RowNames& names);

/// Rows are the same row where they have the same names. Inlined copies of a function
/// are a row apart from the function itself; rows without a function may be partly inlined.
struct SameNames {
  bool operator()(const RowNames& a, const RowNames& b) const;
  bool operator()(const RowNames* a, const RowNames* b) const { return (*this)(*a, *b); }
};
struct NamesHash {
  size_t operator()(const RowNames& row) const noexcept;
  size_t operator()(const RowNames* row) const noexcept { return (*this)(*row); }
};

}  // namespace culprit

template <>
struct std::hash<culprit::Name> {
  size_t operator()(culprit::Name name) const noexcept {
    return std::hash<const std::string*>()(name.text_);
  }
};
