"""A profile travels alone: the report needs nothing but the file."""
import os
import shutil

from harness import CulpritTest

LEVELS = ["process", "thread", "module", "function", "line", "block", "instruction"]


class TravelsAlone(CulpritTest):
    def test_same_report_without_binaries_sources_caches_and_home(self):
        build = self.folder / "build"
        build.mkdir()
        for name, function in (("shares.c", None), ("shares_part.c", None)):
            shutil.copy(self.program(name), build / name)
        self.compile(build / "shares_part.c", "build/libplugin.so", "-O2", "-g", "-shared", "-fPIC",
                     "-DNAME=plugin_gamma")
        program = self.compile(build / "shares.c", "build/shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("-g", "--", program, 1, 2, "plugin", build / "libplugin.so")

        # Where a profile lies is in the next command that a report names, if it is told.
        def reports(folder, environment):
            look = lambda *words: self.culprit(*words, env=environment, cwd=folder).stdout
            texts = [look("report", "--by", level, "--limit", "0") for level in LEVELS]
            texts.append(look("report", "--tree", "callers"))
            texts.append(look("report", "--format", "json"))
            texts.append(look("annotate", "alpha", "--width", "200"))
            return texts

        before = reports(self.folder, dict(os.environ))
        self.assertIn("CHAIN(1, n) return x;", before[-1])   # the source text came along
        shutil.rmtree(build)
        home = self.folder / "home"
        home.mkdir()
        moved = self.folder / "elsewhere"
        moved.mkdir()
        profile.rename(moved / "profile.culprit")
        after = reports(moved, {"HOME": str(home), "PATH": "/nowhere"})
        self.assertEqual(before, after)
        self.assertEqual(os.listdir(home), [])
        self.assertEqual(os.listdir(moved), ["profile.culprit"])     # no journal left beside it

    def program(self, name):
        from harness import PROGRAMS
        return PROGRAMS / name

    def test_no_source_leaves_source_text_out(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("--no-source", "--", program, 0.3, 1)
        text = self.culprit("annotate", "alpha", profile, "--width", "200").stdout
        self.assertIn("shares.c", text)
        self.assertNotIn("CHAIN(1, n) return x;", text)

    def test_symbolize_completes_a_profile_later(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("--no-symbols", "--", program, 0.5, 1)
        self.assertNotIn("alpha", self.shares(self.report(profile)))
        symbols = self.folder / "symbols"
        symbols.mkdir()
        program.rename(symbols / "shares")
        self.culprit("symbolize", profile, "--symbols", symbols)
        self.assertIn("alpha", self.shares(self.report(profile)))

    def test_replaced_binary_is_not_believed(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("--no-symbols", "--", program, 0.5, 1)
        program.unlink()
        self.compile_text("int main(void) { return 0; }", "other.c", "shares")
        self.culprit("symbolize", profile)
        report = self.report(profile)
        self.assertNotIn("alpha", self.shares(report))
        self.assertEqual(report["ledger"]["images_replaced"], 1)

    def test_deleted_binary_is_still_known(self):
        program = self.compile("shares.c", "shares", "-O2", "-g", "-pthread", "-ldl")
        profile, _ = self.record("--", "sh", "-c", f"{program} 0.7 1 & sleep 0.3; rm {program}; wait")
        self.assertGreater(self.shares(self.report(profile)).get("alpha", 0), 0.3)
