#include "cli/unwinding.h"

#include <memory>

#include "host/describe_machine.h"
#include "unwind/unwinder.h"

namespace culprit {

UnwindStack make_unwinder(const std::string& architecture, OpenMappedFile open) {
  auto unwinder = std::make_shared<Unwinder>(architecture, std::move(open));
  return [unwinder](uint32_t pid, const AddressSpaces& spaces, const RegisterDump& registers,
                    std::span<const std::byte> stack) {
    return unwinder->unwind(pid, spaces, registers, stack);
  };
}

MakeUnwindStack find_unwinder() {
  return [](OpenMappedFile open) {
    return make_unwinder(describe_machine().architecture, std::move(open));
  };
}

}  // namespace culprit
