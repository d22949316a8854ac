#include "report/variants.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

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
