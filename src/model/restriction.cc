#include "model/restriction.h"

#include "model/tables.h"

namespace culprit {

void restrict_counts(Profile& profile, const std::vector<bool>& kept) {
  const auto is_kept = [&](ContextId context) {
    return context.value < kept.size() && kept[context.value];
  };
  visit_counts(
      [&](std::string_view, auto& counts) {
        std::erase_if(counts, [&](const auto& count) {
          if constexpr (requires { count.from_context; }) {
            return !is_kept(count.from_context) && !is_kept(count.to_context);
          } else {
            return !is_kept(count.context);
          }
        });
      },
      profile);
}

}  // namespace culprit
