// Files that are not profiles, are damaged, or were made to do harm: a clear message and
// nothing else.

#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/random_profile.h"
#include "store/packed_rows.h"
#include "store/test_files.h"

namespace culprit {

/// A row of histograms as files had it before there were objects.
struct RowWithoutObject {
  ContextId context;
  Location location;
  Cell cell;
};

template <>
struct FieldList<RowWithoutObject> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
    visit(NeededId{"event"}, rows.cell.event...);
    visit(Total{"samples"}, rows.cell.samples...);
    visit(Total{"value"}, rows.cell.value...);
    visit(Variance{"variance"}, rows.cell.variance...);
  }
};

namespace {

class HostileFile : public StoreTest {
 protected:
  void put(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string content() const {
    Result<std::string> bytes = read_file(path_);
    EXPECT_TRUE(bytes);
    return *std::move(bytes);
  }

  std::string message() const {
    const Result<Profile> got = read(path_);
    return got ? "(good)" : got.error().message;
  }

  /// Runs SQL on the file, as an attacker would.
  void corrupt(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    char* problem = nullptr;
    sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &problem);
    EXPECT_EQ(problem, nullptr) << problem;
    sqlite3_close(handle);
  }

  /// A profile that uses every noun, changed by SQL: its message.
  std::string message_after(const std::string& sql) {
    std::filesystem::remove(path_);
    RandomProfile random(3);
    random.grow();
    random.grow();
    write(random.profile());
    corrupt(sql);
    return message();
  }

  /// A small profile whose segments of `kind` are replaced by these rows.
  template <class Row>
  std::string message_with_segment(std::string_view kind, const std::vector<Row>& rows) {
    std::filesystem::remove(path_);
    write(small_profile());
    std::span<const Row> left(rows);
    const Result<PackedPiece> piece = pack_rows(left);
    EXPECT_TRUE(piece);
    std::string hex;
    for (const char byte : piece->data) {
      hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    corrupt(
        fmt::format("DELETE FROM segments WHERE kind = '{0}';"
                    "INSERT INTO segments(kind, rows, raw_bytes, data) "
                    "VALUES('{0}', {1}, {2}, x'{3}')",
                    kind, piece->rows, piece->raw_bytes, hex));
    return message();
  }
};

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST_F(HostileFile, WhatIsNoFileIsNamed) {
  EXPECT_SAYS(message(), "No such file or directory");
  path_ = folder_->path();
  EXPECT_SAYS(message(), "it is a directory");
  path_ = folder_->path() + "/fifo";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_SAYS(message(), "not a regular file");
}

TEST_F(HostileFile, WhatIsNoProfileIsNamed) {
  put("");
  EXPECT_SAYS(message(), "is empty");
  put("x");
  EXPECT_SAYS(message(), "is not a profile of Culprit");
  put(std::string(100'000, 'x'));
  EXPECT_SAYS(message(), "is not a profile of Culprit");
  put("PERFILE2" + std::string(5000, '\0'));
  EXPECT_SAYS(message(), "is not a profile of Culprit");
  put("");
  corrupt("CREATE TABLE meta(section TEXT, key TEXT, value)");  // somebody else's database
  EXPECT_SAYS(message(), "is not a profile of Culprit");
}

TEST_F(HostileFile, ANewerVersionIsNamed) {
  EXPECT_SAYS(message_after("PRAGMA user_version = 7"),
              "made by a newer version of Culprit (format 7; this one reads up to 1)");
}

TEST_F(HostileFile, MoreColumnsAndTablesOfALaterVersionAreIgnored) {
  EXPECT_EQ(message_after("ALTER TABLE images ADD COLUMN colour INTEGER;"
                          "CREATE TABLE later(id INTEGER PRIMARY KEY, what TEXT);"
                          "INSERT INTO segments(kind, rows, raw_bytes, data) "
                          "VALUES('later', 5, 5, x'00');"
                          "INSERT INTO meta VALUES('later', 'x', 1)"),
            "(good)");
}

TEST_F(HostileFile, FewerColumnsOfAnEarlierVersionGetTheirDefaults) {
  EXPECT_EQ(message_after("ALTER TABLE images DROP COLUMN died_ns"), "(good)");
  EXPECT_EQ(read(path_)->images[0].died_ns, 0);
}

TEST_F(HostileFile, TruncatedAnywhereIsAnError) {
  RandomProfile random(5);
  random.grow();
  write(random.profile());
  const std::string whole = content();
  for (size_t size = 0; size < whole.size(); size += 509) {
    put(std::string_view(whole).substr(0, size));
    EXPECT_NE(message(), "(good)") << size;
  }
  put(std::string_view(whole).substr(0, whole.size() - 1));
  EXPECT_SAYS(message(), "is truncated");
}

TEST_F(HostileFile, RandomDamageNeverDoesMoreThanGiveAnError) {
  RandomProfile random(6);
  random.grow();
  write(random.profile());
  const std::string whole = content();
  std::mt19937 dice(1);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int change = 0; change <= round % 5; ++change) {
      bytes[dice() % bytes.size()] = static_cast<char>(dice());
    }
    put(bytes);
    const Result<Profile> got = read(path_);  // good or not: it must come back
    if (!got) ++refused;
    std::filesystem::remove(path_ + "-journal");
  }
  EXPECT_GT(refused, 100);
}

TEST_F(HostileFile, CodeInTheSchemaIsRefused) {
  EXPECT_SAYS(message_after("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END"),
              "it has a trigger in it");
  EXPECT_SAYS(message_after("CREATE VIEW v AS SELECT 1"), "it has a view in it");
  EXPECT_SAYS(message_after("CREATE INDEX i ON runs(host)"), "it has a index in it");
  EXPECT_SAYS(message_after("DROP TABLE runs; CREATE TABLE runs(id INTEGER PRIMARY KEY, "
                            "host AS (hex(zeroblob(100000000))))"),
              "a table of another kind");
  EXPECT_SAYS(message_after("CREATE TABLE x(a INTEGER DEFAULT 1)"), "a table of another kind");
  EXPECT_SAYS(message_after("DROP TABLE runs"), "it has no table 'runs'");
}

TEST_F(HostileFile, RowsThatMakeNoSenseAreNamed) {
  EXPECT_SAYS(message_after("UPDATE contexts SET run = 99"), "row 0 of 'contexts': 'run'");
  EXPECT_SAYS(message_after("UPDATE contexts SET run = -1"), "row 0 of its table 'contexts'");
  EXPECT_SAYS(message_after("UPDATE contexts SET run = 'x'"), "row 0 of its table 'contexts'");
  EXPECT_SAYS(message_after("UPDATE contexts SET mode = 6"), "row 0 of its table 'contexts'");
  EXPECT_SAYS(message_after("UPDATE images SET kind = 200"), "row 0 of its table 'images'");
  EXPECT_SAYS(message_after("UPDATE images SET path = 1000000"), "row 0 of 'images': 'path'");
  EXPECT_SAYS(message_after("UPDATE images SET build_id = NULL"), "row 0 of its table 'images'");
  EXPECT_SAYS(message_after("UPDATE events SET scale = 9e999"), "'scale' is out of range");
  EXPECT_SAYS(message_after("UPDATE processes SET pid = 4294967296"), "table 'processes'");
  EXPECT_SAYS(message_after("UPDATE objects SET parent = 1"), "row 0 of 'objects'");
  EXPECT_SAYS(message_after("UPDATE regions SET parent = 0"), "row 0 of 'regions'");
  EXPECT_SAYS(message_after("UPDATE run_labels SET run = NULL"), "table 'run_labels'");
  EXPECT_SAYS(message_after("UPDATE strings SET text = 'same'"), "table 'strings'");
  EXPECT_SAYS(message_after("UPDATE strings SET id = id + 1000 WHERE id > 3"), "table 'strings'");
  EXPECT_SAYS(message_after("UPDATE meta SET value = 'x' WHERE key = 'cpus_online'"),
              "'cpus_online' in its table 'meta'");
  EXPECT_SAYS(message_after("UPDATE meta SET value = 9e999 WHERE key = 'clock_hertz'"),
              "'clock_hertz'");
}

TEST_F(HostileFile, SegmentsThatLieAboutTheirSizeAreRefused) {
  EXPECT_SAYS(message_after("UPDATE segments SET rows = 1 << 40"), "claims more than it can hold");
  EXPECT_SAYS(message_after("UPDATE segments SET rows = -1"), "claims more than it can hold");
  EXPECT_SAYS(message_after("UPDATE segments SET raw_bytes = 1 << 50"), "claims more");
  EXPECT_SAYS(message_after("UPDATE segments SET rows = 1200000 WHERE id = 1"),
              "too many rows in one piece");
  EXPECT_SAYS(message_after("UPDATE segments SET raw_bytes = 100000000 WHERE id = 1"),
              "claims 100000000 bytes");
  EXPECT_SAYS(message_after("UPDATE segments SET raw_bytes = raw_bytes + 1"), "does not fit");
  EXPECT_SAYS(message_after("UPDATE segments SET rows = rows + 1"), "is damaged");
  EXPECT_SAYS(message_after("UPDATE segments SET data = NULL"), "does not fit");
  EXPECT_SAYS(message_after("UPDATE segments SET data = x'28b52ffd'"), "does not fit");
}

TEST_F(HostileFile, AFewBytesDoNotUnfoldToMillionsOfRows) {
  // A column of one number has the same few bytes for one row and for a million.
  std::filesystem::remove(path_);
  write(small_profile());
  const std::vector<StackNode> same(size_t{1} << 18, {StackId(), {ImageId(0u), FileOffset(16)}});
  std::span<const StackNode> left(same);
  const Result<PackedPiece> piece = pack_rows(left);
  ASSERT_TRUE(piece);
  EXPECT_LT(piece->data.size(), 100u);
  std::string hex;
  for (const char byte : piece->data) hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  const std::string add = fmt::format(
      "INSERT INTO segments(kind, rows, raw_bytes, data) VALUES('stacks', {}, {}, x'{}');",
      1'000'000, piece->raw_bytes, hex);
  corrupt(add);
  EXPECT_EQ(message(), "(good)");  // one is what a small regular profile may have
  corrupt(add + add + add + add + add + add);
  EXPECT_SAYS(message(), "claims more than it can hold");
}

TEST_F(HostileFile, HonestRowsThatRepeatAreReadBack) {
  // More equal rows than a file of their size may claim: it must not be written like that.
  Profile profile = small_profile();
  profile.stacks.assign(2'000'000, {StackId(), {ImageId(0u), FileOffset(16)}});
  write(profile);
  const Result<Profile> got = read(path_);
  ASSERT_GOOD(got);
  EXPECT_EQ(got->stacks.size(), 2'000'000u);
  EXPECT_LT(std::filesystem::file_size(path_), 200'000u);
}

TEST_F(HostileFile, CountsThatReferToNothingAreRefused) {
  const ContextId context(0u);
  const Location place{ImageId(0u), FileOffset(1)};
  const Cell cell{EventId(0u), 1, 1, 0};
  using Cells = std::vector<HistogramRow>;
  EXPECT_EQ(message_with_segment("histograms", Cells{{context, place, cell}}), "(good)");
  EXPECT_SAYS(message_with_segment("histograms", Cells{{ContextId(1u), place, cell}}), "'context'");
  EXPECT_SAYS(message_with_segment("histograms", Cells{{ContextId(), place, cell}}), "'context'");
  EXPECT_SAYS(message_with_segment("histograms", Cells{{context, {ImageId(1u), {}}, cell}}),
              "'image'");
  EXPECT_SAYS(message_with_segment("histograms", Cells{{context, place, {EventId(5u), 1, 1, 0}}}),
              "'event'");
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_SAYS(
      message_with_segment("histograms", Cells{{context, place, {EventId(0u), 1, 1, kNan}}}),
      "'variance'");
  EXPECT_SAYS(message_with_segment("histograms", Cells{{context, place, {EventId(0u), 1, 1, -1}}}),
              "is out of range");
  const Cell huge{EventId(0u), 1, ~uint64_t{0}, 0};
  EXPECT_SAYS(
      message_with_segment("histograms", Cells{{context, place, huge}, {context, place, huge}}),
      "row 1 of 'histograms': 'value'");
  using Stacks = std::vector<StackNode>;
  EXPECT_SAYS(message_with_segment("stacks", Stacks{{StackId(0u), place}}), "row 0 of 'stacks'");
  EXPECT_SAYS(message_with_segment("stacks", Stacks{{{}, place}, {StackId(1u), place}}),
              "row 1 of 'stacks'");
  EXPECT_SAYS(
      message_with_segment("stack_counts", std::vector<StackCount>{{context, StackId(0u), cell}}),
      "'stack'");
}

TEST_F(HostileFile, DamagedFactsAreErrorsOfTheirImageOnly) {
  ImageFacts facts;
  facts.strings.intern("f");
  facts.functions = {{FileOffset(5), FileOffset(9), StringId(1u), {}, {}, 0},
                     {FileOffset(9), FileOffset(12), StringId(1u), {}, {}, 0}};
  for (const std::string sql :
       {"UPDATE facts SET rows = 3 WHERE part = 'functions'",
        "UPDATE facts SET data = x'00' WHERE part = 'strings'",
        "DELETE FROM facts WHERE part = 'strings'", "UPDATE image_facts SET symbol_source = 99"}) {
    std::filesystem::remove(path_);
    Result<ProfileWriter> writer = ProfileWriter::create(path_);
    ASSERT_GOOD(writer);
    ASSERT_TRUE(writer->write_facts(ImageId(0u), facts));
    ASSERT_TRUE(writer->close(small_profile()));
    corrupt(sql);
    Result<ProfileReader> reader = ProfileReader::open(path_);
    ASSERT_GOOD(reader);
    EXPECT_TRUE(reader->read_profile());
    const auto got = reader->read_facts(ImageId(0u));
    ASSERT_FALSE(got) << sql;
    EXPECT_SAYS(got.error().message, "facts of image 0");
  }
}

TEST_F(HostileFile, CountsFromBeforeObjectsAndRegionsAreOfNoneRecorded) {
  using Rows = std::vector<RowWithoutObject>;
  const Rows rows = {{ContextId(0u), {ImageId(0u), FileOffset(16)}, {EventId(0u), 3, 30, 0}}};
  ASSERT_EQ(message_with_segment("histograms", rows), "(good)");
  corrupt("ALTER TABLE contexts DROP COLUMN region");
  const Result<Profile> profile = read(path_);
  ASSERT_GOOD(profile);
  ASSERT_EQ(profile->histograms.size(), 1u);
  EXPECT_TRUE(profile->histograms[0].objects.empty());
  EXPECT_EQ(profile->histograms[0].columns[0].value, std::vector<uint64_t>{30});
  EXPECT_TRUE(profile->contexts[0].region.is_all());
}

TEST_F(HostileFile, ObjectsThatDoNotExistAreRefused) {
  using Cells = std::vector<HistogramRow>;
  const Location place{ImageId(0u), FileOffset(1)};
  const Cell cell{EventId(0u), 1, 1, 0};
  const auto with = [&](ObjectId object) {
    return message_with_segment("histograms", Cells{{ContextId(0u), place, cell, object}});
  };
  EXPECT_EQ(with(ObjectId()), "(good)");
  EXPECT_EQ(with(kNoAccess), "(good)");
  EXPECT_SAYS(with(kUnknownObject), "'object'");  // the file has no row 0 of objects
  EXPECT_SAYS(with(ObjectId(kNoAccess.value - 1)), "'object'");
}

TEST_F(HostileFile, AnUnreadableFileIsNamed) {
  write(small_profile());
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder_->path().c_str(), 0755), 0);
  const int status = run_as_nobody(
      [&] { return message().find("Permission denied") != std::string::npos ? 0 : 1; });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace culprit
