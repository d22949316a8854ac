#include "simulate/counting/cost_library.h"

#include <dlfcn.h>

namespace culprit::counting {

Result<simulate::CostSource*> load_costs(const std::string& path, const std::string& architecture,
                                         const std::string& cpu,
                                         const InstructionTimings& timings) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = library == nullptr ? nullptr : ::dlsym(library, simulate::kMakeCostSource);
  if (function == nullptr) {
    return Error{std::string("cannot load the costs of instructions: ") + ::dlerror()};
  }
  std::string problem;
  const auto make = reinterpret_cast<simulate::MakeCostSource>(function);
  simulate::CostSource* const source = make(architecture.c_str(), cpu.c_str(), timings, problem);
  if (source == nullptr) return Error{problem + " (llvm_cpu of the machine)"};
  return source;
}

}  // namespace culprit::counting
