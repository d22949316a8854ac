#pragma once

// The end of long work whose result finds its disk full: what was measured goes where there is
// room, rather than be lost.

#include <string>

#include "base/result.h"
#include "model/profile.h"
#include "store/profile_file.h"

namespace culprit {

/// Closes `writer`, whose file is `path`; on a full disk, a copy of the file in a new folder on
/// another file system: in TMPDIR, /var/tmp, /tmp, /dev/shm or HOME, whichever is the first with
/// room. Returns the file that holds the profile.
/// Errors: those of ProfileWriter::close(); there is no room anywhere.
Result<std::string> close_where_there_is_room(ProfileWriter& writer, const Profile& profile,
                                              const std::string& path);

}  // namespace culprit
