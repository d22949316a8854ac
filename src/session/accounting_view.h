#pragma once

// A profile and the template that explains it, with the static pipeline model's events where
// the CPU has none and executions are known.

#include <memory>
#include <string>

#include "base/result.h"
#include "model/profile.h"
#include "session/profile_view.h"
#include "templates/template.h"

namespace culprit {

class AccountingView {
 public:
  /// `wanted`: a template by name or file; "": the profile's own. `parts`: what else of the facts
  /// will be needed. `view` must outlive it.
  static Result<AccountingView> make(const ProfileView& view, const std::string& wanted,
                                     FactParts parts);

  [[nodiscard]] const Profile& profile() const { return modelled_ ? *modelled_ : *own_; }
  [[nodiscard]] const Template& cpu() const { return *cpu_; }
  [[nodiscard]] std::shared_ptr<const Template> shared_cpu() const { return cpu_; }

 private:
  AccountingView(const Profile& own, Template cpu)
      : own_(&own), cpu_(std::make_shared<Template>(std::move(cpu))) {}
  Result<void> add_static_model(const FactsLookup& facts);

  const Profile* own_;
  std::unique_ptr<Profile> modelled_;
  std::shared_ptr<Template> cpu_;  // trees point into it
};

}  // namespace culprit
