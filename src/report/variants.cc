#include "report/variants.h"

#include <algorithm>
#include <map>

namespace culprit {
namespace {

bool was_executed(const ReportRow& row, size_t instructions) {
  return row.values[instructions].value > 0;
}

}  // namespace

std::vector<VariantRows> join_variants(const std::vector<const ReportRow*>& rows, size_t time,
                                       size_t instructions) {
  struct Variants {
    std::vector<const ReportRow*> rows;
    bool has_unexecuted = false;  // with samples
    bool has_executed = false;
  };
  using Key = std::pair<std::string, std::string>;  // module, family
  const auto key_of = [](const ReportRow& row) {
    return Key{row.module.value_or(""), find_variant_family(row.function.value_or(""))};
  };
  std::map<Key, Variants> families;
  for (const ReportRow* const row : rows) {
    Variants& variants = families[key_of(*row)];
    const bool is_executed = was_executed(*row, instructions);
    variants.rows.push_back(row);
    variants.has_executed = variants.has_executed || is_executed;
    variants.has_unexecuted =
        variants.has_unexecuted || (!is_executed && row->values[time].samples > 0);
  }
  std::vector<VariantRows> all;
  for (const ReportRow* const row : rows) {
    const Key key = key_of(*row);
    const Variants& variants = families.at(key);
    const bool is_joined = !key.second.empty() && variants.has_executed && variants.has_unexecuted;
    if (!is_joined) {
      all.push_back({{row}, ""});
    } else if (variants.rows.front() == row) {
      all.push_back({variants.rows, key.second});
    }
  }
  return all;
}

}  // namespace culprit
