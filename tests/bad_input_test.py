"""Every command with every kind of wrong input: a clear message, the right status."""
import os
import sqlite3
import sys

from harness import CULPRIT, CulpritTest, NOBODY, SOURCE, run

READERS = (["report"], ["why"], ["annotate", "main"], ["export", "--to", "json"], ["symbolize"])


class BadInput(CulpritTest):
    def fails(self, arguments, status, *words, **options):
        done = self.culprit(*arguments, status=None, **options)
        self.assertEqual(done.returncode, status, (arguments, done.stdout, done.stderr))
        self.assertTrue(done.stderr.startswith("culprit: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr, arguments)
        self.assertNotIn("bug at", done.stderr)
        return done

    def readers_fail(self, path, *words, **options):
        for reader in READERS:
            with self.subTest(command=reader[0]):
                self.fails([*reader, path], 1, *words, **options)

    def test_missing_file(self):
        self.readers_fail("absent.culprit", "absent.culprit", "No such file")

    def test_folder(self):
        self.readers_fail(self.folder, "directory")

    def test_empty_file(self):
        (self.folder / "empty").write_bytes(b"")
        self.readers_fail("empty", "empty")

    def test_random_bytes(self):
        (self.folder / "random").write_bytes(os.urandom(100_000))
        self.readers_fail("random", "random")

    def test_text_file(self):
        (self.folder / "text").write_text("hello\n" * 1000)
        self.readers_fail("text", "text")

    def small_profile(self):
        profile, _ = self.record("--", "sh", "-c", "for i in 1 2 3 4 5 6; do sort /dev/null; done")
        return profile

    def test_truncated_file(self):
        whole = self.small_profile().read_bytes()
        for keep in (10, 100, 1000, 5000, len(whole) // 2, len(whole) - 100):
            (self.folder / "cut").write_bytes(whole[:keep])
            self.readers_fail("cut", "cut")

    def test_profile_of_a_newer_version(self):
        profile = self.small_profile()
        database = sqlite3.connect(profile)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        database.execute(f"PRAGMA user_version = {version + 6}")
        database.commit()
        database.close()
        self.readers_fail(profile, "newer version")

    def test_other_database(self):
        database = sqlite3.connect(self.folder / "other")
        database.execute("CREATE TABLE t (x)")
        database.commit()
        database.close()
        self.readers_fail("other", "not a profile of Culprit")

    def test_hostile_database(self):
        """Triggers, views and swollen segments of a stranger's file are not run or believed."""
        profile = self.small_profile()
        whole = profile.read_bytes()
        for statement in ("CREATE TRIGGER t AFTER INSERT ON strings BEGIN DELETE FROM strings; END",
                          "UPDATE segments SET data = zeroblob(1000000)",
                          "UPDATE segments SET rows = 9223372036854775807",
                          "UPDATE contexts SET run = 4000000",
                          "UPDATE images SET kind = 77"):
            with self.subTest(statement=statement):
                copy = self.folder / "hostile"
                copy.write_bytes(whole)
                database = sqlite3.connect(copy)
                database.execute(statement)
                database.commit()
                database.close()
                self.fails(["report", copy], 1, "hostile")

    def test_no_permission(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become somebody else")
        profile = self.small_profile()
        profile.chmod(0)
        self.readers_fail(profile, "Permission denied", user=NOBODY, group=NOBODY)

    def test_read_only_file_can_be_reported(self):
        profile = self.small_profile()
        profile.chmod(0o444)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        options = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        self.culprit("report", profile, **options)

    def test_unknown_function(self):
        self.fails(["annotate", "no_such_function", self.small_profile()], 1, "no_such_function")

    def test_wrong_words(self):
        profile = "profile.culprit"
        for arguments in (["report", "--frobnicate"], ["report", "--by", "colour"],
                          ["report", "--format", "xml"], ["report", "--limit", "many"],
                          ["export"], ["export", "--to", "mp3"], ["annotate"], ["repotr"],
                          ["record"], ["record", "--frobnicate", "true"], ["stat", "--frobnicate", "true"],
                          ["report", "--limit", "-1"], ["record", "-F", "0", "true"], ["record", "-F", "nan", "true"],
                          ["record", "-p", "abc"], ["stat"], ["stat", "-r", "0", "true"],
                          ["stat", "-I", "0", "true"], ["stat", "-a", "-p", "1"],
                          ["record", "-p", "1", "-a"], ["record", "-p", "1", "true"],
                          ["record", "--duration", "-3", "true"], ["record", "-C", "9-1", "true"],
                          ["record", "--engine", "magic", "true"], ["doctor", "extra"]):
            with self.subTest(arguments=arguments):
                self.fails(arguments, 2)

    def test_words_that_mean_nothing_are_said(self):
        self.small_profile()
        self.fails(["report", "--min-percent", "nan"], 2, "nan")
        self.fails(["report", "--template", "../../etc/passwd"], 2, "--columns hca")
        self.fails(["record", "-C", "8191", "true"], 125, "there is no CPU 8191")
        self.fails(["stat", "-C", "8191", "-e", "task-clock", "true"], 125, "there is no CPU 8191")

    def test_a_profile_where_a_part_of_one_may_stand(self):
        """Of any name: commands that take a part and a file know which of both one word is."""
        for command in ("locality", "data"):
            self.fails([command, "run.c"], 1, "profile.culprit")
        self.small_profile().rename(self.folder / "run.c")
        for command in ("locality", "data"):
            self.fails([command, "run.c"], 1, "--locality all")   # what this one lacks
        self.fails(["annotate", "run.c"], 2, "culprit annotate FUNCTION run.c")

    def test_a_benchmark_says_how_it_is_used(self):
        said = run(sys.executable, SOURCE / "bench/overload.py", "--help")
        self.assertIn("usage: overload.py", said.stdout)

    def test_events_that_cannot_be(self):
        for command in ("record", "stat"):
            self.fails([command, "-e", "no-such-event", "true"], 125, "no-such-event")
            self.fails([command, "-e", "{page-faults", "true"], 125, "{")
            self.fails([command, "-e", "software/config=99/", "true"], 125)
        self.fails(["record", "-e", "cpu-clock", "-c", "1", "true"], 125, "10000")
        self.fails(["record", "--engine", "timer", "-e", "page-faults", "true"], 125, "page-faults")
        self.fails(["record", "-b", "true"], 125, "-e")

    def test_programs_that_cannot_run(self):
        (self.folder / "text").write_text("hello")
        self.fails(["record", "--", "./absent"], 127, "absent")
        self.fails(["record", "--", "no-such-program-anywhere"], 127, "no-such-program-anywhere")
        self.fails(["record", "--", self.folder], 126, "directory")
        self.fails(["record", "--", "./text"], 126, "not executable")
        self.assertFalse((self.folder / "profile.culprit").exists())

    def test_what_the_kernel_does_not_execute(self):
        """The shell would: it makes what is behind the ">" of a program for another machine."""
        (self.folder / "foreign").write_bytes(b"\x7fELF\n>made\n")
        (self.folder / "orphan").write_text("#!/no/such/interpreter\n")
        for name in "foreign", "orphan":
            (self.folder / name).chmod(0o755)
        for command in ["record"], ["record", "--engine", "timer"], ["stat", "-e", "task-clock"]:
            self.fails([*command, "--", "./foreign"], 126, "no program for this machine")
            self.fails([*command, "--", "./orphan"], 126, "No such file or directory")
        self.assertFalse((self.folder / "made").exists())
        self.assertFalse((self.folder / "profile.culprit").exists())

    def test_processes_that_do_not_exist(self):
        self.fails(["record", "-p", "4194000"], 125, "4194000")

    def test_output_that_cannot_be_written(self):
        self.fails(["record", "-o", "/nowhere/p.culprit", "true"], 125, "/nowhere/p.culprit")
        self.fails(["record", "-o", self.folder, "true"], 125, "not a regular file")
        if os.geteuid() == 0:
            for engine in "timer", "simulate":
                self.fails(["record", "--engine", engine, "-o", self.folder / "p", "true"], 125,
                           "Permission denied", user=NOBODY, group=NOBODY)

    def test_failed_recording_brings_the_old_profile_back(self):
        profile = self.small_profile()
        before = profile.read_bytes()
        self.fails(["record", "-p", "4194000"], 125)
        self.assertEqual(profile.read_bytes(), before)

    def mount_small(self, size):
        if os.geteuid() != 0:
            self.skipTest("needs root to mount a small file system")
        small = self.folder / "small"
        small.mkdir()
        mounted = run("mount", "-t", "tmpfs", "-o", f"size={size}", "none", small, status=None)
        if mounted.returncode != 0:
            self.skipTest(f"cannot mount: {mounted.stderr}")
        self.addCleanup(run, "umount", small)
        return small

    def test_full_disk_when_a_simulation_ends(self):
        """Its counts are all in memory then, and took long: they go where there is room."""
        small = self.mount_small("64k")
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        environment = {**os.environ, "TMPDIR": str(elsewhere)}
        arguments = ["record", "--engine", "simulate", "-o"]
        program = ["--", "sh", "-c", "exit 3"]
        whole = self.folder / "whole.culprit"
        self.culprit(*arguments, whole, *program, status=3, env=environment)
        done = self.fails([*arguments, small / "p.culprit", *program], 125, "no space left",
                          env=environment)
        self.assertEqual(list(small.iterdir()), [])  # nothing that only looks like a profile
        [kept] = elsewhere.glob("culprit-*/p.culprit")
        self.assertIn(str(kept), done.stderr)
        self.assertEqual(kept.stat().st_mode & 0o077, 0)
        totals = []
        for path in whole, kept:
            report = self.report(path, "--by", "module")
            self.assertNotIn("interrupted", str(report["ledger"]))
            totals += [event["total"] for event in report["events"]
                       if event["name"] == "instructions"]
        self.assertGreater(totals[0], 10_000)
        self.assertAlmostEqual(totals[1] / totals[0], 1, delta=0.01)  # its path is part of its input

    def test_full_disk_while_recording(self):
        small = self.mount_small("200k")
        program = self.compile_text(
            "#include <stdio.h>\n#include <unistd.h>\nstatic volatile long s;\n"
            "int main(void) { for (long i = 0; i < 9000000000; ++i) s = i; printf(\"done\\n\"); }",
            "p.c", "p", "-O1")
        filler = f"sleep 1.2; head -c 300000 /dev/zero > {small}/filler; true"
        done = self.culprit("record", "-o", small / "p.culprit", "--", "sh", "-c",
                            f"({filler}) & {program}", status=None)
        self.assertIn("done", done.stdout)            # the program itself was left alone
        self.assertEqual(done.returncode, 125)
        self.assertIn("no space left", done.stderr)
        (small / "filler").unlink()
        report = self.report(small / "p.culprit", "--by", "module")
        self.assertGreater(report["events"][0]["samples"], 100)

    def test_file_size_limit_while_recording(self):
        program = self.compile_text("static volatile long s;\nint main(void) { for (long i = 0; i < 3000000000; ++i) s = i; return 5; }",
                                    "p.c", "p", "-O1")
        limit = "ulimit -f 8; exec"      # 8 kB: less than an empty profile
        done = run("bash", "-c", f"{limit} {CULPRIT} record -o {self.folder}/p.culprit -- {program}", status=None)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("p.culprit", done.stderr)
