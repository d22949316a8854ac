#include "report/variants.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

// Names: nm -D and the debug symbols of Debian's libc6 2.36, GCC 12's target_clones.
TEST(Variants, HaveTheFamilyOfTheirName) {
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

TEST(Variants, AreNoneWithoutAWordForInstructions) {
  EXPECT_EQ(find_variant_family("main"), "");
  EXPECT_EQ(find_variant_family("memcpy"), "");
  EXPECT_EQ(find_variant_family("sum_no_2"), "");
  EXPECT_EQ(find_variant_family("work.part.0"), "");
  EXPECT_EQ(find_variant_family("avx2"), "");
  EXPECT_EQ(find_variant_family("_avx2"), "");
  EXPECT_EQ(find_variant_family(""), "");
  EXPECT_EQ(find_variant_family("___"), "");
}

ReportRow row(const char* module, const char* function, uint64_t samples, double instructions) {
  ReportRow made;
  made.module = module;
  made.function = function;
  made.values.resize(2);
  made.values[0].samples = samples;
  made.values[1].value = instructions;
  return made;
}

TEST(Variants, AreJoinedWhereEachRunChoseAnother) {
  const std::vector<ReportRow> rows = {
      row("libc.so.6", "__memmove_avx512_unaligned_erms", 300, 0),
      row("a.out", "main", 100, 1e6),
      row("libc.so.6", "__memcpy_avx_unaligned_erms", 0, 5e6),
      row("libc.so.6", "__strlen_evex", 40, 0),       // nobody executed another
      row("libc.so.6", "__memset_avx2", 20, 1e5),     // both chose the same
      row("a.out", "__memmove_avx_unaligned", 0, 7),  // of another module
  };
  std::vector<const ReportRow*> all;
  for (const ReportRow& one : rows) all.push_back(&one);
  const std::vector<VariantRows> joined = join_variants(all, 0, 1);
  ASSERT_EQ(joined.size(), 5u);
  EXPECT_EQ(joined[0].family, "memmove");
  EXPECT_EQ(joined[0].rows, (std::vector<const ReportRow*>{&rows[0], &rows[2]}));
  for (size_t i = 1; i < joined.size(); ++i) {
    EXPECT_EQ(joined[i].family, "");
    EXPECT_EQ(joined[i].rows.size(), 1u);
  }
}

}  // namespace
}  // namespace culprit
