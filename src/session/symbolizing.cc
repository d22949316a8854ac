#include "session/symbolizing.h"

#include <map>
#include <utility>

#include "model/all_functions.h"
#include "store/profile_file.h"

namespace culprit {

namespace {

/// What is known of some images already, so that a second look does not make it worse.
class FirstLook {
 public:
  void note(ImageId image, const ImageFacts& facts) {
    seen_.insert_or_assign(image, Seen{facts.missing.empty(), rank_of(facts)});
  }

  /// Leaves out images whose facts are as good as they can be (and JIT code, which cannot
  /// be read again).
  void leave_out_complete(std::vector<ImageDemand>& demand) const {
    std::erase_if(demand, [&](const ImageDemand& one) {
      const auto seen = seen_.find(one.image);
      return seen != seen_.end() && seen->second.is_complete;
    });
  }

  /// A second look may find less (the binary is gone by now): then the first one stays.
  [[nodiscard]] bool was_better(ImageId image, const ImageFacts& found) const {
    const auto seen = seen_.find(image);
    return seen != seen_.end() && seen->second.rank > rank_of(found);
  }

 private:
  using Rank = std::pair<bool, size_t>;
  struct Seen {
    bool is_complete = false;
    Rank rank;
  };
  static Rank rank_of(const ImageFacts& facts) { return {facts.has_lines, facts.functions.size()}; }

  std::map<ImageId, Seen> seen_;
};

/// Notes how much the facts of a file know of each image.
Result<FirstLook> look_into(ProfileReader& reader, const std::vector<ImageDemand>& demand) {
  FirstLook first;
  for (const ImageDemand& image : demand) {
    ASSIGN_OR_RETURN(const auto facts, reader.read_facts(image.image, FactPart::functions));
    if (facts) first.note(image.image, *facts);
  }
  return first;
}

Result<SymbolizeOutcome> write_facts(ProfileWriter& writer, Profile& profile,
                                     const std::vector<ImageDemand>& demand,
                                     const std::map<ImageId, Fd>& held,
                                     const SnapshotOptions& options, const SnapshotProgress& show,
                                     const FirstLook& first) {
  SymbolizeOutcome outcome{demand.size(), false};
  const SnapshotProgress progress = [&](size_t done, size_t total) {
    outcome.interrupted = !show(done, total);
    return !outcome.interrupted;
  };
  uint64_t nameless = 0;
  const FactsSink sink = [&](ImageId image, const ImageFacts& facts) -> Result<void> {
    if (first.was_better(image, facts)) return {};
    if (facts.functions.empty()) ++nameless;
    return writer.write_facts(image, facts);
  };
  if (options.all_functions) mark_all_functions(profile);
  // What an earlier pass counted is counted anew.
  profile.ledger.erase(ledger::kImagesReplaced);
  profile.ledger.erase(ledger::kSourcesRefused);
  RETURN_IF_ERROR(make_facts(profile, demand, held, options, sink, progress, profile.ledger));
  profile.ledger.erase(ledger::kImagesWithoutFacts);
  if (nameless > 0) profile.ledger.add(ledger::kImagesWithoutFacts, nameless);
  return outcome;
}

/// The images are named by the profile at `path`, whoever made it.
SnapshotOptions with_rights_of(const std::string& path, SnapshotOptions options) {
  options.rights = ReadingRights::of_owner(path);
  return options;
}

}  // namespace

Result<SymbolizeOutcome> symbolize(ProfileWriter& writer, Profile& profile,
                                   std::vector<ImageDemand> demand, const KnownFacts& known,
                                   const SnapshotOptions& options,
                                   const SnapshotProgress& progress) {
  FirstLook first;
  for (const auto& [image, facts] : known) first.note(image, facts);
  first.leave_out_complete(demand);
  return write_facts(writer, profile, demand, {}, options, progress, first);
}

Result<SymbolizeOutcome> symbolize_file(const std::string& path, const std::map<ImageId, Fd>& held,
                                        const KnownFacts& known, const SnapshotOptions& options,
                                        const SnapshotProgress& progress) {
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  ASSIGN_OR_RETURN(Profile profile, reader.read_profile());
  std::vector<ImageDemand> demand = collect_demand(profile);
  clear_counts(profile);  // they are in the file already
  const size_t images = demand.size();
  ASSIGN_OR_RETURN(const FirstLook first, look_into(reader, demand));
  if (!options.all_functions) first.leave_out_complete(demand);

  ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::open(path));
  for (const auto& [image, facts] : known) RETURN_IF_ERROR(writer.write_facts(image, facts));
  ASSIGN_OR_RETURN(
      SymbolizeOutcome outcome,
      write_facts(writer, profile, demand, held, with_rights_of(path, options), progress, first));
  outcome.images = images;
  RETURN_IF_ERROR(writer.close(profile));
  return outcome;
}

}  // namespace culprit
