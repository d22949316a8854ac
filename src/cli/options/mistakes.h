#pragma once

// What CLI11 refuses, in our words: what failed, and what to type instead.
//
//     CLI11                                         here
//     --limit: At Most 1 required but received 2    --limit takes one value, not 2
//     --width: 1 required N missing                 --width lacks its value: --width N
//     Could not convert: --scale = x                --scale: 'x' is not a number
//     --off-cpu excludes --never                    --off-cpu and --never: one or the other

#include <string>

#include <CLI/CLI.hpp>

namespace culprit {

/// `app`: the innermost command that was given.
std::string describe_mistake(const CLI::App& app, const CLI::Error& mistake);

}  // namespace culprit
