#pragma once

// Names of D functions. LLVM's demangler reads D variables only; here functions are read
// too, without their parameters:
//
//   _D3std5stdio4File5closeMFNfZv  ->  std.stdio.File.close
//   _D3app__T3maxTiZ3maxFiiZi      ->  app.max!(...)

#include <string>
#include <string_view>

namespace culprit {

/// The qualified name, or "" if `name` is not a D function's.
std::string demangle_d(std::string_view name);

}  // namespace culprit
