#pragma once

// Which function a name means: the symbol, or the inlined code, with the most counts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attribute/code_index.h"
#include "base/result.h"

namespace culprit {

/// `function`: a name or a pattern; `module` likewise, "" = any.
struct WantedFunction {
  std::string function;
  std::string module = "";
  size_t copy = 1;  // which of those that match, by their counts: JIT code may have a name often
};

struct FoundFunction {
  ImageId image;
  std::string name;
  bool inlined = false;             // it has no symbol; `functions` hold inlined copies
  std::vector<uint32_t> functions;  // rows of the facts' functions that it is, or is in
  struct Other {
    size_t copy;       // WantedFunction::copy that finds it
    std::string name;  // "name (module)"
  };
  std::vector<Other> others;  // what else matched
};

/// What a name means, without the names of all others that it could mean.
struct FunctionMatch {
  ImageId image;
  const std::string* name = nullptr;  // in the facts
  bool inlined = false;
  size_t matches = 0;  // how many functions the name may mean
};

struct FunctionCandidate;

/// Looks names up among code that has counts, which is added up once.
class FunctionFinder {
 public:
  /// `word`: only functions that have it in their names, or in their linkage names, are there to be
  /// found; code of others is not looked at. `code` must outlive it.
  explicit FunctionFinder(CodeIndex& code, std::string_view word = "");
  FunctionFinder(const FunctionFinder&) = delete;
  FunctionFinder& operator=(const FunctionFinder&) = delete;
  ~FunctionFinder();

  using CandidateList = std::vector<const FunctionCandidate*>;

  /// An error where nothing with counts matches, with the nearest name there is.
  [[nodiscard]] Result<FoundFunction> find(const WantedFunction& wanted) const;
  /// Serves who asks for many names. nullopt: nothing.
  [[nodiscard]] std::optional<FunctionMatch> match(const WantedFunction& wanted) const;
  [[nodiscard]] const CodeIndex& code() const { return code_; }

 private:
  CodeIndex& code_;
  std::vector<FunctionCandidate> all_;
  CandidateList list_;  // of them
};

}  // namespace culprit
