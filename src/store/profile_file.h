#pragma once

// Profile ⇄ `.culprit` file: one SQLite database (docs/format.md describes it).
//
// A recording calls flush() every second or so; what was flushed survives
// kill -9 and a full disk. Metadata are rows; counts are packed segments,
// compacted by close(). No journal is left beside a closed file.
//
// Files may come from strangers: opening checks version, structure and limits
// and never trusts a number in it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/image_facts.h"
#include "model/profile.h"
#include "store/fact_parts.h"

namespace culprit {

/// What a file that is being made must outlive. Waiting for the disk takes longer than writing.
enum class Survives : uint8_t {
  power_loss,  // nobody can record it again
  process,     // kill -9: what was flushed can be made again, but need not be
};

/// When a closed file's segments become few.
enum class Compact : uint8_t { now, later };

class ProfileWriter {
 public:
  /// Makes a new file; an existing one at `path` is an error (the caller moves it away first).
  static Result<ProfileWriter> create(const std::string& path,
                                      Survives survives = Survives::power_loss);
  /// Opens a complete or interrupted file to add facts to it.
  static Result<ProfileWriter> open(const std::string& path);

  /// Opens a file to add runs to it. `held`: what it holds, as ProfileReader read it.
  static Result<ProfileWriter> extend(const std::string& path, const Profile& held);

  ProfileWriter(ProfileWriter&&) noexcept;
  ProfileWriter& operator=(ProfileWriter&&) noexcept;
  ~ProfileWriter();

  /// Writes rows of the tables that are new since the last call, and every count in
  /// `profile` as new segments (the caller empties them afterwards). One transaction:
  /// after an error the file holds what the last successful call left.
  Result<void> flush(const Profile& profile);

  /// Flushes where runs that were written do not change any more: of thousands of runs only the new
  /// ones are written.
  Result<void> append(const Profile& profile);

  /// Writes all of `profile` in place of what the file holds, in one transaction. What is there
  /// is provisional: the next replace() or close() takes its place.
  Result<void> replace(const Profile& profile);

  /// Adds or replaces the facts of one image.
  Result<void> write_facts(ImageId image, const ImageFacts& facts);

  /// Rewrites all metadata from `profile` (rows may have changed since they were
  /// flushed), adds its counts, compacts segments, marks the file complete. Compacting reads all
  /// counts; a file that is closed without it is as whole, and larger, until it is closed again.
  Result<void> close(const Profile& profile, Compact compact = Compact::now);
  /// Closes a file that was open()ed: its profile is what it holds already.
  Result<void> close();

  /// Goes on in a new file at `path`, with what this one holds, after close() has failed for want
  /// of space. The old file stays. Errors: as create(); no space there either.
  Result<void> move_to(const std::string& path);

 private:
  struct State;
  explicit ProfileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class ProfileReader {
 public:
  static Result<ProfileReader> open(const std::string& path);
  ProfileReader(ProfileReader&&) noexcept;
  ProfileReader& operator=(ProfileReader&&) noexcept;
  ~ProfileReader();

  /// Everything but the facts. Interrupted files have kInterrupted in the ledger.
  Result<Profile> read_profile();
  /// The parts that are asked for; the other vectors stay empty. nullopt: nothing is known of this
  /// image.
  Result<std::optional<ImageFacts>> read_facts(ImageId image, FactParts parts = FactParts::all());

 private:
  struct State;
  explicit ProfileReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace culprit
