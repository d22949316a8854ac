#pragma once

// Mapped files may shrink while they are read: a linker writes the program anew, a user truncates
// it on purpose. Reading a page behind the new end raises SIGBUS, which ends the process. Copying
// every file first would take as long as reading its symbols, and the memory for all of it; so
// the pages that are gone read as zeros instead, which a parser of strangers' bytes is ready for.

namespace culprit {

/// Makes reads of mapped pages that their file no longer has give zeros, from now on and in the
/// whole process. Faults in the program's own code and data still end it.
void survive_file_faults();

}  // namespace culprit
