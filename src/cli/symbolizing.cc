#include "cli/symbolizing.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <utility>

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

/// What a file knows of its images already.
class StoredFacts {
 public:
  explicit StoredFacts(ProfileReader& reader) : reader_(reader) {}

  /// Leaves out images whose facts are as good as they can be (and JIT code, which cannot
  /// be read again).
  Result<void> leave_out_complete(std::vector<ImageDemand>& demand) {
    const FactParts functions_only{
        .lines = false, .inlines = false, .blocks = false, .code = false, .sources = false};
    std::vector<ImageDemand> wanting;
    for (ImageDemand& image : demand) {
      ASSIGN_OR_RETURN(auto facts, reader_.read_facts(image.image, functions_only));
      if (facts && facts->missing.empty()) continue;
      if (facts) incomplete_.emplace(image.image, *std::move(facts));
      wanting.push_back(std::move(image));
    }
    demand = std::move(wanting);
    return {};
  }

  /// A second look may find less (the binary is gone by now): then the first one stays.
  [[nodiscard]] bool are_better(ImageId image, const ImageFacts& found) const {
    const auto stored = incomplete_.find(image);
    if (stored == incomplete_.end()) return false;
    const auto rank = [](const ImageFacts& facts) {
      return std::pair(facts.has_lines, facts.functions.size());
    };
    return rank(stored->second) > rank(found);
  }

 private:
  ProfileReader& reader_;
  std::map<ImageId, ImageFacts> incomplete_;
};

/// Whether facts of this image are to be written.
using WantsFacts = std::function<bool(ImageId, const ImageFacts&)>;

Result<SymbolizeOutcome> write_facts(ProfileWriter& writer, Profile& profile,
                                     const std::vector<ImageDemand>& demand,
                                     const std::map<ImageId, Fd>& held,
                                     const SnapshotOptions& options, bool quiet,
                                     const InterruptGuard& guard, const WantsFacts& wants) {
  ProgressLine line;
  SymbolizeOutcome outcome{demand.size(), false};
  const SnapshotProgress progress = [&](size_t done, size_t total) {
    if (!quiet) line.show(fmt::format("symbols of {} of {} images", done, total));
    outcome.interrupted = guard.is_interrupted();
    return !outcome.interrupted;
  };
  uint64_t nameless = 0;
  const FactsSink sink = [&](ImageId image, const ImageFacts& facts) -> Result<void> {
    if (!wants(image, facts)) return {};
    if (facts.functions.empty()) ++nameless;
    return writer.write_facts(image, facts);
  };
  // What an earlier pass counted is counted anew.
  profile.ledger.erase(ledger::kImagesReplaced);
  RETURN_IF_ERROR(make_facts(profile, demand, held, options, sink, progress, profile.ledger));
  profile.ledger.erase(ledger::kImagesWithoutFacts);
  if (nameless > 0) profile.ledger.add(ledger::kImagesWithoutFacts, nameless);
  return outcome;
}

}  // namespace

Result<SymbolizeOutcome> symbolize(ProfileWriter& writer, Profile& profile,
                                   const std::vector<ImageDemand>& demand,
                                   const SnapshotOptions& options, bool quiet,
                                   const InterruptGuard& guard) {
  return write_facts(writer, profile, demand, {}, options, quiet, guard,
                     [](ImageId, const ImageFacts&) { return true; });
}

Result<SymbolizeOutcome> symbolize_file(const std::string& path, const std::map<ImageId, Fd>& held,
                                        const KnownFacts& known, const SnapshotOptions& options,
                                        bool quiet) {
  const InterruptGuard guard;
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  std::vector<ImageDemand> demand = collect_demand(profile);
  clear_counts(profile);  // they are in the file already
  const size_t images = demand.size();
  StoredFacts stored(reader);
  RETURN_IF_ERROR(stored.leave_out_complete(demand));

  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::open(path));
  for (const auto& [image, facts] : known) RETURN_IF_ERROR(writer.write_facts(image, facts));
  ASSIGN_OR_RETURN(SymbolizeOutcome outcome,
                   write_facts(writer, profile, demand, held, options, quiet, guard,
                               [&](ImageId image, const ImageFacts& facts) {
                                 return !stored.are_better(image, facts);
                               }));
  outcome.images = images;
  RETURN_IF_ERROR(writer.close(profile));
  return outcome;
}

}  // namespace culprit
