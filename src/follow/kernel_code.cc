#include "follow/kernel_code.h"

#include <iterator>

namespace culprit {

void KernelCode::process(const KsymbolRecord& symbol) {
  if (symbol.unregistered) {
    by_start_.erase(symbol.start);
    return;
  }
  replace({symbol.start, symbol.length, ImageKind::jit, symbol.name, ImageId()});
}

LoadedCode* KernelCode::find(RunAddress address) {
  const auto after = by_start_.upper_bound(address);
  if (after == by_start_.begin()) return nullptr;
  LoadedCode& code = std::prev(after)->second;
  return address - code.start < code.size_bytes ? &code : nullptr;
}

}  // namespace culprit
