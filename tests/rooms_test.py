"""The house rules of src/: who may include whom, and what every room says of itself.

rooms.txt is the table; a room may include itself, the rooms listed beside it, and what
those may. A listed folder inside a room (simulate/machine) is a room of its own. Code that runs inside other programs (folders named guest)
includes no room at all.
"""
import pathlib
import re
import unittest

import harness

ROOMS_FILE = harness.SOURCE / "tests/rooms.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
README_LINES = 15


def read_table():
    """{room: the rooms listed beside it}, ground floor first."""
    lines = (line.split("#")[0].split() for line in ROOMS_FILE.read_text().splitlines())
    return {room: uses for room, *uses in filter(None, lines)}


def read_rooms():
    """{room: set of the rooms it may include}"""
    rooms = {}
    for room, uses in read_table().items():
        for used in uses:
            if used not in rooms:
                raise AssertionError(f"{ROOMS_FILE}: '{room}' uses '{used}', which is not above it")
        rooms[room] = {room}.union(uses, *(rooms[used] for used in uses))
    return rooms


def source_files(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".c", ".cc"})


def room_of(path, rooms):
    """The room of a file or an included path, given from src/: the longest listed folder."""
    parents = (str(parent) for parent in pathlib.PurePath(path).parents)
    return next((parent for parent in parents if parent in rooms), None)


def includes(path):
    """(line number, included path) of every #include "..." """
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


class Rooms(unittest.TestCase):
    def setUp(self):
        self.rooms = read_rooms()
        self.source = harness.SOURCE / "src"

    def assertNone(self, offenders):
        self.assertEqual([], offenders, "\n" + "\n".join(offenders))

    def files_of(self, room):
        """The source files of a room, without those of rooms inside it."""
        return [path for path in source_files(self.source / room)
                if room_of(path.relative_to(self.source), self.rooms) == room]

    def test_every_folder_is_in_the_table(self):
        folders = {path.relative_to(self.source).parts[0]
                   for path in source_files(self.source) if path.parent != self.source}
        tops = {room.split("/")[0] for room in self.rooms}
        self.assertEqual(folders, tops)
        homeless = [str(path.relative_to(self.source)) for path in source_files(self.source)
                    if room_of(path.relative_to(self.source), self.rooms) is None]
        self.assertNone(homeless)
        self.assertEqual([], [room for room in self.rooms if not self.files_of(room)])

    def test_build_links_by_the_same_table(self):
        text = (self.source / "CMakeLists.txt").read_text()
        calls = re.findall(r"culprit_room\(([\w/]+)(?:\s+(?:LIVE|APART|ALONE))*((?:\s+[\w/]+)*?)(?:\s+LIBRARIES[^)]*)?\)", text)
        self.assertEqual({room: uses.split()[1:] for room, uses in calls}, read_table())

    def test_includes_follow_the_table(self):
        offenders = []
        checked = 0
        for room, allowed in self.rooms.items():
            for path in self.files_of(room):
                for number, included in includes(path):
                    checked += 1
                    other = room_of(included, self.rooms)
                    if other is not None and other not in allowed:
                        offenders.append(f"{path.relative_to(harness.SOURCE)}:{number}: "
                                         f"'{room}' may not include '{other}'")
        self.assertGreater(checked, 100)
        self.assertNone(offenders)

    def test_includes_are_paths_from_src_that_exist(self):
        offenders = []
        for room in self.rooms:
            for path in source_files(self.source / room):
                for number, included in includes(path):
                    if not (self.source / included).exists() and not self.is_guest_local(path, included):
                        offenders.append(f"{path.relative_to(harness.SOURCE)}:{number}: "
                                         f'no "{included}"')
        self.assertNone(offenders)

    def is_guest_local(self, path, included):
        """What runs in other programs is built alone and includes its neighbours by name."""
        return path.parent.name == "guest" and (path.parent / included).exists()

    def test_code_inside_other_programs_includes_no_room(self):
        offenders = []
        for path in source_files(self.source):
            if path.parent.name != "guest":
                continue
            for number, included in includes(path):
                inside = "/guest/" in included or self.is_guest_local(path, included)
                if not inside:
                    offenders.append(f"{path.relative_to(harness.SOURCE)}:{number}: {included}")
        self.assertNone(offenders)

    def test_every_room_has_a_short_readme(self):
        offenders = []
        for room in self.rooms:
            readme = self.source / room / "README.md"
            if not readme.exists():
                offenders.append(f"src/{room}/README.md: missing")
                continue
            lines = readme.read_text().splitlines()
            if len(lines) > README_LINES:
                offenders.append(f"src/{room}/README.md: longer than {README_LINES} lines")
            if lines[0] != f"# {room}" and not lines[0].startswith(f"# {room}: "):
                offenders.append(f"src/{room}/README.md: its first line does not name the room")
        self.assertNone(offenders)

    def test_headers_are_included_once(self):
        offenders = [str(path.relative_to(harness.SOURCE))
                     for room in self.rooms for path in source_files(self.source / room)
                     if path.suffix == ".h" and "#pragma once" not in path.read_text()
                     and path.parent.name != "guest"]
        self.assertNone(offenders)

    def test_heavy_libraries_stay_in_their_rooms(self):
        homes = {"sqlite3.h": {"store"}, "zstd.h": {"store", "perfdata"}, "CLI/": {"cli/options"},
                 "llvm/": {"binary", "code/decoder", "code/costs"}, "protozero/": {"exports"},
                 "perfmon/": {"events"}, "toml++/": {"toml"}}
        offenders = []
        for room in self.rooms:
            for path in self.files_of(room):
                for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                    for name, allowed in homes.items():
                        if re.match(rf'\s*#\s*include\s*[<"]{re.escape(name)}', line) and room not in allowed:
                            offenders.append(f"{path.relative_to(harness.SOURCE)}:{number}: {name}")
        self.assertNone(offenders)


if __name__ == "__main__":
    unittest.main()
