#include "simulate/objects/allocators.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace culprit::objects {
namespace {

// The C standard and the man pages malloc(3), posix_memalign(3) say which argument is what.
TEST(Allocators, KnowTheirArguments) {
  EXPECT_EQ(find_allocator("malloc")->size, 0);
  EXPECT_EQ(find_allocator("calloc")->size, 1);
  EXPECT_EQ(find_allocator("calloc")->count, 0);
  EXPECT_EQ(find_allocator("realloc")->block, 0);
  EXPECT_EQ(find_allocator("realloc")->size, 1);
  EXPECT_EQ(find_allocator("aligned_alloc")->size, 1);
  EXPECT_EQ(find_allocator("posix_memalign")->kind, Allocator::Kind::stores_block);
  EXPECT_EQ(find_allocator("posix_memalign")->size, 2);
  EXPECT_EQ(find_allocator("free")->kind, Allocator::Kind::frees);
}

// Names by `c++filt -n`.
TEST(Allocators, KnowOperatorsInAllTheirForms) {
  EXPECT_EQ(find_allocator("_Znwm")->size, 0);                    // operator new(unsigned long)
  EXPECT_EQ(find_allocator("_ZnamSt11align_val_t")->size, 0);     // new[](.., std::align_val_t)
  EXPECT_EQ(find_allocator("_ZnwmRKSt9nothrow_t")->size, 0);      // new(.., std::nothrow_t const&)
  EXPECT_EQ(find_allocator("_ZdlPvmSt11align_val_t")->block, 0);  // delete, sized and aligned
}

TEST(Allocators, KnowThoseOfLibraries) {
  EXPECT_TRUE(find_allocator("je_malloc"));
  EXPECT_TRUE(find_allocator("mi_calloc"));
  EXPECT_TRUE(find_allocator("tc_free"));
}

TEST(Allocators, AreNotWhatOnlySoundsLikeThem) {
  for (const char* name :
       {"", "my_malloc", "malloc_trim", "mallopt", "freeaddrinfo", "je_", "_Z"}) {
    EXPECT_FALSE(find_allocator(name)) << name;
  }
}

TEST(Allocators, OfAProgramsOwnAreWrittenWithTheirArguments) {
  using Kind = Allocator::Kind;
  constexpr uint8_t kNone = Allocator::kNone;
  EXPECT_EQ(parse_allocator("pool_get")->symbol, "pool_get");
  EXPECT_EQ(parse_allocator("pool_get")->what, (Allocator{Kind::allocates, 0, kNone, kNone}));
  EXPECT_EQ(parse_allocator("get:2")->what, (Allocator{Kind::allocates, 1, kNone, kNone}));
  EXPECT_EQ(parse_allocator("new:1*3")->what, (Allocator{Kind::allocates, 0, 2, kNone}));
  EXPECT_EQ(parse_allocator("put:frees")->what, (Allocator{Kind::frees, kNone, kNone, 0}));
  EXPECT_EQ(parse_allocator("put:frees:2")->what, (Allocator{Kind::frees, kNone, kNone, 1}));
  for (const char* text : {"", ":1", "a:", "a:0", "a:7", "a:1*", "a:freeing", "a:frees:", "a\nb"}) {
    const Result<OwnAllocator> one = parse_allocator(text);
    ASSERT_FALSE(one) << text;
    EXPECT_NE(one.error().message.find("is no allocator"), std::string::npos);
  }
}

TEST(Allocators, OfAProgramsOwnComeBackFromTheirFile) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = allocators_file_path(folder->path());
  EXPECT_TRUE(read_allocators_file(path)->empty());
  ASSERT_TRUE(write_allocators_file(path, {"pool_get:2", "pool_put:frees"}));
  const Result<std::vector<OwnAllocator>> read = read_allocators_file(path);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0], *parse_allocator("pool_get:2"));
  EXPECT_EQ((*read)[1], *parse_allocator("pool_put:frees"));
}

}  // namespace
}  // namespace culprit::objects
