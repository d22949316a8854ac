#pragma once

// Callers: which code of the program makes a library do what it does.
//
//     pack, pack.c:42   -- 900 -->  memcpy@plt  -- 1,000 -->  __memcpy_avx_unaligned
//     main, pack.c:60   -- 100 -->
//
// Who waits for memory in memcpy cannot change memcpy, but what is copied: 90 % of its calls come
// from pack. Functions of libraries in between (operator new before malloc, a stream before memcpy)
// pass on what they are called by, as do those of system headers (std::string::append).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "branches/function_code.h"
#include "why/why.h"

namespace culprit {

class Callers {
 public:
  /// `code` must outlive it.
  explicit Callers(CodeIndex& code);

  /// The program's functions that calls of a library's function come from, most calls first, each
  /// with the line that has most of them. Variants of one function (memcpy's for AVX2 and AVX-512)
  /// are taken together.
  /// Units:  calls [count] -> shares of all calls [0 to 1], which are not shares of the time
  /// Errors: empty for a function of the program itself, and where no calls are known; calls that
  ///         come through more than 24 functions of libraries are missing in the shares, and
  ///         those round a circle of them count as those that lead into it
  std::vector<Caller> find(const std::string& function);

 private:
  struct Entry {
    ImageId image;
    FileOffset offset;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct Share {
    double share = 0;
    std::map<std::string, double> lines;
  };
  void add_caller(const Frame& frame, ImageId image, double part,
                  std::map<std::string, Share>& sums);
  void add_calls(const Entry& entry, double share, std::vector<Entry>& path,
                 std::map<std::string, Share>& sums);
  [[nodiscard]] std::optional<Entry> find_entry(const Location& location);
  [[nodiscard]] bool is_programs(const Location& call);
  [[nodiscard]] bool is_own(const Location& call);
  [[nodiscard]] bool is_system_function(const Entry& entry);

  CodeIndex& code_;
  FunctionCodes codes_;
  std::map<Entry, std::vector<const BranchCount*>> calls_;  // by what is called
};

}  // namespace culprit
