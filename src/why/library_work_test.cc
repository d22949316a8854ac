// Functions of glibc 2.36 and what they do; and the profile of test_profile.h, whose 80 samples of
// 1,000 in libc.so.6 get a name by hand.

#include "why/library_work.h"

#include <cmath>
#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

std::string_view kind_of(std::string_view function) {
  const LibraryKind* const kind = find_library_kind(function);
  return kind == nullptr ? "" : kind->key;
}

TEST(FindLibraryKind, KnowsTheNamesThatTheLibraryHasForItself) {
  EXPECT_EQ(kind_of("strcoll_l"), "locale_order");
  EXPECT_EQ(kind_of("__GI___strcoll_l"), "locale_order");
  EXPECT_EQ(kind_of("__wcrtomb_internal"), "locale_characters");
  EXPECT_EQ(kind_of("__gconv_transform_internal_utf8"), "locale_characters");
  EXPECT_EQ(kind_of("_IO_getc"), "stream_characters");
  EXPECT_EQ(kind_of("getc@@GLIBC_2.2.5"), "stream_characters");
  EXPECT_EQ(kind_of("tzset_internal"), "time_zones");
}

TEST(FindLibraryKind, KnowsTextsReadToTheirEndsByVariantsOfAllCpus) {
  EXPECT_EQ(kind_of("strlen"), "text_lengths");
  EXPECT_EQ(kind_of("__strlen_evex"), "text_lengths");
  EXPECT_EQ(kind_of("__strlen_avx2"), "text_lengths");
  EXPECT_EQ(kind_of("__strchr_sse2"), "text_searches");
  EXPECT_EQ(kind_of("__memchr_avx2_rtm"), "text_searches");
  EXPECT_EQ(kind_of("__strcmp_avx2"), "text_searches");
  EXPECT_EQ(kind_of("strchrnul"), "text_searches");
}

TEST(FindLibraryKind, LeavesOthersAlone) {
  EXPECT_EQ(kind_of("memcpy"), "");  // bytes are copied as the caller says
  EXPECT_EQ(kind_of("__memmove_avx_unaligned_erms"), "");
  EXPECT_EQ(kind_of("strlen_of_mine"), "");
  EXPECT_EQ(kind_of("getc_unlocked"), "");
  EXPECT_EQ(kind_of("getcwd"), "");
  EXPECT_EQ(kind_of("_internal"), "");
  EXPECT_EQ(kind_of("___"), "");
  EXPECT_EQ(kind_of(""), "");
}

class LibraryWork : public ::testing::Test {
 protected:
  void name(ImageId image, const char* function) {
    ImageFacts& facts = test_.facts[image];
    facts.functions.insert(
        facts.functions.begin(),
        {FileOffset(0), FileOffset(0x100), facts.strings.intern(function), {}, {}, 0});
  }
  std::vector<LibraryPart> find() { return find_library_work(test_.profile, test_.lookup()); }

  TestProfile test_ = make_test_profile();
};

TEST_F(LibraryWork, HasItsSharesOfTheTime) {
  name(ImageId(1u), "strcoll_l");
  const std::vector<LibraryPart> parts = find();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].kind->key, "locale_order");
  EXPECT_NEAR(parts[0].share.value, 0.08, 1e-12);
  EXPECT_NEAR(parts[0].share.standard_error, 0.08 / std::sqrt(80), 1e-12);
  EXPECT_EQ(parts[0].samples, 80u);
  EXPECT_EQ(parts[0].all_samples, 1000u);
  EXPECT_EQ(parts[0].function, "strcoll_l");
  EXPECT_NEAR(parts[0].function_share, 1, 1e-12);
}

TEST_F(LibraryWork, IsNotTheProgramsOwn) {
  ImageFacts& mill = test_.facts[ImageId(0u)];
  ASSERT_FALSE(mill.functions.empty());
  for (FunctionFact& function : mill.functions) function.name = mill.strings.intern("strcoll");
  EXPECT_TRUE(find().empty());
}

// The 50 samples of the program at 0x310 are in the stub by which it calls the function.
TEST_F(LibraryWork, HasTheStubsOfItsCalls) {
  name(ImageId(1u), "strcoll_l");
  ImageFacts& mill = test_.facts[ImageId(0u)];
  for (FunctionFact& function : mill.functions) {
    if (function.begin <= FileOffset(0x310) && FileOffset(0x310) < function.end) {
      function.name = mill.strings.intern("strcoll@plt");
    }
  }
  ASSERT_EQ(find().size(), 1u);
  EXPECT_NEAR(find()[0].share.value, 0.13, 1e-12);
  EXPECT_EQ(find()[0].function, "strcoll_l");
}

TEST_F(LibraryWork, IsNotStubsAlone) {
  ImageFacts& mill = test_.facts[ImageId(0u)];
  for (FunctionFact& function : mill.functions) function.name = mill.strings.intern("strcoll@plt");
  EXPECT_TRUE(find().empty());
}

TEST_F(LibraryWork, IsNoneWithoutTime) {
  name(ImageId(1u), "strcoll_l");
  test_.profile.histograms.clear();
  EXPECT_TRUE(find().empty());
}

}  // namespace
}  // namespace culprit
