#pragma once

// Memory of commands that answer questions about a profile.

namespace culprit {

/// Memory that is freed stays ours: what reading a profile frees is what answering takes. Given
/// back meanwhile, each page of it would be cleared by the kernel anew.
void keep_freed_memory();

/// The same for several threads: what one frees the others take.
void share_freed_memory();

/// Gives the kernel back what is kept, for others to use.
void give_back_freed_memory();

}  // namespace culprit
