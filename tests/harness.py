"""Whole-program tests: what they share, and how CTest runs them.

    harness.py --list FILE_test.py           the names of its tests, for CMake; "NAME alone" of
                                             those that nothing may run beside
    harness.py FILE_test.py Class.method     runs one; status 77: skipped, with the reason

CULPRIT_BUILD names the build folder whose culprit is tested, CULPRIT_TEST_QEMU a folder with the
QEMU to test with, if not the installed one (scripts/test_qemu.sh).
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("CULPRIT_BUILD", SOURCE / "build/dev"))
CULPRIT = BUILD / "culprit"
PROGRAMS = SOURCE / "tests/programs"
SKIPPED = 77
MEASURE = """import resource, subprocess, sys
status = subprocess.call(["timeout", "--signal=KILL", *sys.argv[2:]])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open(sys.argv[1], "w"))
sys.exit(status)"""
NOBODY = 65534
SYSTEM_PATH = ":".join(filter(None, [os.environ.get("CULPRIT_TEST_QEMU"), "/usr/bin:/bin"]))
if "CULPRIT_TEST_QEMU" in os.environ:
    os.environ["PATH"] = os.environ["CULPRIT_TEST_QEMU"] + ":" + os.environ["PATH"]


def run(*command, status=0, **options):
    """Runs a command; its text output. `status` None: any exit status."""
    options.setdefault("timeout", 120)
    done = subprocess.run([str(word) for word in command], text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{command} ended with {done.returncode}, not {status}:\n"
                             f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done


def have(program):
    return shutil.which(program) is not None


def build_small(folder, *settings):
    """The culprit of a small build in `folder`; the settings are CMake's. A room is compiled
    as one file, which takes less time."""
    run("cmake", "-G", "Ninja", "-S", SOURCE, "-B", folder, "-DCULPRIT_SMALL=ON",
        "-DCULPRIT_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0",
        *settings)
    run("cmake", "--build", folder, "--target", "culprit", timeout=850)
    return folder / "culprit"


def runs_alone(reason):
    """Marks a test, or all of a class, that nothing may run beside: it measures time, or how
    programs share it. The reason is for whoever reads it: CI waits for each of these."""
    assert reason

    def mark(test):
        test.runs_alone = True
        return test
    return mark


def is_sanitized():
    """Whether the tested build has the sanitizers in it, which cost time and memory."""
    return "asan" in BUILD.name


class CulpritTest(unittest.TestCase):
    """A test with a folder of its own, in which everything runs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="culprit-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)   # tests as another user look inside

    def culprit(self, *arguments, **options):
        options.setdefault("cwd", self.folder)
        program = self.culprit_for_anybody() if "user" in options else CULPRIT
        return run(program, *arguments, **options)

    def culprit_measured(self, *arguments, seconds=60, **options):
        """Runs it, for at most so long; (what became of it, its peak resident bytes)."""
        options.setdefault("cwd", self.folder)
        peak = self.folder / "peak-kB"
        # A child of a large process counts its memory as its own: a small one starts it.
        done = run(sys.executable, "-c", MEASURE, peak, seconds, CULPRIT, *arguments,
                   status=None, timeout=seconds + 60, **options)
        return done, int(peak.read_text()) * 1024

    def culprit_for_anybody(self):
        """A copy that other users can run: the build folder may be closed to them."""
        tools = self.folder / "tools/bin"
        if not tools.exists():
            tools.mkdir(mode=0o755, parents=True)
            for name in ("culprit", "libculprit_timer.so"):
                shutil.copy(BUILD / name, tools / name)
            shutil.copytree(SOURCE / "data", tools.parent / "share/culprit")
        return tools / "culprit"

    def need(self, *programs):
        for program in programs:
            if not have(program):
                self.skipTest(f"no {program} on this machine")

    def compile(self, source, output, *flags, compiler="gcc"):
        """Compiles tests/programs/SOURCE (or a path, or text with a suffix key)."""
        path = PROGRAMS / source
        target = self.folder / output
        run(compiler, *flags, path, "-o", target, cwd=self.folder)
        return target

    def compile_text(self, text, name, output, *flags, compiler="gcc"):
        path = self.folder / name
        path.write_text(text)
        target = self.folder / output
        run(compiler, *flags, path, "-o", target, cwd=self.folder)
        return target

    def text(self):
        """A file of text for programs that read one."""
        path = self.folder / "text"
        path.write_text("".join(f"{i} {i * i} {i ^ 0x55aa}\n" for i in range(8000)))
        return path

    def record(self, *arguments, status=0, output="profile.culprit", **options):
        """culprit record ARGUMENTS; the path of the profile, and what ran."""
        path = self.folder / output
        done = self.culprit("record", "-o", path, *arguments, status=status, **options)
        return path, done

    def report(self, profile, *arguments, **options):
        """The JSON report with every row."""
        done = self.culprit("report", profile, "--format", "json", *arguments, **options)
        return json.loads(done.stdout)

    def shares(self, report, key="function", **having):
        """{name: share} of the first event over everything, for rows that match `having`."""
        event = report["events"][0]
        found = {}
        for row in report["rows"]:
            if all(row.get(field) == value for field, value in having.items()):
                value = row["values"][event["name"]]["value"]
                found[row.get(key)] = found.get(row.get(key), 0) + value / event["total"]
        return found


    def module_shares(self, profile):
        """{file name of the module: share}."""
        shares = self.shares(self.report(profile, "--by", "module"), "module")
        return {name.rsplit("/", 1)[-1]: share for name, share in shares.items()}


def test_names(path):
    loader = unittest.TestLoader()
    module = load(path)
    for name, kind in vars(module).items():
        if isinstance(kind, type) and issubclass(kind, unittest.TestCase) and kind.__module__ == module.__name__:
            for method in loader.getTestCaseNames(kind):
                marks = (kind, getattr(kind, method))
                alone = any(getattr(mark, "runs_alone", False) for mark in marks)
                yield f"{name}.{method}" + (" alone" if alone else "")


def load(path):
    import importlib.util
    specification = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    specification.loader.exec_module(module)
    return module


def main():
    if sys.argv[1] == "--list":
        print("\n".join(test_names(sys.argv[2])))
        return 0
    # A shell starts what runs in the background with SIGINT ignored, which programs inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module = load(sys.argv[1])
    suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[2], module)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    if not result.wasSuccessful() or result.testsRun == 0:
        return 1
    if result.skipped:
        print("skipped:", "; ".join(reason for _, reason in result.skipped))
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.modules["harness"] = sys.modules["__main__"]
    sys.exit(main())
