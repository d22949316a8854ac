#pragma once

// Words that are no command of ours but that somebody types as one: `culprit PROGRAM` must not run
// a program of that name. script(1), for one, would overwrite the file that perf's would print.

#include <optional>
#include <string>
#include <string_view>

namespace culprit {

/// What to do instead, "" if there is nothing to say; nullopt: the word is free for programs.
std::optional<std::string_view> find_reserved_word(std::string_view word);

}  // namespace culprit
