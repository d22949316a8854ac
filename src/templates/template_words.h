#pragma once

// The words that template files use for the values of template.h.

#include <string>
#include <utility>
#include <vector>

#include "templates/template.h"

namespace culprit {

template <class T>
using TemplateWords = std::vector<std::pair<std::string, T>>;

/// "load_latency", ...: all of them, general too.
const TemplateWords<CostBranch>& branch_word_list();
const TemplateWords<Role>& role_words();
const TemplateWords<PenaltyUnit>& penalty_unit_words();
const TemplateWords<NameState>& name_state_words();
const TemplateWords<Formula>& formula_words();
const TemplateWords<Coverage>& coverage_words();

/// The word of a value: "sum".
template <class T>
const std::string& word_of(const TemplateWords<T>& words, T value) {
  static const std::string none;
  for (const auto& [word, meaning] : words) {
    if (meaning == value) return word;
  }
  return none;
}

}  // namespace culprit
