#pragma once

// The text of a source file as far as a profile has it: schema/web_source.schema.json.

#include <string>

#include "session/profile_view.h"

namespace culprit {

/// `file`: its printable name. Lines that no image of the profile brought are left out.
std::string source_document(const ProfileView& view, const std::string& file);

}  // namespace culprit
