#include "openmp/region_kinds.h"

#include <iterator>

namespace culprit::openmp {
namespace {

constexpr std::string_view kKindWords[] = {
#define KIND(symbol, word) word,
#include "openmp/guest/region_kinds.def"
#undef KIND
};
static_assert(std::size(kKindWords) == CULPRIT_KINDS);

constexpr std::string_view kDetailWords[] = {"",        "static", "dynamic", "guided",
                                             "runtime", "",       "named"};
static_assert(std::size(kDetailWords) == CULPRIT_DETAILS);

}  // namespace

std::string_view kind_word(uint16_t kind) {
  return kKindWords[kind];
}

std::string_view detail_word(uint16_t detail) {
  return kDetailWords[detail];
}

bool only_waits(std::string_view kind) {
  return kind == kKindWords[CULPRIT_KIND_BARRIER] || kind == kKindWords[CULPRIT_KIND_TASKWAIT] ||
         kind == kKindWords[CULPRIT_KIND_TASKGROUP];
}

}  // namespace culprit::openmp
