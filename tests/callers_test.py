"""why: who calls the functions of libraries that cycles go to, against calls counted by hand."""
from why_test import WhyTest
from harness import run

COPIES = r"""
#include <cstdio>
#include <cstring>
#include <vector>
static char from[32 << 20], to[4096];
__attribute__((noinline)) void pack(unsigned at, unsigned n) {
  memcpy(to, from + at, n);
}
__attribute__((noinline)) void unpack(unsigned at, unsigned n) {
  memcpy(from + at, to, n);
}
struct Node { Node* next; int value; };
__attribute__((noinline)) Node* build(Node* head, int value) {
  return new Node{head, value};
}
int main(int argc, char** argv) {
  unsigned x = argc;
  volatile bool allocates = argv[1][0] == 'a';
  Node* list = nullptr;
  for (int i = 0; i < 20000; ++i) {
    x = x * 1664525 + 1013904223;
    const unsigned at = (x >> 7) % (31u << 20), n = 300 + (x >> 20) % 1024;
    if (allocates) list = build(list, i);
    else if (i % 5) pack(at, n);
    else unpack(at, n);
  }
  std::printf("%d %p\n", to[5], (void*)list);
}
"""


class Callers(WhyTest):
    def advice(self, what):
        """Of functions of libraries."""
        source = self.folder / "copies.cc"
        source.write_text(COPIES)
        program = self.folder / "copies"
        run("g++", "-O1", "-g", source, "-o", program)
        profile = self.folder / "copies.culprit"
        self.culprit("record", "--engine", "simulate", "-o", profile, "--", program, what)
        text = self.culprit("why", profile).stdout
        return [one for one in self.why(profile)["advice"] if one["callers"]], text

    def test_four_of_five_copies(self):
        advice, text = self.advice("copies")
        copies = next(one for one in advice if "mem" in one["function"])
        pack, unpack = copies["callers"]
        self.assertTrue(pack["function"].startswith("pack("), pack)
        self.assertTrue(unpack["function"].startswith("unpack("), unpack)
        self.assertEqual(("copies.cc:7", "copies.cc:10"), (pack["line"], unpack["line"]))
        # The C library's own start copies a few times, too.
        self.assertAlmostEqual(0.8, pack["share"], 2)
        self.assertAlmostEqual(0.2, unpack["share"], 2)
        self.assertIn("Called by pack copies.cc:7 (80 % of its calls)", " ".join(text.split()))

    def test_through_libraries(self):
        advice, _ = self.advice("allocate")
        malloc = next(one for one in advice if "malloc" in one["function"])
        # build calls operator new of libstdc++, that calls malloc.
        self.assertTrue(malloc["callers"][0]["function"].startswith("build("), malloc)
        self.assertEqual("copies.cc:14", malloc["callers"][0]["line"])
        self.assertGreater(malloc["callers"][0]["share"], 0.95)
