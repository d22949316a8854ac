#pragma once

// Tables by column: what a page sorts, filters and adds up.

#include <string>
#include <unordered_map>
#include <vector>

#include "print/json_parts.h"
#include "session/answers.h"

namespace culprit {

/// Rows of a flat report by module, function and perhaps process (else "" and 0). Columns without
/// any count are left out. Shape:  schema/web_table.schema.json
std::string table_document(const ReportAnswer& answer);

/// A tree of calls; rows in the order of the tree, each with its depth.
/// Shape:  schema/web_calls.schema.json
std::string calls_document(const ReportAnswer& answer);

/// The numbers of texts in the order in which they come; a text is stored once.
class TextNumbers {
 public:
  size_t number_of(const std::string& text);
  [[nodiscard]] const std::vector<const std::string*>& texts() const { return texts_; }
  /// Numbers the texts by the order of their bytes, so that numbers compare as texts do.
  /// Shape:  [old number] -> new number
  std::vector<size_t> sort();

 private:
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<const std::string*> texts_;
};

/// The columns that have a value other than 0 in one of the rows.
/// Shape:  [column]
std::vector<size_t> columns_with_values(size_t columns,
                                        const std::vector<const std::vector<Value>*>& rows);

/// Values of rows as lists, one a column; of zeros alone the list is empty.
struct ValueColumns {
  ValueColumns(const std::vector<size_t>& columns,
               const std::vector<const std::vector<Value>*>& rows);

  std::vector<std::vector<double>> values;
  std::vector<std::vector<double>> errors;  // standard errors
  std::vector<std::vector<uint64_t>> samples;
};

}  // namespace culprit
