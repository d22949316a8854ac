#pragma once

// The part of lint.h that is about names and codes: each row's, against who knows them.

#include <optional>
#include <string>
#include <vector>

#include "templates/lint.h"

namespace culprit {

enum class NameJudge : uint8_t { libpfm, correction, table, nobody };

/// What a name stands for, and who says so.
struct JudgedName {
  NameJudge judge = NameJudge::nobody;
  NameState state = NameState::known;  // what the row should say
  uint64_t code = 0;                   // unless nobody judges
  uint64_t code1 = 0;
  std::string reason;  // why nobody does
};

/// Judges a name by the CPU that libpfm.front() names.
JudgedName judge_name(const Template& whole, const TemplateRow& row);

/// Wrong codes, wrong name states, codes that do not fit the CPU's registers.
void check_names(const Template& whole, std::vector<LintFinding>& findings);

}  // namespace culprit
