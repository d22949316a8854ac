"""record --regions of programs that mark regions by other tools' interfaces, without our header
and without being linked again.

Where a library is not here, a few lines do what its own would do towards a tool: load it by the
environment's word, ask for its functions, call them.
"""
import json
import os
import unittest

from harness import CulpritTest, run

# Intel's ITT: the static part of ittnotify, as programs link it.
ITT = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { unsigned long long d[3]; } id;
typedef struct domain { volatile int flags; const char* name; void* w; int e; void* x; struct domain* next; } domain;
typedef struct string { const char* text; void* w; int e; void* x; struct string* next; } string;
static void init_begin(const domain* d, id t, id p, string* n) { (void)d; (void)t; (void)p; (void)n; }
static void init_end(const domain* d) { (void)d; }
static void init_frame(const domain* d, id* i) { (void)d; (void)i; }
static void init_sync(void* a) { (void)a; }
static void (*task_begin)(const domain*, id, id, string*) = init_begin;
static void (*task_end)(const domain*) = init_end;
static void (*frame_begin)(const domain*, id*) = init_frame;
static void (*frame_end)(const domain*, id*) = init_frame;
static void (*sync_create)(void*) = init_sync;
static struct { const char* name; void** pointer; void* init; void* null; int group; } list[] = {
    {"__itt_sync_create", (void**)&sync_create, init_sync, 0, 1},
    {"__itt_task_begin", (void**)&task_begin, init_begin, 0, 1},
    {"__itt_task_end", (void**)&task_end, init_end, 0, 1},
    {"__itt_frame_begin_v3", (void**)&frame_begin, init_frame, 0, 1},
    {"__itt_frame_end_v3", (void**)&frame_end, init_frame, 0, 1},
    {0, 0, 0, 0, 0}};
static struct {
  unsigned char magic[8]; unsigned long version[3]; volatile long state[3]; pthread_mutex_t mutex;
  void* lib; void* handler; const char** path; void* list; void* rest[8];
} global = {.list = list};
int main(void) {
  const char* name = getenv("INTEL_LIBITTNOTIFY64");
  void* lib = name == NULL ? NULL : dlopen(name, RTLD_LAZY);
  void (*init)(void*, int) = lib == NULL ? NULL : (void (*)(void*, int))dlsym(lib, "__itt_api_init");
  if (init != NULL) init(&global, 0xffff);
  domain d = {1, "frames", 0, 0, 0, 0};
  string solve = {"solve", 0, 0, 0, 0}, inner = {"inner", 0, 0, 0, 0};
  id none = {{0}};
  sync_create(&d);
  for (int i = 0; i < 3; ++i) {
    frame_begin(&d, NULL);
    task_begin(&d, none, none, &solve);
    for (int j = 0; j < 2; ++j) { task_begin(&d, none, none, &inner); task_end(&d); }
    task_end(&d);
    frame_end(&d, NULL);
  }
  return !puts("done");
}"""

# NVIDIA's NVTX 3, whose headers load an injected library at the first call.
NVTX = r"""
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { uint16_t version, size; uint32_t category; int32_t color_type; uint32_t color;
  int32_t payload_type, reserved; uint64_t payload; int32_t message_type; const void* message; } attributes;
static int (*push_ex)(const attributes*); static int (*push)(const char*); static int (*pop)(void);
static int (*domain_push)(void*, const attributes*); static int (*domain_pop)(void*);
static void* (*register_string)(void*, const char*); static void* (*create)(const char*);
static void** core[17] = {[8] = (void**)&push_ex, [9] = (void**)&push, [11] = (void**)&pop};
static void** core2[16] = {[4] = (void**)&domain_push, [5] = (void**)&domain_pop,
                           [10] = (void**)&register_string, [12] = (void**)&create};
static int module(int which, void**** table, unsigned* count) {
  *table = which == 1 ? core : which == 5 ? core2 : NULL;
  *count = which == 1 ? 17 : 16;
  return *table != NULL;
}
static struct { size_t size; int (*get)(int, void****, unsigned*); } callbacks = {sizeof callbacks, module};
static const void* table(uint32_t which) { return which == 1 ? &callbacks : NULL; }
int main(void) {
  const char* name = getenv("NVTX_INJECTION64_PATH");
  void* lib = name == NULL ? NULL : dlopen(name, RTLD_LAZY);
  int (*init)(const void* (*)(uint32_t)) = lib == NULL ? NULL : (int (*)(const void* (*)(uint32_t)))dlsym(lib, "InitializeInjectionNvtx2");
  if (init == NULL || !init(table)) return !puts("done");
  for (int i = 0; i < 4; ++i) { push("step"); push("part"); pop(); pop(); }
  void* domain = create("mine");
  attributes of = {.version = 3, .size = sizeof of, .message_type = 3, .message = register_string(domain, "named")};
  for (int i = 0; i < 2; ++i) { domain_push(domain, &of); domain_pop(domain); }
  attributes plain = {.version = 3, .size = sizeof plain, .message_type = 1, .message = "plain"};
  push_ex(&plain);
  pop();
  return !puts("done");
}"""

# Kokkos' core, which loads tools by name.
KOKKOS = r"""
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const char* name = getenv("KOKKOS_TOOLS_LIBS");
  void* lib = name == NULL ? NULL : dlopen(name, RTLD_NOW);
  if (lib == NULL) return !puts("done");
  void (*begin)(const char*, uint32_t, uint64_t*) = (void (*)(const char*, uint32_t, uint64_t*))dlsym(lib, "kokkosp_begin_parallel_for");
  void (*end)(uint64_t) = (void (*)(uint64_t))dlsym(lib, "kokkosp_end_parallel_for");
  void (*push)(const char*) = (void (*)(const char*))dlsym(lib, "kokkosp_push_profile_region");
  void (*pop)(void) = (void (*)(void))dlsym(lib, "kokkosp_pop_profile_region");
  push("phase");
  for (int i = 0; i < 5; ++i) { uint64_t kernel; begin("axpy", 0, &kernel); end(kernel); }
  pop();
  return !puts("done");
}"""

# What programs of Caliper, PAPI's high level and Score-P call, in shared libraries.
LIBRARY = r"""
#include <stdint.h>
static int calls;
int other_calls(void) { return calls; }
void cali_begin_region(const char* name) { (void)name; ++calls; }
void cali_end_region(const char* name) { (void)name; ++calls; }
int PAPI_hl_region_begin(const char* name) { (void)name; ++calls; return 7; }
int PAPI_hl_region_end(const char* name) { (void)name; ++calls; return 7; }
void SCOREP_User_RegionBegin(void** h, const char** f, void** l, const char* name, uint32_t t, const char* file, uint32_t line) { (void)h; (void)f; (void)l; (void)name; (void)t; (void)file; (void)line; ++calls; }
void SCOREP_User_RegionEnd(void* h) { (void)h; ++calls; }
"""
CALLER = r"""
#include <stdint.h>
#include <stdio.h>
int other_calls(void);
void cali_begin_region(const char*); void cali_end_region(const char*);
int PAPI_hl_region_begin(const char*); int PAPI_hl_region_end(const char*);
void SCOREP_User_RegionBegin(void**, const char**, void**, const char*, uint32_t, const char*, uint32_t);
void SCOREP_User_RegionEnd(void*);
int main(void) {
  void* handle = 0; const char* file = 0; void* last = 0;
  for (int i = 0; i < 3; ++i) { cali_begin_region("caliper"); cali_end_region("caliper"); }
  int sum = PAPI_hl_region_begin("papi"); sum += PAPI_hl_region_end("papi");
  SCOREP_User_RegionBegin(&handle, &file, &last, "scorep", 0, __FILE__, __LINE__);
  SCOREP_User_RegionEnd(handle);
  return !printf("%d %d\n", sum, other_calls());
}"""

BENCHMARK = r"""
#include <benchmark/benchmark.h>
static void sum_up(benchmark::State& state) {
  for (auto _ : state) { int sum = 0; benchmark::DoNotOptimize(sum += 1); }
}
BENCHMARK(sum_up)->Iterations(1000);
static void multiply(benchmark::State& state) {
  for (auto _ : state) { int product = 1; benchmark::DoNotOptimize(product *= 3); }
}
BENCHMARK(multiply)->Iterations(500);
BENCHMARK_MAIN();
"""


class Marks(CulpritTest):
    def marks(self, program, *arguments, output="done\n", **options):
        """{name: executions} of marked regions, by the report."""
        profile, done = self.record("--regions", "--", program, *arguments, **options)
        if output is not None:
            self.assertEqual(done.stdout, output)
        report = json.loads(self.culprit("regions", profile, "--format", "json").stdout)
        for key in ("regions_open", "regions_dropped", "regions_unmatched"):
            self.assertNotIn(key, report["ledger"])
        return {one["name"] or one["function"]: one["sum"]["executions"]
                for one in report["constructs"] if one["kind"] == "user"}

    def test_itt(self):
        program = self.compile_text(ITT, "itt.c", "itt", "-O1", "-g", "-w")
        self.assertEqual(self.marks(program), {"frames": 3, "solve": 3, "inner": 6})

    def test_a_tool_of_the_users_own_stays(self):
        program = self.compile_text(ITT, "itt.c", "itt", "-O1", "-g", "-w")
        profile, done = self.record("--regions", "--", program,
                                    env={**os.environ, "INTEL_LIBITTNOTIFY64": "none.so"})
        self.assertEqual(done.stdout, "done\n")
        self.assertIn("no OpenMP construct", done.stderr)

    def test_nvtx(self):
        program = self.compile_text(NVTX, "nvtx.c", "nvtx", "-O1", "-g", "-w")
        self.assertEqual(self.marks(program), {"step": 4, "part": 4, "named": 2, "plain": 1})

    def test_kokkos(self):
        program = self.compile_text(KOKKOS, "kokkos.c", "kokkos", "-O1", "-g", "-w")
        self.assertEqual(self.marks(program), {"phase": 1, "axpy": 5})

    def test_caliper_papi_and_scorep(self):
        self.compile_text(LIBRARY, "library.c", "libmarks.so", "-O1", "-shared", "-fPIC")
        program = self.compile_text(CALLER, "caller.c", "caller", "-O1", "-g",
                                    "-Wl,--no-as-needed", self.folder / "libmarks.so",
                                    f"-Wl,-rpath,{self.folder}")
        # The calls go on to the libraries: 14 is their results, 10 how often they were called.
        self.assertEqual(self.marks(program, output="14 10\n"),
                         {"caliper": 3, "papi": 1, "scorep": 1})

    def test_google_benchmark(self):
        self.need("g++")
        try:
            program = self.benchmark()
        except AssertionError as error:
            if "benchmark.h" in str(error):
                self.skipTest("no libbenchmark-dev here")
            raise
        found = self.marks(program, output=None)
        self.assertEqual(len(found), 2, found)
        self.assertEqual(set(found.values()), {1})
        self.assertTrue(any("sum_up" in name for name in found), found)
        self.assertTrue(any("multiply" in name for name in found), found)

    def benchmark(self):
        path = self.folder / "bench.cc"
        path.write_text(BENCHMARK)
        run("g++", "-O2", "-g", path, "-o", self.folder / "bench", "-lbenchmark", "-lpthread",
            cwd=self.folder)
        return self.folder / "bench"

    def test_marks_of_llvms_own_runtime_are_not_told_twice(self):
        self.need("clang-19")
        text = r"""
#include <stdio.h>
int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
  }
  return !puts("done");
}"""
        try:
            program = self.compile_text(text, "team.c", "team", "-O1", "-g", "-fopenmp",
                                        compiler="clang-19")
        except AssertionError as error:
            if "lomp" in str(error):
                self.skipTest("no libomp-19-dev here")
            raise
        self.assertEqual(self.marks(program), {})


if __name__ == "__main__":
    unittest.main()
