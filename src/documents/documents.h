#pragma once

// The documents of one profile, by name:
//
//     index              what there is, and what would fill what is not
//     why                the tree of cycles: schema/why.schema.json
//     places             events by process, module and function
//     hottest            events of the few functions with most, of all processes together
//     costs              branches of the tree of cycles by the same
//     costs/BRANCH       one branch in detail
//     function/ID        the code of a function; ID stands in `places`
//     calls              the tree of calls, callers above
//     timeline           slices of time by thread and region: schema/timeline.schema.json
//     data, locality, regions    as the commands of these names print in JSON
//     data/N, locality/N         the same of the Nth row of these, from 0: with its edges
//     source/N           the text of the Nth file of the rows of locality, each at its first row
//     scan, scan/...     cells of a scan: scan_documents.h
//
//     Documents documents(view, "profile.culprit");
//     ASSIGN_OR_RETURN(const std::string json, documents.make("places"));

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "documents/scan_documents.h"
#include "session/answers.h"

namespace culprit {

/// A function that the page can open.
struct ListedFunction {
  std::string id;
  std::string module;
  std::string function;
  double share = 0;  // the largest that it has of any event [0 to 1]
};

/// Several threads may ask at once.
class Documents {
 public:
  /// `view` must live as long. `name`: what the page calls the profile.
  Documents(const ProfileView& view, std::string name) : view_(view), name_(std::move(name)) {}

  /// The document as JSON.
  /// Errors: not_found: there is no document of that name; those of the answer: not recorded
  [[nodiscard]] Result<std::string> make(std::string_view name) const;

  /// The documents that are not of one function, the index first; of rows the first thirty, whether
  /// there are so many or not.
  [[nodiscard]] std::vector<std::string> list() const;
  /// Of a scan, the documents of its cells; none of other profiles.
  [[nodiscard]] std::vector<std::string> list_scan_details() const;
  /// Functions, those with the largest share first.
  [[nodiscard]] Result<std::vector<ListedFunction>> list_functions() const;

 private:
  using Functions = std::unordered_map<std::string, ListedFunction>;

  [[nodiscard]] std::string make_index() const;
  [[nodiscard]] Result<std::string> make_places() const;
  [[nodiscard]] Result<std::string> make_hottest() const;
  [[nodiscard]] Result<std::string> make_costs(std::string_view branch) const;
  [[nodiscard]] Result<std::string> make_data(std::string_view row) const;
  [[nodiscard]] Result<std::string> make_locality(std::string_view row) const;
  [[nodiscard]] Result<std::string> make_source(std::string_view file) const;
  [[nodiscard]] Result<std::string> make_function(const std::string& id) const;
  [[nodiscard]] Result<const Functions*> functions() const;
  [[nodiscard]] Result<const ScanDocuments*> scan() const;
  /// The code that `locality` knows: what to ask of it for each row of its table, and the source
  /// files of these, in the same order.
  struct LocalityCode {
    std::vector<std::string> parts;
    std::vector<std::string> files;
  };
  [[nodiscard]] Result<const LocalityCode*> locality_code() const;

  const ProfileView& view_;
  std::string name_;
  mutable std::mutex lock_;  // of what follows, which is made when it is first asked for
  mutable std::optional<Functions> functions_;
  mutable std::optional<LocalityCode> locality_code_;
  mutable std::unique_ptr<const ScanDocuments> scan_;
};

/// The id of a function: the same in all profiles for the same names.
/// Shape:  16 hexadecimal digits
std::string function_id(std::string_view module, std::string_view function);

}  // namespace culprit
