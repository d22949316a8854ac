#include "session/facts_archive.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace culprit {

namespace {

constexpr FactParts kFunctionsOnly{FactPart::functions};

/// FNV-1a of an identity that is no name of a file.
uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

/// The file of one image: its row, and the places that its facts were made for.
Profile make_small_profile(const Profile& profile, ImageId image,
                           const std::vector<FileOffset>& places) {
  Profile small;
  small.machine = profile.machine;
  small.machine.clock.reset();
  small.contexts.emplace_back();
  Event event;
  event.name = small.strings.intern("asked");
  small.events.push_back(event);
  Image row = profile.images[image.value];
  row.path = small.strings.intern(profile.strings.text(row.path));
  small.images.push_back(row);
  const std::vector<uint64_t> ones(places.size(), 1);
  small.histograms.push_back({ContextId(0u), ImageId(0u), places, {{EventId(0u), ones, ones, {}}}});
  return small;
}

Result<void> write_archive_file(const std::string& path, const Profile& small,
                                const ImageFacts& facts) {
  const std::string partial = fmt::format("{}.{}.tmp", path, ::getpid());
  ::unlink(partial.c_str());
  const auto written = [&]() -> Result<void> {
    // Facts can be made again: none of them is worth a wait for the disk.
    ASSIGN_OR_RETURN(ProfileWriter writer, ProfileWriter::create(partial, Survives::process));
    RETURN_IF_ERROR(writer.write_facts(ImageId(0u), facts));
    return writer.close(small);
  }();
  if (!written || std::rename(partial.c_str(), path.c_str()) != 0) {
    ::unlink(partial.c_str());
    return written ? errno_error("cannot write '" + path + "'", errno) : written;
  }
  return {};
}

bool is_in_function(const ImageFacts& facts, FileOffset place) {
  const auto after =
      std::upper_bound(facts.functions.begin(), facts.functions.end(), place,
                       [](FileOffset at, const FunctionFact& one) { return at < one.begin; });
  return after != facts.functions.begin() && place < std::prev(after)->end;
}

}  // namespace

bool belongs_in_archive(const Image& image) {
  return image.kind != ImageKind::jit && image.kind != ImageKind::unknown;
}

std::string FactsArchive::path_of(const Profile& profile, const Image& image) const {
  std::string name = image.build_id;
  if (name.empty() || name.size() > 128) {
    name = fmt::format(
        "file-{:016x}",
        hash_text(fmt::format("{}\n{}\n{}\n{}\n{}", profile.strings.text(image.path), image.inode,
                              image.size_bytes, image.mtime_ns,
                              image.kind == ImageKind::kernel || image.kind == ImageKind::module
                                  ? profile.machine.kernel_release
                                  : "")));
  }
  return folder_ + "/" + name + ".culprit";
}

/// The places that the archive's file was made for; what it covers is taken off `wanted`.
std::vector<FileOffset> FactsArchive::find_covered(const std::string& path,
                                                   std::vector<FileOffset>& wanted) const {
  if (!file_exists(path)) return {};
  Result<ProfileReader> reader = ProfileReader::open(path);
  if (!reader) return {};
  const Result<Profile> small = reader->read_profile();
  if (!small || small->images.size() != 1) return {};
  const auto facts = reader->read_facts(ImageId(0u), kFunctionsOnly);
  if (!facts || !*facts) return {};
  std::vector<FileOffset> made_for;
  for (const Histogram& histogram : small->histograms) {
    made_for.insert(made_for.end(), histogram.offsets.begin(), histogram.offsets.end());
  }
  std::sort(made_for.begin(), made_for.end());
  std::erase_if(wanted, [&](FileOffset place) {
    return std::binary_search(made_for.begin(), made_for.end(), place) ||
           is_in_function(**facts, place);
  });
  return made_for;
}

Result<void> FactsArchive::complete(const Profile& profile, const std::vector<ImageDemand>& demand,
                                    const std::map<ImageId, Fd>& held,
                                    const SnapshotOptions& options,
                                    const SnapshotProgress& progress, Ledger& ledger) {
  std::vector<ImageDemand> lacking;
  std::map<ImageId, bool> has_some;
  for (const ImageDemand& one : demand) {
    const Image& image = profile.images[one.image.value];
    if (!belongs_in_archive(image)) continue;
    std::vector<FileOffset> wanted = one.offsets;
    const std::vector<FileOffset> made_for = find_covered(path_of(profile, image), wanted);
    if (wanted.empty()) {
      // Facts that nobody has needed for long are removed with the epochs of their time.
      ::utimensat(AT_FDCWD, path_of(profile, image).c_str(), nullptr, 0);
      continue;
    }
    std::vector<FileOffset> all;
    std::set_union(made_for.begin(), made_for.end(), one.offsets.begin(), one.offsets.end(),
                   std::back_inserter(all));
    has_some[one.image] = !made_for.empty();
    lacking.push_back({one.image, std::move(all)});
  }
  size_t at = 0;
  const FactsSink keep = [&](ImageId image, const ImageFacts& facts) -> Result<void> {
    while (at < lacking.size() && lacking[at].image != image) ++at;
    CHECK(at < lacking.size());
    // The file may be gone by now: what was found once is better than nothing.
    if (facts.functions.empty() && has_some[image]) return {};
    const std::string path = path_of(profile, profile.images[image.value]);
    const Profile small = make_small_profile(profile, image, lacking[at].offsets);
    if (!write_archive_file(path, small, facts)) unwritten_.insert_or_assign(path, facts);
    return {};
  };
  return make_facts(profile, lacking, held, options, keep, progress, ledger);
}

Result<std::optional<ImageFacts>> FactsArchive::read(const Profile& profile, ImageId image,
                                                     FactParts parts) const {
  const Image& row = profile.images[image.value];
  if (!belongs_in_archive(row)) return std::optional<ImageFacts>();
  const std::string path = path_of(profile, row);
  const auto unwritten = unwritten_.find(path);
  if (unwritten != unwritten_.end()) return std::optional<ImageFacts>(unwritten->second);
  if (!file_exists(path)) return std::optional<ImageFacts>();
  ASSIGN_OR_RETURN(ProfileReader reader, ProfileReader::open(path));
  RETURN_IF_ERROR(reader.read_profile());
  return reader.read_facts(ImageId(0u), parts);
}

}  // namespace culprit
