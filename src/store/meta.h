#pragma once

// The table `meta`: what there is one of. Rows (section, key, value) that anybody can
// read with `select * from meta`:
//
//     file         complete       1         0: interrupted while it was written
//     machine      cpu_model      AMD EPYC
//     environment  ...
//     ledger       lost_samples   12
//     note         0              kernel symbols hidden (kptr_restrict)

#include "model/profile.h"
#include "store/database.h"

namespace culprit {

/// Replaces all rows.
Result<void> write_meta(const Database& database, const Profile& profile, bool is_complete);

/// Fills machine, environment and ledger of `profile`.
Result<void> read_meta(const Database& database, Profile& profile);

}  // namespace culprit
