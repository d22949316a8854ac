#include "binary/source_statement.h"

#include <gtest/gtest.h>

namespace culprit {
namespace {

TEST(SourceStatement, WhatItAssignsTo) {
  EXPECT_EQ(find_assigned("  K[i] = (double*)malloc(9 * sizeof(double));"), "K[i]");
  EXPECT_EQ(find_assigned("double* row = malloc(24);"), "row");
  EXPECT_EQ(find_assigned("for (int i = 0; i < n; ++i) rows[i] = malloc(24);"), "rows[i]");
  EXPECT_EQ(find_assigned("for (x = f(); x; x = g(x)) for (;;) a = h(x);"), "a");
  EXPECT_EQ(find_assigned("M = make(), C = make();"), "");
  EXPECT_EQ(find_assigned("for (int i = 0"), "");
  EXPECT_EQ(find_assigned("for x = 1;"), "x");
  EXPECT_EQ(find_assigned("  node->next[k] = make(a == b);"), "node->next[k]");
  EXPECT_EQ(find_assigned("auto x = std::make_unique<int[]>(5);"), "x");
  EXPECT_EQ(find_assigned("return malloc(24);"), "");
  EXPECT_EQ(find_assigned("if (a <= b) f(c != d);"), "");
  EXPECT_EQ(find_assigned("*p = 5;"), "p");
  EXPECT_EQ(find_assigned("  particles.items.resize(40000);"), "particles.items");
  EXPECT_EQ(find_assigned("for (int i = 0; i < n; ++i) world->rows[i].push_back(f(i));"),
            "world->rows[i]");
  EXPECT_EQ(find_assigned("a.push_back(1), b.push_back(2);"), "");
  EXPECT_EQ(find_assigned("resize(5);"), "");
  EXPECT_EQ(find_assigned("std::vector<Row> rows(n);"), "rows");
  EXPECT_EQ(find_assigned("const std::map<int, std::vector<long>> table{pairs};"), "table");
  EXPECT_EQ(find_assigned("return std::vector<int>(5);"), "");
  EXPECT_EQ(find_assigned("std::vector<Row> rows;"), "");
  EXPECT_EQ(find_assigned("] = 5;"), "");
  EXPECT_EQ(find_assigned(""), "");
  EXPECT_EQ(find_assigned("="), "");
}

TEST(SourceStatement, WhatEachOfSeveralAssignsTo) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(find_all_assigned("  std::vector<int> hits(4), misses{4};"), (Names{"hits", "misses"}));
  EXPECT_EQ(find_all_assigned("std::map<int, long> a(f(1, 2)), b(3), c;"), (Names{"a", "b"}));
  EXPECT_EQ(find_all_assigned("long* a = malloc(n * 8), *b = malloc(n * 8);"), (Names{"a", "b"}));
  EXPECT_EQ(find_all_assigned("a = new int[4]; b->c[i] = new int[4]; n = 4;  // (all), rows"),
            (Names{"a", "b->c[i]"}));
  EXPECT_EQ(find_all_assigned("std::vector<int> dummy(4); dummy[1] = n;"), (Names{"dummy"}));
  EXPECT_EQ(find_all_assigned("for (int i = 0, j = f(); i < n; ++i) rows[i] = make(i, j);"),
            (Names{"rows[i]"}));
  EXPECT_EQ(find_all_assigned("a.reserve(4); b.reserve(4);"), (Names{"a", "b"}));
  EXPECT_EQ(find_all_assigned("p = malloc(4); use(p);"), Names{});
  EXPECT_EQ(find_all_assigned("auto p = std::make_unique<std::pair<int, int>>(5);"), Names{});
  EXPECT_EQ(find_all_assigned(")("), Names{});
  EXPECT_EQ(find_all_assigned(""), Names{});
}

TEST(SourceStatement, WhatFortranAllocates) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(find_allocated_names("  allocate(a(n,n), x(n), y(n))"), (Names{"a", "x", "y"}));
  EXPECT_EQ(find_allocated_names("ALLOCATE (grid%x(0:n+1), stat = ios, errmsg=text)"),
            (Names{"grid%x"}));
  EXPECT_EQ(find_allocated_names("if (big) allocate( real(8) :: work(2 * size(a, 1)) ) ! once"),
            (Names{"work"}));
  EXPECT_EQ(find_allocated_names("allocate(node)"), (Names{"node"}));
  EXPECT_EQ(find_allocated_names("allocate(b, source=a(1:3))"), (Names{"b"}));
  EXPECT_EQ(find_allocated_names("deallocate(a)"), Names{});
  EXPECT_EQ(find_allocated_names("p = malloc(9);"), Names{});
  EXPECT_EQ(find_allocated_names("allocate(a(n), &"), (Names{"a"}));
  EXPECT_EQ(find_allocated_names("allocate("), Names{});
}

TEST(SourceStatement, WhichTypeItAllocates) {
  EXPECT_EQ(find_allocated_type("  node = (struct node *)malloc(sizeof(struct node));"), "node");
  EXPECT_EQ(find_allocated_type("  Cell* cells = (Cell*) calloc(n, sizeof(Cell));"), "Cell");
  EXPECT_EQ(find_allocated_type("K = (double ***) malloc(n * sizeof(double **));"), "");
  EXPECT_EQ(find_allocated_type("  K[i] = (double**)malloc(9);"), "");
  EXPECT_EQ(find_allocated_type("auto* t = new shop::Tree(3);"), "shop::Tree");
  EXPECT_EQ(find_allocated_type("x = new std::pair<int, long>[9];"), "std::pair<int, long>");
  EXPECT_EQ(find_allocated_type("tree = std::make_unique<Tree>();"), "Tree");
  EXPECT_EQ(find_allocated_type("p = make_shared<std::vector<int>>(4);"), "std::vector<int>");
  EXPECT_EQ(find_allocated_type("p = (void *)malloc(9);"), "");
  EXPECT_EQ(find_allocated_type("renew (x);"), "");
  EXPECT_EQ(find_allocated_type("("), "");
  EXPECT_EQ(find_allocated_type("new "), "");
  EXPECT_EQ(find_allocated_type(""), "");
}

}  // namespace
}  // namespace culprit
