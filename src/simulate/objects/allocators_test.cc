#include "simulate/objects/allocators.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace culprit::objects
