#include "binary/demangle.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(Demangle, KnowsCppRustAndD) {
  // c++filt _ZN6shapes5twiceIiEET_S1_
  EXPECT_EQ(demangle("_ZN6shapes5twiceIiEET_S1_"), "int shapes::twice<int>(int)");
  // rustfilt _RNvC6_123foo3bar (RFC 2603's example)
  EXPECT_EQ(demangle("_RNvC6_123foo3bar"), "123foo::bar");
  // c++filt -s dlang gives these with parameters: test.foo(int), std.stdio.File.close(), ...
  EXPECT_EQ(demangle("_D4test3fooFiZv"), "test.foo");
  EXPECT_EQ(demangle("_D3std5stdio4File5closeMFNfZv"), "std.stdio.File.close");
  EXPECT_EQ(demangle("_D3app__T3maxTiZ3maxFiiZi"), "app.max!(...)");
  EXPECT_EQ(demangle("_D3fooQeFZv"), "foo.foo");  // Q: the identifier 4 before
  EXPECT_EQ(demangle("_Dmain"), "D main");
}

TEST(Demangle, KnowsProceduresOfFortranModules) {
  // gfortran -c of: module m; contains; subroutine mm; nm prints the name.
  EXPECT_EQ(demangle("__m_MOD_mm"), "m::mm");
  EXPECT_EQ(demangle("__linear_solver_MOD_solve_2d"), "linear_solver::solve_2d");
  EXPECT_EQ(demangle("_QMmPmm"), "m::mm");  // flang, Bridge: NameUniquer.h
  for (const char* other : {"__MOD_mm", "__m_MOD_", "_QMP", "_QMm", "__libc_MODE", "__M_MOD_x"}) {
    EXPECT_EQ(demangle(other), other);
  }
}

TEST(Demangle, DropsTheHashOfLegacyRustNames) {
  // rustfilt: core::fmt::Write::write_fmt
  EXPECT_EQ(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt");
  // rustfilt: <alloc::vec::Vec<T> as core::ops::drop::Drop>::drop
  EXPECT_EQ(demangle("_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop1"
                     "7h0123456789abcdefE"),
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop");
}

TEST(Demangle, KeepsClonesAndSuffixesApart) {
  EXPECT_EQ(demangle("_Z3foov.cold"), "foo() (.cold)");  // llvm-cxxfilt-19
  EXPECT_EQ(demangle("_Z3foov@plt"), "foo()@plt");
  EXPECT_EQ(demangle("compute.part.0"), "compute.part.0");
}

TEST(Demangle, LeavesAloneWhatIsNotMangled) {
  for (const char* name : {"", "main", "_Z", "_start", "_ZZZZ", "main.main", "_D", "__libc_start"})
    EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, ReadsWhatGcc12Mangles) {
  // c++filt (binutils 2.40) NAME; llvm-cxxfilt-19 does not know it.
  EXPECT_EQ(
      demangle("_ZSt14__relocate_a_1IddENSt9enable_ifIXsrSt24__is_bitwise_relocatableIT_"
               "vE5valueEPS2_E4typeES4_S4_S4_RSaIT0_E"),
      "std::enable_if<std::__is_bitwise_relocatable<double, void>::value, double*>::type "
      "std::__relocate_a_1<double, double>(double*, double*, double*, std::allocator<double>&)");
}

/// f(pair<int, int>, pair<S0, S0>, pair<S1, S1>, ...): each parameter is twice the one before.
std::string make_doubling_name(int doublings, const std::string& tail = "") {
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < doublings; ++i) {
    const std::string one = std::string("S") + digits[static_cast<size_t>(i)] + "_";
    name += "S_I" + one + one + "E";
  }
  return name + tail;
}

TEST(Demangle, DoesNotFollowNamesThatExplode) {
  // c++filt
  EXPECT_EQ(demangle(make_doubling_name(1)),
            "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int>>)");
  // 2^30 times "std::pair<>" and as many ints, if it were written out.
  EXPECT_EQ(demangle(make_doubling_name(30)), make_doubling_name(30));
  // A name that only GCC reads is as long.
  const std::string gcc_only = "S_IXsrSt1aIiE5valueEE";
  EXPECT_EQ(demangle(make_doubling_name(30, gcc_only)), make_doubling_name(30, gcc_only));
  const std::string long_name = "_Z" + std::string(100000, '1');
  EXPECT_EQ(demangle(long_name), long_name);
}

TEST(Demangle, DoesNotFollowRustNamesThatExplode) {
  // b::<(!, !), ((!, !), (!, !)), ...>: the tuple at 8 ("INvC1a1b" is before it), then tuples
  // of two references to the one before: at 8 + 4, and every 8 or so from there.
  // llvm-cxxfilt-19 prints the first; with 24 doublings it prints 470 MB.
  EXPECT_EQ(demangle("_RINvC1a1bTzzETB7_B7_EE"), "a::b::<(!, !), ((!, !), (!, !))>");
  const std::string digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "INvC1a1bTzzE";
  size_t target = 8;
  for (int i = 0; i < 40; ++i) {
    const size_t digit = target - 1;
    std::string one = "B";
    if (digit >= 62) one += digits[digit / 62];
    one += digits[digit % 62];
    one += "_";
    target = name.size();
    name += "T" + one + one + "E";
  }
  name = "_R" + name + "E";
  EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, ReadsRustNamesWithManyReferences) {
  // Forty references to a crate, as in names of real programs; llvm-cxxfilt-19's answer.
  std::string name = "_RINvC3foo3bar";
  std::string expected = "foo::bar::<";
  for (int i = 0; i < 40; ++i) {
    name += "NtB2_3Baz";
    expected += i == 0 ? "foo::Baz" : ", foo::Baz";
  }
  EXPECT_EQ(demangle(name + "E"), expected + ">");
}

TEST(Demangle, ReadsLongNamesOfRealPrograms) {
  // Packs are where the estimate is far above the truth: 60 types, expanded twice.
  std::string name = "_Z1fIJ";
  for (int i = 0; i < 60; ++i) name += "10SomeStructIiE";
  name += "EEvDpRKT_";
  const std::string text = demangle(name);
  EXPECT_TRUE(text.starts_with("void f<SomeStruct<int>, SomeStruct<int>, ")) << text;
  EXPECT_TRUE(text.ends_with("SomeStruct<int> const&, SomeStruct<int> const&)")) << text;
}

}  // namespace
}  // namespace culprit
