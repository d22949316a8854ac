// ProfileReader: transactions around what tables.h, counts.h and facts.h read.

#include "store/counts.h"
#include "store/facts.h"
#include "store/profile_file.h"
#include "store/schema.h"
#include "store/tables.h"

namespace culprit {

struct ProfileReader::State {
  std::unique_ptr<Database> database;
};

ProfileReader::ProfileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProfileReader::ProfileReader(ProfileReader&&) noexcept = default;
ProfileReader& ProfileReader::operator=(ProfileReader&&) noexcept = default;
ProfileReader::~ProfileReader() = default;

Result<ProfileReader> ProfileReader::open(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, open_database(path, Database::Access::read));
  return ProfileReader(std::make_unique<State>(State{std::move(database)}));
}

// Each reads in a transaction of its own: the file does not change meanwhile, and is
// not kept from its writer longer than that.

Result<Profile> ProfileReader::read_profile() {
  ASSIGN_OR_RETURN(Transaction transaction,
                   Transaction::begin(*state_->database, Transaction::Kind::read));
  ASSIGN_OR_RETURN(Profile profile, read_tables(*state_->database));
  RETURN_IF_ERROR(read_counts(*state_->database, profile));
  RETURN_IF_ERROR(transaction.commit());
  return profile;
}

Result<std::optional<ImageFacts>> ProfileReader::read_facts(ImageId image, FactParts parts) {
  ASSIGN_OR_RETURN(Transaction transaction,
                   Transaction::begin(*state_->database, Transaction::Kind::read));
  ASSIGN_OR_RETURN(std::optional<ImageFacts> facts,
                   read_image_facts(*state_->database, image, parts));
  RETURN_IF_ERROR(transaction.commit());
  return facts;
}

}  // namespace culprit
