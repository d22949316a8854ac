#include "attribute/code_index.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

Image image(Profile& profile, ImageKind kind, std::string_view path) {
  Image row;
  row.kind = kind;
  row.path = profile.strings.intern(path);
  return row;
}

TEST(CodeIndex, NamesModules) {
  Profile profile;
  profile.images = {image(profile, ImageKind::program, "/bin/prog"),
                    image(profile, ImageKind::kernel, "[kernel]"),
                    image(profile, ImageKind::vdso, "[vdso]"),
                    image(profile, ImageKind::jit, "[jit] loop"),
                    image(profile, ImageKind::unknown, kAnonymousPath),
                    image(profile, ImageKind::unknown, "[unknown]"),
                    image(profile, ImageKind::program, "")};
  const FactsLookup no_facts = [](ImageId) { return nullptr; };
  CodeIndex index(profile, no_facts);
  const char* const expected[] = {"/bin/prog",   "[kernel]",  "[vdso]",   "[jit]",
                                  "[anonymous]", "[unknown]", "[unknown]"};
  for (size_t i = 0; i < profile.images.size(); ++i) {
    EXPECT_EQ(index.module(ImageId(i)), expected[i]);
  }
  EXPECT_EQ(index.module(ImageId(99u)), "[unknown]");  // of no image
  EXPECT_EQ(index.unnamed({ImageId(4u), FileOffset(0x1234)}), "[anonymous]");
}

}  // namespace
}  // namespace culprit
