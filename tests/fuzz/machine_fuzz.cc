// Machine files: what parse_machine() accepts can be simulated.

#include <cstdint>
#include <string_view>

#include "simulate/machine/hierarchy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace culprit;
  using namespace culprit::simulate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<MachineModel> machine = parse_machine(text, "machine.toml");
  if (!machine) {
    CHECK(!machine.error().message.empty());
    return 0;
  }
  CHECK(check_machine(*machine).has_value());
  const auto memory = Hierarchy::make(*machine);
  CHECK(memory.has_value());
  CoreState& core = (*memory)->add_core();
  for (uint64_t i = 0; i < 100; ++i) access(core, i * i * 999, 8, AccessType::store, 1);
  return 0;
}
