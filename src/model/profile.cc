#include "model/profile.h"

#include "model/tables.h"

namespace culprit {

// Machine, which tables.h does not list, has eight fields; environment, strings and the ledger are
// three more.
static_assert(field_list::count_members<Profile>() ==
                  8 + 3 + count_tables() + count_kinds_of_counts(),
              "a table or a kind of count is missing in model/tables.h");

void clear_counts(Profile& profile) {
  visit_counts([](std::string_view, auto& rows) { rows.clear(); }, profile);
}

}  // namespace culprit
