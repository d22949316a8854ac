#pragma once

// The vdso: the ELF image that the kernel maps into every process.

#include <string>

#include "base/result.h"

namespace culprit {

/// The bytes of this process's vdso; the kernel maps the same one into every 64-bit process.
/// Errors: the kernel gives none, or its size is unknown.
Result<std::string> read_own_vdso();

}  // namespace culprit
