#include "attribute/function_words.h"

#include <gtest/gtest.h>

#include "attribute/test_profile.h"

namespace culprit {
namespace {

/// A program with these functions, the first with the most samples. `images`: copies of it, each
/// with fewer.
class Functions {
 public:
  explicit Functions(const std::vector<std::string>& names, size_t images = 1) {
    ProfileBuilder builder;
    Profile& p = builder.profile();
    Event event;
    event.name = builder.intern("cpu-clock");
    event.provenance = Provenance::sampled;
    p.events = {event};
    const ContextId who = builder.intern_context({});
    for (size_t i = 0; i < images; ++i) {
      Image image;
      image.kind = ImageKind::library;
      image.path = builder.intern("/lib/lib" + std::to_string(i) + ".so");
      p.images.push_back(image);
      ImageFacts& facts = test_.facts[ImageId(i)];
      for (size_t k = 0; k < names.size(); ++k) {
        const FileOffset begin(0x100 * (k + 1));
        facts.functions.push_back(
            {begin, FileOffset(0x100 * (k + 1) + 0x80), facts.strings.intern(names[k]), {}, {}, 0});
        builder.add(who, {ImageId(i), begin}, EventId(0u), 100 - 10 * i - k, 100 - 10 * i - k);
      }
    }
    builder.take_counts();
    test_.profile = p;
    lookup_ = test_.lookup();
  }

  std::string words(const std::string& name, size_t room, const std::string& module = "") {
    CodeIndex code(test_.profile, lookup_);
    return make_function_words(code, {name, false, module}, room);
  }

  /// What a command line opens: "name (module)".
  std::string opened(std::string words) {
    WantedFunction wanted;
    const auto take = [&](const std::string& option) {
      const size_t at = words.find(option);
      if (at == std::string::npos) return std::string();
      const std::string value = words.substr(at + option.size());
      words = words.substr(0, at);
      return value;
    };
    if (const std::string copy = take(" --copy "); !copy.empty()) wanted.copy = std::stoul(copy);
    wanted.module = unquoted(take(" --module "));
    wanted.function = unquoted(words);
    CodeIndex code(test_.profile, lookup_);
    const FunctionFinder finder(code);
    const Result<FoundFunction> found = finder.find(wanted);
    return found ? found->name + " (" + code.module(found->image) + ")" : found.error().message;
  }

 private:
  static std::string unquoted(const std::string& word) {
    if (!word.starts_with('\'')) return word;
    std::string text = word.substr(1, word.size() - 2);
    constexpr std::string_view kQuote = "'\\''";  // as shells have it
    for (size_t at = 0; (at = text.find(kQuote, at)) != std::string::npos; ++at) {
      text.replace(at, kQuote.size(), "'");
    }
    return text;
  }

  TestProfile test_;
  FactsLookup lookup_;
};

constexpr const char* kFind =
    "std::_Hashtable<int, std::pair<int const, int>, std::allocator<int> >::_M_find_before_node("
    "unsigned long, int const&, unsigned long) const";

TEST(FunctionWords, IsTheNameWhereThereIsRoom) {
  EXPECT_EQ(Functions({"main"}).words("main", 50), "main");
  EXPECT_EQ(Functions({"a::f(int)"}).words("a::f(int)", 50), "a::f");
  EXPECT_EQ(Functions({"a<int>::f(int)"}).words("a<int>::f(int)", 50), "'a<int>::f'");
}

TEST(FunctionWords, IsTheLastPartOfALongName) {
  EXPECT_EQ(Functions({kFind, "main"}).words(kFind, 50), "'*::_M_find_before_node'");
}

TEST(FunctionWords, TakesMorePartsWhereTheLastIsNotAlone) {
  EXPECT_EQ(Functions({kFind, "other::_M_find_before_node(int)"}).words(kFind, 50),
            "'*::_Hashtable<*>::_M_find_before_node'" + std::string());
  // Without a pattern of its own the name says itself, however long it is.
  const std::string other = "std::_Hashtable<char>::_M_find_before_node()";
  EXPECT_EQ(Functions({kFind, other}).words(kFind, 50),
            "'std::_Hashtable<int, std::pair<int const, int>, std::allocator<int> >::"
            "_M_find_before_node'");
}

// Without being told from the other names a word would open whichever has the most samples.
TEST(FunctionWords, OpenExactlyThatFunction) {
  const std::vector<std::string> names = {"<alloc::vec::Vec<u8> as core::cmp::PartialEq>::eq",
                                          "<core::str::Str as core::cmp::PartialEq<i32> >::eq",
                                          "ns::(anonymous namespace)::run(int)",
                                          "ns::Set<int>::operator[](int)",
                                          "ns::Set<int>::operator<(int)",
                                          "ns::Set<int>::operator()(int) const",
                                          "ns::Set<long>::operator()(int) const",
                                          "ns::f()::{lambda(int)#1}::operator()(int) const",
                                          "ns::it's*odd[1]\\",
                                          "ns::\xc3\xa9t\xc3\xa9",
                                          "ns::tab\there\x1b[2J",
                                          "void ns::put<std::pair<int, int> >(int)",
                                          "ns::A::operator bool()",
                                          "a::b",
                                          "b",
                                          "f(int)",
                                          "f(long)",
                                          "<",
                                          "operator new(unsigned long)"};
  Functions functions(names);
  for (const std::string& name : names) {
    for (const size_t room : {1U, 50U}) {
      const std::string words = functions.words(name, room);
      for (const char c : words) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << name;
      EXPECT_EQ(functions.opened(words), name + " (/lib/lib0.so)") << words;
    }
  }
}

TEST(FunctionWords, NameTheModuleWhereOthersHaveTheName) {
  Functions functions({"grind"}, 3);
  EXPECT_EQ(functions.words("grind", 50, "/lib/lib0.so"), "grind");
  EXPECT_EQ(functions.words("grind", 50, "/lib/lib2.so"), "grind --module lib2.so");
  EXPECT_EQ(functions.opened("grind --module lib2.so"), "grind (/lib/lib2.so)");
}

// Code made at run time has no module to tell copies by.
TEST(FunctionWords, CopiesOfANameAreChosenByNumber) {
  Functions functions({"grind"}, 3);
  EXPECT_EQ(functions.opened("grind --copy 3"), "grind (/lib/lib2.so)");
  EXPECT_EQ(functions.opened("grind --copy 4"),
            "there are 3 functions of that name with samples: --copy takes 1 to 3");
}

}  // namespace
}  // namespace culprit
