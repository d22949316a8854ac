"""What help prints, the manual pages that are made of it, and an installation elsewhere."""
import os
import re

from harness import BUILD, SOURCE, CulpritTest, run

WIDTH = 80


class Help(CulpritTest):
    def commands(self):
        listed = self.culprit("help").stdout.partition("Subcommands:\n")[2]
        return re.findall(r"^  ([a-z-]+)", listed, re.M)

    def test_fits_a_terminal(self):
        self.assertGreater(len(self.commands()), 20)
        for command in self.commands():
            text = self.culprit(command, "--help").stdout
            self.assertEqual(text, self.culprit("help", command).stdout)
            before_examples = text.partition("Examples:")[0].split("\n")
            self.assertEqual([line for line in before_examples if len(line) > WIDTH], [])
            self.assertNotIn("\n\n\n", text)
            self.assertNotIn("{false}", text)

    def test_groups_the_options_of_record(self):
        text = self.culprit("record", "--help").stdout
        headings = re.findall(r"^([A-Z].*):$", text, re.M)
        self.assertEqual(headings, ["Options", "What to observe, if not a program",
                                    "Software PMU (--engine simulate and timer+simulate)",
                                    "The profile", "Examples"])
        software_pmu = text.partition(headings[2])[2].partition(headings[3])[0]
        self.assertIn("--locality", software_pmu)
        self.assertNotIn("--output", software_pmu)

    def test_makes_manual_pages(self):
        self.need("groff")
        folder = self.folder / "man"
        run(SOURCE / "scripts/man_pages.py", BUILD / "culprit", folder)
        pages = sorted(page.name for page in folder.iterdir())
        self.assertEqual(pages, sorted(["culprit.1", *(f"culprit-{command}.1"
                                                       for command in self.commands())]))
        for page in pages:
            checked = run("groff", "-man", "-ww", "-z", folder / page)
            self.assertEqual(checked.stderr, "", page)
        text = run("groff", "-man", "-Tascii", "-P-cbou", folder / "culprit-record.1").stdout
        self.assertRegex(text, r"NAME\n +culprit-record - sample a program")
        self.assertRegex(text, r"\n +-p, --pid PID\[,PID\]\n +running processes, and their children")
        self.assertRegex(text, r"EXAMPLES\n +culprit record ./a.out args  +a program and its chi")


class Installation(CulpritTest):
    def setUp(self):
        super().setUp()
        self.need("cmake")
        self.prefix = self.folder / "elsewhere"
        run("cmake", "--install", BUILD, "--prefix", self.prefix)
        # Its own home: what this machine's user has calibrated is no part of it.
        self.environment = {**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": ""}

    def installed(self, *arguments):
        return run(self.prefix / "bin/culprit", *arguments, cwd=self.folder, env=self.environment)

    def test_has_all_that_it_needs(self):
        self.installed("record", "-q", "--engine", "simulate", "--machine", "zen4", "--", "true")
        report = self.installed("report").stdout
        self.assertIn("sim:cycles", report)  # of both of QEMU's libraries, and a machine file
        self.assertIn("zen4", self.installed("templates", "list").stdout)
        self.installed("record", "-q", "--engine", "posix-timer", "-o", "timer.culprit", "--", "true")
        self.installed("validate", "--engine", "simulate", "--machine", "zen4", "--only", "adds")
        self.assertTrue((self.prefix / "include/culprit/region.h").exists())
        self.assertTrue((self.prefix / "share/man/man1/culprit-why.1").exists())

    def test_says_what_it_lacks(self):
        (self.folder / "kernel.cc").write_text(
            "#include <cstdlib>\nint main(int, char** words) { return std::atoi(words[1]) < 0; }\n")
        self.installed("scan", "init", "kernel.cc")
        (self.prefix / "share/culprit/scan/presets.toml").unlink()
        done = run(self.prefix / "bin/culprit", "scan", "run", cwd=self.folder, env=self.environment,
                   status=1)
        self.assertIn("lacks ../share/culprit/scan/presets.toml", done.stderr)
