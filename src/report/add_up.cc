#include "report/add_up.h"

#include "base/row_index.h"
#include "model/counts.h"

namespace culprit {

Accounts add_up(const Profile& profile, RowKeys& keys) {
  Accounts accounts{{}, SumRows(profile.events.size())};
  RowIndex rows;
  for (const Histogram& histogram : profile.histograms) {
    const RowKey context = keys.of_context(histogram.context);
    Location last_location;
    ObjectId last_object;
    size_t last_row = SIZE_MAX;
    const auto add = [&](const Location& at, ObjectId object, size_t event, const Sum& sum) {
      if (last_row == SIZE_MAX || at != last_location || object != last_object) {
        const RowKey key = keys.of_object(keys.of_location(context, at), object);
        // Neighbours in code mostly belong to the same row.
        if (last_row == SIZE_MAX || key != accounts.keys[last_row]) {
          last_row = rows.find_or_add(RowKeyHash()(key), accounts.keys.size(),
                                      [&](size_t row) { return accounts.keys[row] == key; });
          if (last_row == accounts.keys.size()) accounts.add(key);
        }
        last_location = at;
        last_object = object;
      }
      accounts.of(last_row)[event] += sum;
    };
    for_each_count_of_objects(profile, histogram, add);
  }
  return accounts;
}

}  // namespace culprit
