"""What commands write over, and what they leave as it is."""
import gzip
import os
import pathlib
import re
import signal
import subprocess
import time

from harness import CULPRIT, CulpritTest, is_sanitized

NOTES = "what nobody wants to lose\n"


class Outputs(CulpritTest):
    def setUp(self):
        super().setUp()
        self.profile, _ = self.record("-q", "--no-symbols", "true")
        self.notes = self.folder / "notes.txt"
        self.notes.write_text(NOTES)

    def refuses(self, *arguments, status=1, because="is left as it is", left=None):
        """The command fails and says why; the file `left` is as it was."""
        left = left or self.notes
        before = left.read_bytes()
        done = self.culprit(*arguments, status=status)
        self.assertIn(because, done.stderr)
        self.assertEqual(before, left.read_bytes())
        return done

    # ---- Files of another kind. ----

    def test_a_foreign_file_is_left_as_it_is(self):
        for command, status in ((["record", "-o", self.notes, "true"], 125),
                                (["stat", "-o", self.notes, "true"], 125),
                                (["stat", "--log", self.notes, "true"], 125),
                                (["calibrate", "-o", self.notes], 1),
                                (["import", "-o", self.notes, self.folder / "none"], 1)):
            self.refuses(*command, status=status)
        for kind in ("collapsed", "pprof", "callgrind", "json", "csv"):
            self.refuses("export", "--to", kind, "-o", self.notes)

    def test_a_profile_is_no_export_and_an_export_no_profile(self):
        other, _ = self.record("-q", "--no-symbols", "true", output="other.culprit")
        self.refuses("export", "--to", "json", "-o", other, self.profile, left=other)
        table = self.folder / "table.csv"
        self.culprit("export", "--to", "csv", "-o", table)
        self.refuses("record", "-o", table, "true", status=125, left=table)

    def test_force_replaces_it(self):
        self.culprit("export", "--to", "collapsed", "--force", "-o", self.notes)
        self.assertNotEqual(NOTES, self.notes.read_text())
        self.notes.write_text(NOTES)
        self.record("-q", "--no-symbols", "--force", "true", output="notes.txt")
        self.assertEqual(NOTES, (self.folder / "notes.txt.old").read_text())
        self.assertTrue(self.report(self.notes))

    def test_what_would_become_the_old_one_is_no_profile(self):
        old = self.folder / "profile.culprit.old"
        old.write_text(NOTES)
        self.refuses("record", "true", status=125, left=old)
        self.assertIn("--force", self.refuses("record", "true", status=125, left=old).stderr)

    def test_files_of_their_own_kind_and_empty_ones_are_replaced(self):
        for kind in ("pprof", "callgrind", "json", "csv"):
            output = self.folder / f"export.{kind}"
            output.touch()   # as mktemp makes it
            self.culprit("export", "--to", kind, "-o", output)
            first = output.read_bytes()
            self.culprit("export", "--to", kind, "-o", output)
            self.assertEqual(first, output.read_bytes())
        counts = self.folder / "counts.json"
        for _ in range(2):
            self.culprit("stat", "--format", "json", "--log", counts, "-e", "task-clock", "true")
        empty = self.folder / "empty.culprit"
        empty.touch()
        self.record("-q", "--no-symbols", "true", output="empty.culprit")
        self.assertFalse((self.folder / "empty.culprit.old").exists())

    def test_a_shorter_export_leaves_nothing_of_a_longer_one(self):
        output = self.folder / "export.csv"
        self.culprit("export", "--to", "csv", "-o", output)
        short = output.read_bytes()
        output.write_bytes(short + b"left,over\n" * 1000)
        self.culprit("export", "--to", "csv", "-o", output)
        self.assertEqual(short, output.read_bytes())

    # ---- What is read, and what somebody records. ----

    def test_an_input_is_never_written_over(self):
        link = self.folder / "link"
        link.hardlink_to(self.profile)
        for force in ([], ["--force"]):
            for output in (self.profile, link, self.folder / "." / "profile.culprit"):
                self.refuses("export", "--to", "json", *force, "-o", output, left=self.profile,
                             because="what this command reads")
            with open(self.profile, "ab") as appended:
                done = subprocess.run([CULPRIT, "export", "--to", "json", *force], stdout=appended,
                                      stderr=subprocess.PIPE, cwd=self.folder, text=True)
                self.assertEqual(1, done.returncode)
                self.assertIn("the file that is read", done.stderr)
        recording = self.folder / "perf.data"
        recording.write_bytes(b"PERFILE2" + bytes(100))
        self.refuses("import", "--force", "-o", recording, recording, left=recording,
                     because="what this command reads")
        program = self.folder / "true"
        program.write_bytes(pathlib.Path("/bin/true").read_bytes())
        program.chmod(0o755)
        self.refuses("record", "--force", "-o", program, program, left=program, status=125,
                     because="what this command reads")

    def test_a_recording_under_way_is_never_written_over(self):
        busy = self.folder / "busy.culprit"
        recorder = subprocess.Popen([CULPRIT, "record", "-q", "-o", busy, "sleep", "30"],
                                    cwd=self.folder, stderr=subprocess.PIPE)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        self.wait_for(lambda: busy.exists() and busy.stat().st_size > 0)
        because = "another program is recording into it"
        for command, status in ((["record", "--force", "-o", busy, "true"], 125),
                                (["export", "--force", "--to", "csv", "-o", busy,
                                  self.profile], 1),
                                (["symbolize", busy], 1)):
            done = self.culprit(*command, status=status)
            self.assertIn(because, done.stderr)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(30)
        self.assertTrue(self.report(busy)["runs"])
        self.record("-q", "--no-symbols", "true", output="busy.culprit")   # now it may be

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    # ---- What is no regular file keeps nothing. ----

    def test_devices_pipes_and_descriptors(self):
        whole = self.culprit("export", "--to", "collapsed").stdout
        self.culprit("export", "--to", "pprof", "-o", "/dev/null")
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            self.assertEqual(whole, self.culprit("export", "--to", "collapsed", "-o", name).stdout)
        appended = self.folder / "appended"
        appended.write_text(NOTES)   # what the shell has opened is its business
        with open(appended, "a") as output:
            subprocess.run([CULPRIT, "export", "--to", "collapsed", "-o", "/dev/stdout"],
                           stdout=output, cwd=self.folder, check=True)
        self.assertEqual(NOTES + whole, appended.read_text())
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
        self.culprit("export", "--to", "collapsed", "-o", pipe)
        self.assertEqual(whole, reader.communicate(timeout=30)[0])

    def test_a_new_file_does_not_stay_if_there_is_nothing_for_it(self):
        made = self.folder / "made"
        self.culprit("export", "--to", "bolt", "-o", made, status=1)
        self.assertFalse(made.exists())

    def test_a_pprof_file_is_what_gzip_reads(self):
        made = self.folder / "made.pb.gz"
        self.culprit("export", "--to", "pprof", "-o", made)
        self.assertIn(b"cpu-clock", gzip.decompress(made.read_bytes()))

    def test_where_a_file_cannot_be_written_is_said_before_the_work(self):
        started = time.monotonic()
        done = self.culprit("calibrate", "-o", self.folder / "none" / "made.toml", status=1)
        self.assertIn("No such file or directory", done.stderr)
        self.assertIn("-o FILE", done.stderr)
        done = self.culprit("stat", "-o", self.folder / "none" / "made", "sleep", "20", status=125)
        self.assertIn("No such file or directory", done.stderr)
        self.assertLess(time.monotonic() - started, 8)   # of 15 s and 20 s of work

    def test_a_line_end_in_a_name_does_not_break_the_message(self):
        name = "a\nculprit: fine"
        for command in (["record", "-o", name + "/x", "true"], ["report", name],
                        ["export", "--to", "csv", "-o", name + "/x"], ["import", name],
                        ["symbolize", name], ["stat", "--log", name + "/x", "true"]):
            done = self.culprit(*command, status=None)
            self.assertNotEqual(0, done.returncode)
            self.assertNotIn("\nculprit: fine", done.stderr)
        done = self.culprit("record", "--no-symbols", "-o", name, "true")
        self.assertIn("a?culprit: fine", done.stderr)
        self.assertNotIn("\nculprit: fine", done.stderr)


class Memory(CulpritTest):
    def test_its_heap_is_in_large_pages(self):
        """Each page that is not costs a fault, which is slow on guests."""
        if is_sanitized():
            self.skipTest("sanitizers have a heap of their own")
        if not os.path.exists("/sys/kernel/mm/transparent_hugepage/enabled"):
            self.skipTest("this kernel has no transparent huge pages")
        end = self.folder / "end"
        os.mkfifo(end)
        running = subprocess.Popen([CULPRIT, "record", "-q", "--no-symbols", "cat", end],
                                   cwd=self.folder, stdout=subprocess.DEVNULL)
        with open(end, "w"):   # opens when cat reads
            maps = pathlib.Path(f"/proc/{running.pid}/smaps").read_text()
        self.assertEqual(0, running.wait(60))
        heaps = re.findall(r"\[heap\]\nSize: +(\d+) kB\n(?:.*\n)*?VmFlags:(.*)", maps)
        self.assertGreaterEqual(sum(int(size) for size, flags in heaps if " hg" in flags), 500 << 10)
