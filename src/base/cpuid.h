#pragma once

// What a CPU calls itself, in one spelling whoever tells it: as the tables of perf's events
// write it (mapfile.csv).
//
//     x86     GenuineIntel-6-55-4    vendor, family decimal, model and stepping hexadecimal
//     Arm     0x00000000410fd0c0     MIDR without variant and revision
//     POWER   004e1203               PVR

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit {

/// The first "key : value" of the text of /proc/cpuinfo; "" if there is none.
std::string_view find_cpuinfo(std::string_view cpuinfo, std::string_view key);

/// Reads what CPU this machine has, from /proc/cpuinfo and sysfs below `root` ("/": its own).
/// Errors: they do not say.
Result<std::string> read_cpuid(const std::string& root = "/");

/// Turns what recordings write (HEADER_CPUID of perf.data: "GenuineIntel,6,85,4",
/// "0x00000000413fd0c1", "78,515") into the form above. Other text stays as it is.
std::string normalize_cpuid(std::string_view text);

/// Whether `pattern` (a shell pattern; a leading part will do: "GenuineIntel-6-55" is for every
/// stepping) is for this CPU.
bool matches_cpuid(const std::string& cpuid, const std::string& pattern);

}  // namespace culprit
