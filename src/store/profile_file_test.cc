#include "store/profile_file.h"

#include <csignal>
#include <filesystem>
#include <optional>
#include <sys/resource.h>
#include <sys/stat.h>

#include "model/random_profile.h"
#include "store/database.h"
#include "store/test_files.h"

namespace culprit {
namespace {

class ProfileFile : public StoreTest {};

/// The mode bits of a file, as chmod(1) counts them; 0 if it is not there.
unsigned mode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777u : 0;
}

ImageFacts some_facts() {
  ImageFacts facts;
  facts.architecture = "x86_64";
  facts.symbol_source = SymbolSource::dwarf;
  facts.has_lines = true;
  facts.debug_file = "/usr/lib/debug/a";
  facts.missing = "sources";
  const StringId name = facts.strings.intern("f(int)");
  const StringId file = facts.strings.intern("a.cc");
  facts.segments = {{FileOffset(0), 4096, LinkAddress(0x400000)}};
  facts.functions = {{FileOffset(16), FileOffset(64), name, {}, file, 7},
                     {FileOffset(64), FileOffset(65), name, StringId(0u), {}, 0}};
  facts.lines = {{FileOffset(16), file, 8, 1}, {FileOffset(20), {}, 0, 0}};
  facts.inlines = {{FileOffset(16), FileOffset(32), 0, name, file, 9},
                   {FileOffset(16), FileOffset(20), 1, name, file, 10}};
  facts.blocks = {{FileOffset(16), 2}, {FileOffset(18), 1}};
  facts.jumps = {{FileOffset(17), FileOffset(18), JumpKind::partial}};
  facts.code = {{FileOffset(16), std::string("\0\xff\x90", 3)}, {FileOffset(64), ""}};
  // Of the type of a variable, and of one on the stack of a function.
  facts.fields = {{FileOffset(16), false, name, 8, name, file, 4, 4, StringId(0u)},
                  {FileOffset(16), false, name, 8, name, file, 0, 4, file}};
  facts.sources = {{file, 5, {"int f() {", "", "}"}}, {name, 1, {}}};
  return facts;
}

void expect_equal_facts(const ImageFacts& got, const ImageFacts& want) {
  EXPECT_EQ(got.architecture, want.architecture);
  EXPECT_EQ(got.symbol_source, want.symbol_source);
  EXPECT_EQ(got.has_lines, want.has_lines);
  EXPECT_EQ(got.debug_file, want.debug_file);
  EXPECT_EQ(got.missing, want.missing);
  EXPECT_EQ(texts_of(got.strings), texts_of(want.strings));
  EXPECT_EQ(got.segments, want.segments);
  EXPECT_EQ(got.functions, want.functions);
  EXPECT_EQ(got.lines, want.lines);
  EXPECT_EQ(got.inlines, want.inlines);
  EXPECT_EQ(got.blocks, want.blocks);
  EXPECT_EQ(got.jumps, want.jumps);
  EXPECT_EQ(got.code, want.code);
  EXPECT_EQ(got.fields, want.fields);
  EXPECT_EQ(got.sources, want.sources);
}

/// Writes a random profile in several flushes, and may close it; what a reader must find.
Profile write_in_pieces(ProfileWriter& writer, uint32_t seed, std::optional<Compact> close) {
  RandomProfile random(seed);
  Profile all;
  for (int flush = 0; flush < 5; ++flush) {
    random.grow();
    append_counts_of(random.profile(), all);
    const bool is_last = flush == 4;
    const Result<void> done =
        is_last && close ? writer.close(random.profile(), *close) : writer.flush(random.profile());
    EXPECT_TRUE(done) << done.error().message;
    clear_counts(random.profile());
  }
  append_counts_of(all, random.profile());
  merge_counts(random.profile());
  return random.profile();
}

int64_t count_segments(const std::string& path) {
  const auto database = Database::open(path, Database::Access::read);
  return database ? (*database)->query_integer("SELECT count(*) FROM segments").value_or(-1) : -1;
}

TEST_F(ProfileFile, IsReadableByItsOwnerAlone) {
  const mode_t before = ::umask(0);  // which takes nothing away
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  ASSERT_GOOD(writer->flush(small_profile()));
  EXPECT_EQ(mode_of(path_), 0600u);
  const Result<void> closed = writer->close(small_profile());
  ::umask(before);
  ASSERT_GOOD(closed);
  EXPECT_EQ(mode_of(path_), 0600u);
}

TEST_F(ProfileFile, IsNotMadeThroughALink) {
  const std::string target = folder_->path() + "/target";
  std::filesystem::create_symlink(target, path_);  // dangling: nothing "exists already"
  EXPECT_FALSE(ProfileWriter::create(path_));
  EXPECT_FALSE(file_exists(target));
}

TEST_F(ProfileFile, GivesBackEveryNounAfterSeveralFlushes) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const std::string path = path_ + std::to_string(seed);
    Result<ProfileWriter> writer = ProfileWriter::create(path);
    ASSERT_GOOD(writer);
    const Profile want = write_in_pieces(*writer, seed, Compact::now);
    const Result<Profile> got = read(path);
    ASSERT_GOOD(got);
    expect_equal(*got, want);
    EXPECT_FALSE(file_exists(path + "-journal"));
  }
}

TEST_F(ProfileFile, KeepsWhatWasFlushedWhenItIsNeverClosed) {
  Profile want;
  {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    want = write_in_pieces(*writer, 42, std::nullopt);
  }
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(got->ledger.amount(ledger::kInterrupted), 1u);
  want.ledger.add(ledger::kInterrupted);
  expect_equal(*got, want);
}

TEST_F(ProfileFile, HoldsWhatReplacedTheRest) {
  RandomProfile random(11);
  Profile want;
  {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    for (int round = 0; round < 3; ++round) {  // its counts grow
      random.grow();
      ASSERT_GOOD(writer->replace(random.profile()));
    }
    want = random.profile();
    merge_counts(want);
  }
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  want.ledger.add(ledger::kInterrupted);
  expect_equal(*got, want);
}

TEST_F(ProfileFile, ClosedHoldsNothingThatWasProvisional) {
  RandomProfile random(12);
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  random.grow();
  ASSERT_GOOD(writer->replace(random.profile()));
  random.grow();
  const Result<void> closed = writer->close(random.profile());
  ASSERT_GOOD(closed);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  merge_counts(random.profile());
  expect_equal(*got, random.profile());
}

TEST_F(ProfileFile, ReopenedAndClosedHoldsTheSameInFewerSegments) {
  {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    write_in_pieces(*writer, 7, std::nullopt);
  }
  const Result<Profile> before = read(path_);
  ASSERT_GOOD(before);
  Result<ProfileWriter> writer = ProfileWriter::open(path_);
  ASSERT_GOOD(writer);
  const Result<void> closed = writer->close();
  ASSERT_GOOD(closed);
  const Result<Profile> after = read(path_);
  ASSERT_GOOD(after);
  expect_equal(*after, *before);  // the ledger still tells of the interruption
}

TEST_F(ProfileFile, ClosedWithoutCompactingHoldsTheSame) {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  const Profile want = write_in_pieces(*writer, 13, Compact::later);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  expect_equal(*got, want);
  const int64_t scattered = count_segments(path_);
  Result<ProfileWriter> again = ProfileWriter::open(path_);
  ASSERT_GOOD(again);
  ASSERT_GOOD(again->close());
  const Result<Profile> after = read(path_);
  ASSERT_GOOD(after);
  expect_equal(*after, want);
  EXPECT_LT(count_segments(path_), scattered);
}

TEST_F(ProfileFile, RowsThatChangeAfterAFlushAreRewrittenAtTheEnd) {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  Profile profile = small_profile();
  profile.runs.emplace_back();
  profile.processes.push_back({RunId(0u), 5, 1, {}});
  ASSERT_TRUE(writer->flush(profile));
  clear_counts(profile);
  profile.runs[0].duration_ns = 99;
  profile.processes[0].name = profile.strings.intern("renamed");
  ASSERT_TRUE(writer->close(profile));
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(got->runs[0].duration_ns, 99);
  EXPECT_EQ(got->strings.text(got->processes[0].name), "renamed");
  EXPECT_EQ(samples_of(*got), 3u);
}

TEST_F(ProfileFile, GivesBackFactsWhollyAndInParts) {
  Profile profile = small_profile();
  profile.images.emplace_back();
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  ASSERT_TRUE(writer->write_facts(ImageId(1u), some_facts()));
  ASSERT_TRUE(writer->close(profile));

  Result<ProfileReader> reader = ProfileReader::open(path_);
  ASSERT_GOOD(reader);
  const auto none = reader->read_facts(ImageId(0u));
  ASSERT_GOOD(none);
  EXPECT_FALSE(none->has_value());
  const auto whole = reader->read_facts(ImageId(1u));
  ASSERT_GOOD(whole);
  ASSERT_TRUE(whole->has_value());
  expect_equal_facts(**whole, some_facts());

  const FactParts parts{FactPart::functions, FactPart::inlines};
  const auto some = reader->read_facts(ImageId(1u), parts);
  ASSERT_GOOD(some);
  EXPECT_EQ((*some)->functions, some_facts().functions);
  EXPECT_EQ((*some)->inlines, some_facts().inlines);
  EXPECT_TRUE((*some)->lines.empty());
  EXPECT_TRUE((*some)->blocks.empty());
  EXPECT_TRUE((*some)->code.empty());
  EXPECT_TRUE((*some)->sources.empty());
}

TEST_F(ProfileFile, GivesTheCodeWhereBlocksAreWantedAndNoneAreStored) {
  ImageFacts older = some_facts();  // as a writer that knew no blocks left them
  older.blocks.clear();
  {
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    ASSERT_TRUE(writer->write_facts(ImageId(0u), older));
    ASSERT_TRUE(writer->write_facts(ImageId(1u), some_facts()));
    ASSERT_TRUE(writer->close(small_profile()));
  }
  Result<ProfileReader> reader = ProfileReader::open(path_);
  ASSERT_GOOD(reader);
  const FactParts parts{FactPart::functions, FactPart::blocks};
  const auto without = reader->read_facts(ImageId(0u), parts);
  ASSERT_GOOD(without);
  EXPECT_TRUE((*without)->blocks.empty());
  EXPECT_EQ((*without)->code, older.code);
  const auto with = reader->read_facts(ImageId(1u), parts);
  ASSERT_GOOD(with);
  EXPECT_EQ((*with)->blocks, some_facts().blocks);
  EXPECT_TRUE((*with)->code.empty());
}

TEST_F(ProfileFile, FactsAddedLaterReplaceOlderOnesAndLeaveTheCounts) {
  write(small_profile());
  for (int pass = 0; pass < 2; ++pass) {
    Result<ProfileWriter> writer = ProfileWriter::open(path_);
    ASSERT_GOOD(writer);
    ImageFacts facts = some_facts();
    if (pass == 0) facts.functions.clear();
    ASSERT_TRUE(writer->write_facts(ImageId(0u), facts));
    ASSERT_TRUE(writer->close());
  }
  Result<ProfileReader> reader = ProfileReader::open(path_);
  ASSERT_GOOD(reader);
  const auto facts = reader->read_facts(ImageId(0u));
  ASSERT_GOOD(facts);
  expect_equal_facts(**facts, some_facts());
  const Result<Profile> profile = reader->read_profile();
  ASSERT_GOOD(profile);
  EXPECT_EQ(samples_of(*profile), 3u);
  EXPECT_EQ(profile->ledger.amount(ledger::kInterrupted), 0u);
}

TEST_F(ProfileFile, AReaderThatStaysOpenDoesNotKeepAWriterOut) {
  write(small_profile());
  Result<ProfileReader> reader = ProfileReader::open(path_);
  ASSERT_GOOD(reader);
  ASSERT_TRUE(reader->read_profile());
  Result<ProfileWriter> writer = ProfileWriter::open(path_);
  ASSERT_GOOD(writer);
  ASSERT_TRUE(writer->write_facts(ImageId(0u), some_facts()));
  ASSERT_TRUE(writer->close());
  const auto facts = reader->read_facts(ImageId(0u));
  ASSERT_GOOD(facts);
  EXPECT_TRUE(facts->has_value());
}

TEST_F(ProfileFile, RefusesToWriteWhatItCouldNotReadBack) {
  Result<ProfileWriter> writer = ProfileWriter::create(path_);
  ASSERT_GOOD(writer);
  Profile profile = small_profile();
  profile.histograms[0].columns[0].event = EventId(1u);  // there is one event: 0
  const Result<void> bad = writer->flush(profile);
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("'event' is out of range"), std::string::npos);
  const Result<void> good = writer->close(small_profile());  // the bad flush left nothing
  ASSERT_GOOD(good);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(samples_of(*got), 3u);
}

TEST_F(ProfileFile, DoesNotWriteOverAnExistingFile) {
  write(small_profile());
  const Result<ProfileWriter> second = ProfileWriter::create(path_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("exists already"), std::string::npos);
  EXPECT_TRUE(read(path_));
}

TEST_F(ProfileFile, IsNotLeftInPartWhereThereIsNoRoom) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const bool is_made = ProfileWriter::create(path_).has_value();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(is_made);
  EXPECT_FALSE(file_exists(path_));
  EXPECT_TRUE(ProfileWriter::create(path_));
}

TEST_F(ProfileFile, NamesThatSqliteTreatsSpeciallyAreFileNames) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_->path());
  for (const std::string name : {":memory:", "file:x?mode=memory", "a b%20'\""}) {
    Result<ProfileWriter> writer = ProfileWriter::create(name);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer && writer->close(small_profile()));
    EXPECT_TRUE(std::filesystem::exists(folder_->path() + "/" + name));
    EXPECT_TRUE(read(name));
  }
  std::filesystem::current_path(before);
}

TEST_F(ProfileFile, TheSameProfileGivesTheSameBytes) {
  write(small_profile());
  const Result<std::string> first = read_file(path_);
  std::filesystem::remove(path_);
  write(small_profile());
  const Result<std::string> second = read_file(path_);
  ASSERT_GOOD(first);
  ASSERT_GOOD(second);
  EXPECT_TRUE(*first == *second);
}

}  // namespace
}  // namespace culprit
