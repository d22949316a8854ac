#include "code/never_returns.h"

#include <algorithm>
#include <array>

namespace culprit {
namespace {

constexpr auto kNeverReturn = std::to_array<std::string_view>({"abort",
                                                               "exit",
                                                               "_exit",
                                                               "_Exit",
                                                               "quick_exit",
                                                               "__assert_fail",
                                                               "__assert_perror_fail",
                                                               "__assert",
                                                               "__stack_chk_fail",
                                                               "__chk_fail",
                                                               "__fortify_fail",
                                                               "__cxa_throw",
                                                               "__cxa_rethrow",
                                                               "__cxa_bad_cast",
                                                               "__cxa_bad_typeid",
                                                               "__cxa_throw_bad_array_new_length",
                                                               "__cxa_pure_virtual",
                                                               "__cxa_call_unexpected",
                                                               "_Unwind_Resume",
                                                               "longjmp",
                                                               "_longjmp",
                                                               "siglongjmp",
                                                               "__longjmp_chk",
                                                               "pthread_exit",
                                                               "err",
                                                               "errx",
                                                               "verr",
                                                               "verrx",
                                                               "std::terminate",
                                                               "__clang_call_terminate",
                                                               "panic",
                                                               "do_exit",
                                                               "_gfortran_stop_string",
                                                               "_gfortran_stop_numeric",
                                                               "_gfortran_runtime_error",
                                                               "_gfortran_runtime_error_at",
                                                               "_gfortran_os_error",
                                                               "_gfortran_os_error_at"});

}  // namespace

bool never_returns(std::string_view name) {
  if (const size_t version = name.find('@'); version != name.npos) name = name.substr(0, version);
  if (const size_t parameters = name.find('('); parameters != name.npos) {
    name = name.substr(0, parameters);
  }
  if (name.starts_with("std::__throw_")) return true;
  return std::find(kNeverReturn.begin(), kNeverReturn.end(), name) != kNeverReturn.end();
}

}  // namespace culprit
