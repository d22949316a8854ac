#pragma once

// Functions without a name: stripped files keep the tables for unwinding, and these say
// where each function begins and ends.
//
//   readelf --debug-dump=frames:  ... FDE cie=00000000 pc=0000000000001180..00000000000011b5
//
// They stand in .eh_frame and .debug_frame. A function split into hot and cold parts has a range
// for each.

#include <vector>

#include "binary/debug_facts.h"
#include "binary/elf_file.h"

namespace culprit {

/// Ranges by address, no overlaps. Damaged tables give fewer, object files (.o, .ko) none.
std::vector<AddressRange> read_frame_ranges(const ElfFile& file);

}  // namespace culprit
