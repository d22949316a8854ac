#include "toml/toml_section.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

/// What is wrong with `text` after `read` has read it; "" if nothing is.
template <class Read>
std::string mistake_in(const std::string& text, const Read& read) {
  TomlFile file = parse_toml(text, "f.toml");
  TomlSection root(file);
  read(root);
  return file.mistake ? file.mistake->error().message : "";
}

TEST(TomlSection, ListsOfSectionsKeepTheirOrderAndLines) {
  TomlFile file = parse_toml("x = 1\n[[row]]\nn = 7\n\n[[row]]\nn = 8\n", "f.toml");
  TomlSection root(file);
  std::vector<uint64_t> numbers;
  std::vector<uint32_t> lines;
  for (TomlSection& row : root.sections("row")) {
    uint64_t n = 0;
    row.integer("n", n, 0, 10);
    numbers.push_back(n);
    lines.push_back(row.line());
    EXPECT_EQ(row.line("n"), row.line() + 1);
  }
  EXPECT_EQ(numbers, (std::vector<uint64_t>{7, 8}));
  EXPECT_EQ(lines, (std::vector<uint32_t>{2, 5}));
  EXPECT_FALSE(file.mistake);
}

TEST(TomlSection, ListsOfTextsAndNumbersAreOfOneKind) {
  std::vector<std::string> words;
  std::vector<double> numbers;
  const auto read = [&](TomlSection& root) {
    root.texts("words", words);
    root.numbers("numbers", numbers, 0, 10);
  };
  EXPECT_EQ(mistake_in("words = [\"a\", \"b\"]\nnumbers = [1, 0.5]\n", read), "");
  EXPECT_EQ(words, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(numbers, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(mistake_in("\nwords = [\"a\", 2]\n", read),
            "f.toml, line 2: words is a list of texts, [\"...\"]");
  EXPECT_EQ(mistake_in("words = \"a\"\n", read),
            "f.toml, line 1: words is a list of texts, [\"...\"]");
  EXPECT_EQ(mistake_in("numbers = [1, 11]\n", read),
            "f.toml, line 1: numbers is a list of numbers from 0 to 10");
  EXPECT_EQ(mistake_in("numbers = 1\n", read),
            "f.toml, line 1: numbers is a list of numbers from 0 to 10");
}

TEST(TomlSection, WhatIsNeededMustBeThereAndSaySomething) {
  const auto read = [](TomlSection& root) {
    std::string name;
    TomlSection section = root.section("s");
    section.text("name", name);
    section.needs({"name"});
    section.end();
    root.end();
  };
  EXPECT_EQ(mistake_in("[s]\nname = \"x\"\n", read), "");
  EXPECT_EQ(mistake_in("", read), "");  // no section: nothing is needed in it
  EXPECT_EQ(mistake_in("\n\n[s]\n", read), "f.toml, line 3: there is no s.name here");
  EXPECT_EQ(mistake_in("[s]\nname = \" \"\n", read), "f.toml, line 2: s.name is empty");
  EXPECT_EQ(mistake_in("[[s]]\n", read), "f.toml, line 1: s is a section");
  EXPECT_EQ(mistake_in("[s]\nname = \"x\"\nnmae = 1\n", read),
            "f.toml, line 3: there is no key s.nmae here; there are name");
}

TEST(TomlSection, OnlyTheFirstMistakeIsKept) {
  const auto read = [](TomlSection& root) {
    bool value = false;
    root.boolean("a", value);
    root.boolean("b", value);
  };
  EXPECT_EQ(mistake_in("a = 1\nb = 2\n", read), "f.toml, line 1: a is true or false");
}

TEST(TomlFile, WhatIsNoTomlIsAMistakeAndNoCrash) {
  for (const std::string& text : {std::string("[[["), std::string("a = "), std::string(100000, '['),
                                  std::string("a = ") + std::string(100000, '['),
                                  std::string("\0", 1), std::string("a\xff")}) {
    const TomlFile file = parse_toml(text, "f.toml");
    EXPECT_TRUE(file.mistake);
    ASSERT_NE(file.root.table(), nullptr);  // an empty file: it can be read to its end
  }
  // Deeper than anything that is read, and than a stack should have to follow.
  const TomlFile deep = parse_toml("a = " + std::string(200, '[') + std::string(200, ']'), "f");
  EXPECT_FALSE(deep.mistake);
}

}  // namespace
}  // namespace culprit
