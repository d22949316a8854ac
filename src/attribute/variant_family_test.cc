#include "attribute/variant_family.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// Names: nm -D and the debug symbols of Debian's libc6 2.36, GCC 12's target_clones.
TEST(VariantFamily, IsWhatTheNameSays) {
  EXPECT_EQ(find_variant_family("__memmove_avx512_unaligned_erms"), "memmove");
  EXPECT_EQ(find_variant_family("__memcpy_avx_unaligned_erms_rtm"), "memmove");
  EXPECT_EQ(find_variant_family("__memmove_sse2_unaligned_erms"), "memmove");
  EXPECT_EQ(find_variant_family("__mempcpy_evex_unaligned"), "mempcpy");
  EXPECT_EQ(find_variant_family("__memset_avx512_no_vzeroupper"), "memset");
  EXPECT_EQ(find_variant_family("__memcmp_avx2_movbe"), "memcmp");
  EXPECT_EQ(find_variant_family("__strlen_evex"), "strlen");
  EXPECT_EQ(find_variant_family("__strspn_sse42"), "strspn");
  EXPECT_EQ(find_variant_family("__strcasecmp_l_sse4_2"), "strcasecmp_l");
  EXPECT_EQ(find_variant_family("__ieee754_exp_fma"), "ieee754_exp");
  EXPECT_EQ(find_variant_family("__memcpy_generic"), "memmove");
  EXPECT_EQ(find_variant_family("dot.avx2.0"), "dot");
  EXPECT_EQ(find_variant_family("dot.default.2"), "dot");
  EXPECT_EQ(find_variant_family("dot(float const*) [clone .arch_x86_64_v3.1]"),
            "dot(float const*)");
}

TEST(VariantFamily, IsNoneWithoutAWordForInstructions) {
  EXPECT_EQ(find_variant_family("main"), "");
  EXPECT_EQ(find_variant_family("memcpy"), "");
  EXPECT_EQ(find_variant_family("sum_no_2"), "");
  EXPECT_EQ(find_variant_family("work.part.0"), "");
  EXPECT_EQ(find_variant_family("avx2"), "");
  EXPECT_EQ(find_variant_family("_avx2"), "");
  EXPECT_EQ(find_variant_family(""), "");
  EXPECT_EQ(find_variant_family("___"), "");
}

TEST(VariantFamily, FindsVariantsByTheNameThatACallerWrites) {
  EXPECT_TRUE(is_variant_of("__strlen_evex", "strlen"));
  EXPECT_TRUE(is_variant_of("__memcpy_avx_unaligned_erms", "memcpy"));
  EXPECT_TRUE(is_variant_of("__memcpy_avx_unaligned_erms", "memmove"));
  EXPECT_TRUE(is_variant_of("__memmove_avx512_unaligned_erms", "memcpy"));
  EXPECT_TRUE(is_variant_of("dot.avx2.0", "dot"));
  EXPECT_FALSE(is_variant_of("__strlen_evex", "strnlen"));
  EXPECT_FALSE(is_variant_of("encode_v2", "encode"));  // a function of its own
  EXPECT_FALSE(is_variant_of("dot", "dot"));
  EXPECT_FALSE(is_variant_of("__strlen_evex", ""));
}

}  // namespace
}  // namespace culprit
