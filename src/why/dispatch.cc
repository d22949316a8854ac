#include "why/dispatch.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"

namespace culprit {
namespace {

struct Dispatch {
  std::string_view file;  // its name begins so, or has it in its path
  std::string_view setting;
};
// Source: OPENSSL_ia32cap(3): the second word has leaf 7's EBX and ECX (here AVX-512, SHA, VAES,
// VPCLMULQDQ go); NumPy, "CPU/SIMD optimizations"; OpenBLAS, README; glibc manual, "Hardware
// Capability Tunables".
constexpr Dispatch kDispatches[] = {
    {"libcrypto", "OPENSSL_ia32cap=:~0x600f0230000"},
    {"libssl", "OPENSSL_ia32cap=:~0x600f0230000"},
    {"numpy",
     "NPY_DISABLE_CPU_FEATURES=\"AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL "
     "AVX512_ICL\""},
    {"libopenblas", "OPENBLAS_CORETYPE=Haswell"},
    {"libc.so", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"},
    {"libm.so", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"},
};

std::string_view find_setting(const std::string& module) {
  for (const Dispatch& one : kDispatches) {
    if (base_name(module).starts_with(one.file)) return one.setting;
    if (module.find("/" + std::string(one.file) + "/") != std::string::npos) return one.setting;
  }
  return {};
}

}  // namespace

std::vector<std::string> advise_on_dispatch(const MeasuredCycles& measured) {
  constexpr double kLeast = 0.05;
  std::vector<std::string> advice;
  for (const auto& [module, samples] : measured.other.by_module) {
    const double share = static_cast<double>(samples) / static_cast<double>(measured.samples);
    if (module.empty() || share < kLeast) continue;
    const std::string_view setting = find_setting(module);
    std::string sentence = fmt::format(
        "{:.0f} % of the samples are in functions of {} that the simulated run did not execute",
        100 * share, base_name(module));
    if (setting.empty()) {
      sentence += ": if it chooses code by the CPU, its documentation may have a setting for it";
    } else {
      sentence += fmt::format(
          ", which chooses code by the CPU: with {} in the environment it does without AVX-512",
          setting);
    }
    advice.push_back(std::move(sentence));
  }
  return advice;
}

}  // namespace culprit
