"""Comments and documents name files, types and functions: those must exist. What is renamed takes
the words about it with it."""
import functools
import re
import subprocess

from harness import SOURCE, CulpritTest

# Files of others, which comments name without their folders.
OUTSIDE = {"dwarf.h", "elf.h", "hashtable.h", "hashtable_policy.h"}
# Files in examples: what a user, or a program in a test, may have.
EXAMPLES = {"a.c", "a.cc", "a.py", "b.h", "f.h", "h.h", "foo_test.cc", "kernel.cc", "scale.h", "vector.h",
            "machine.toml", "scan.toml"}
# Names of others in CamelCase or with a call's parentheses.
FOREIGN = {"DasGupta", "LbrExtV2", "MiniDebugInfo", "NtC3foo3bar", "NumPy", "ThreadSanitizer", "TypeScript",
           "dwfl_attach_state", "dwfl_thread_getframes", "h0123456789abcdef", "task_tgid_nr_ns"}

FILE = re.compile(r"(?<![\w/.<*-])((?:[\w.-]+/)*[a-z]\w*\.(?:h|cc|py|md|toml|def|cmake))\b(?!\()")
TYPE = re.compile(r"\b((?:[A-Z][a-z0-9]+){2,})\b(?!\.\w)")
CALL = re.compile(r"\b([a-z]+_[a-z_]+)\(\)")
# In documents about the code: files without their ending, and identifiers.
QUOTED = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")
QUALIFIED = re.compile(r"\b((?:[A-Z][a-z0-9]*)+::[a-z]\w*[a-z0-9])\b")
COMMENT = re.compile(r"//(.*)")


@functools.cache
def tracked():
    return subprocess.run(["git", "ls-files"], cwd=SOURCE, check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()


@functools.cache
def words_of_code():
    """All identifiers that stand in sources and scripts, not in their comments."""
    words = set()
    for name in tracked():
        if re.search(r"\.(cc|h|c|def|ts|tsx|py|sh|cmake|f90|json|toml|in)$", name):
            text = (SOURCE / name).read_text(errors="replace")
            if not name.endswith((".py", ".sh", ".cmake")):
                text = re.sub(r"//[^\n]*", "", text)
            words.update(re.findall(r"\b[A-Za-z_]\w+\b", text))
    return words


def is_about_code(name):
    return name.startswith(("src/", "docs/decisions/")) or name in ("ARCHITECTURE.md", "CONTRIBUTING.md")


def lines_about_code():
    """(file, line, text) of documents and of comments in sources."""
    for name in tracked():
        is_document = name.endswith(".md") and name != "CHANGELOG.md"
        if not is_document and not re.search(r"^src/.*\.(cc|h|c)$", name):
            continue
        for number, line in enumerate((SOURCE / name).read_text(errors="replace").splitlines(), 1):
            if is_document:
                yield name, number, line
            elif comment := COMMENT.search(line):
                yield name, number, comment.group(1)


class References(CulpritTest):
    def unknown(self, pattern, is_known):
        return [f"{name}:{number}: {word}" for name, number, text in lines_about_code()
                for word in pattern.findall(text) if not is_known(word)]

    def test_files_exist(self):
        names = {name.rsplit("/", 1)[-1] for name in tracked()}
        paths = set(tracked())

        def is_known(word):
            folder, _, base = word.rpartition("/")
            if base in EXAMPLES | OUTSIDE or not folder:
                return base in names | EXAMPLES | OUTSIDE
            outside = folder.split("/")[0] in ("linux", "asm", "sys", "..", "tools", "XDG_CONFIG_HOME")
            return outside or any(path == word or path.endswith("/" + word) for path in paths)

        self.assertEqual(self.unknown(FILE, is_known), [])

    def test_types_exist(self):
        known = words_of_code() | FOREIGN
        self.assertEqual(self.unknown(TYPE, known.__contains__), [])

    def test_quoted_names_exist(self):
        stems = {name.rsplit("/", 1)[-1].split(".")[0] for name in tracked()}
        known = words_of_code() | FOREIGN | stems
        unknown = [f"{name}:{number}: {word}" for name, number, text in lines_about_code()
                   if is_about_code(name) for word in QUOTED.findall(text) if word not in known]
        self.assertEqual(unknown, [])

    def test_members_exist(self):
        known = words_of_code() | FOREIGN
        self.assertEqual(self.unknown(QUALIFIED, lambda word: known.issuperset(word.split("::"))), [])

    def test_functions_exist(self):
        known = words_of_code() | FOREIGN
        self.assertEqual(self.unknown(CALL, known.__contains__), [])
