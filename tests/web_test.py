"""The web page (culprit serve, culprit export --to html) in Debian's Chromium: what it shows against
`--format json`, from the server and from one file; and what the server refuses."""
import contextlib
import fcntl
import html.parser
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

from harness import BUILD, CULPRIT, SOURCE, CulpritTest, run

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kSize = 80 };
static double* a, *b, *c;
__attribute__((noinline)) void product(void) {
  for (int i = 0; i < kSize; i++)
    for (int j = 0; j < kSize; j++) {
      double sum = 0;
      // Each division waits for the one before it, on any CPU.
      for (int k = 0; k < kSize; k++) sum = (sum + a[i * kSize + k] * b[k * kSize + j]) / 1.25;
      c[i * kSize + j] = sum;
    }
}
int main(void) {
  a = malloc(kSize * kSize * sizeof *a);
  b = malloc(kSize * kSize * sizeof *b);
  c = malloc(kSize * kSize * sizeof *c);
  for (int i = 0; i < kSize * kSize; i++) a[i] = b[i] = i % 7;
  for (int round = 0; round < 10; round++) product();
  printf("%g\\n", c[7]);
  return 0;
}
"""


def has_page():
    """Whether this build could make the page: node, npm and its registry."""
    made = BUILD / "web/assets.cc"
    return made.exists() and "this build of culprit has no web page" not in made.read_text()


class Web(CulpritTest):
    def setUp(self):
        super().setUp()
        if not has_page():
            self.skipTest("this build has no web page: node, npm or the registry was missing")

    def simulated_profile(self, name="run"):
        program = self.compile_text(PROGRAM, f"{name}.c", name, "-O2", "-g")
        self.culprit("record", "-q", "--engine", "timer+simulate", "--machine", "zen4", "-g",
                     "--locality", "all", "--objects", "site", "-o", f"{name}.culprit", program)
        return self.folder / f"{name}.culprit"

    @contextlib.contextmanager
    def serving(self, *arguments):
        """The address, as the command prints it."""
        server = subprocess.Popen([CULPRIT, "serve", "--no-browser", *arguments], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder)
        try:
            self.server = server
            address = server.stdout.readline().strip()
            self.assertRegex(address, r"^http://[^ ]+/[0-9a-f]{32}/$", server.poll())
            yield address
        finally:
            server.send_signal(signal.SIGINT)
            self.assertEqual(server.wait(timeout=20), 0)
            server.stdout.close()
            server.stderr.close()

    def answer_json(self, *arguments):
        return json.loads(self.culprit(*arguments, "--format", "json").stdout)


class Documents(Web):
    """Documents stand by column; their numbers are those of --format json, and their form is
    what the schemas say."""

    def validate(self, document, schema):
        import jsonschema
        jsonschema.validate(document, json.loads((SOURCE / f"schema/{schema}.schema.json").read_text()))

    def test_numbers_are_those_of_json(self):
        profile = self.simulated_profile()
        with self.serving(profile) as address:
            got = {}
            for name, schema in (("index", "web_index"), ("places", "web_table"), ("costs", "web_table"),
                                 ("costs/load_latency", "web_table"), ("hottest", "web_table"), ("why", "why"), ("data", "data"),
                                 ("calls", "web_calls"), ("locality", "locality"), ("data/0", "data"),
                                 ("locality/0", "locality"), ("source/0", "web_source")):
                with self.subTest(document=name):
                    status, body = fetch(address, f"d/0/{name}")
                    self.assertEqual(status, 200, body)
                    got[name] = json.loads(body)
                    self.validate(got[name], schema)
            # Objects may share a name (three blocks of main here): details are of the row.
            rows = got["data"]["rows"]
            self.assertLess(len({row["name"] for row in rows}), len(rows))
            for i, row in enumerate(rows[:8]):
                part = json.loads(fetch(address, f"d/0/data/{i}")[1])["part"]
                self.assertEqual((part["name"], part["use"]), (row["name"], row["use"]))
            self.assertEqual(fetch(address, f"d/0/data/{len(rows)}")[0], 404)
            # The text is the file's, and files are numbered by the rows of locality.
            files = list(dict.fromkeys(row["file"] for row in got["locality"]["rows"] if "line" in row))
            number = next(i for i, name in enumerate(files) if name.endswith(".c") and pathlib.Path(name).exists())
            source = json.loads(fetch(address, f"d/0/source/{number}")[1])
            text = pathlib.Path(files[number]).read_text().splitlines()
            self.assertEqual(source["file"], files[number])
            self.assertEqual(source["text"], [text[line - 1].expandtabs(8) for line in source["line"]])
            lines = {row["line"] for row in got["locality"]["rows"] if row.get("file") == files[number]}
            self.assertLessEqual(lines, set(source["line"]))
            self.assertEqual(fetch(address, f"d/0/source/{len(files)}")[0], 404)
            places = got["places"]
            for name in "places", "costs":
                texts = got[name]["texts"]
                self.assertEqual(texts, sorted(texts, key=str.encode), name)
            report = self.answer_json("report", profile, "--by", "process,module,function", "--limit", "0")
            self.assertEqual(len(places["id"]), len(report["rows"]))
            columns = {column["name"]: i for i, column in enumerate(places["columns"])}
            for event in report["events"]:
                if event["total"] != 0:
                    self.assertEqual(places["columns"][columns[event["name"]]]["total"]["value"], event["total"])
            for i, row in enumerate(report["rows"]):
                name = places["texts"][places["module"][i]], places["texts"][places["function"][i]]
                self.assertEqual(name, (row["module"], row.get("function", "")))
                for event, column in columns.items():
                    values = places["values"][column]
                    self.assertEqual(values[i] if values else 0, row["values"][event]["value"])
            hottest = self.answer_json("report", profile, "--by", "module,function", "--limit", "14")
            first = hottest["events"][0]["name"]
            column = next(i for i, one in enumerate(got["hottest"]["columns"]) if one["name"] == first)
            self.assertEqual([got["hottest"]["texts"][name] for name in got["hottest"]["function"]],
                             [row.get("function", "") for row in hottest["rows"]])
            self.assertEqual(got["hottest"]["values"][column],
                             [row["values"][first]["value"] for row in hottest["rows"]])
            product = next(places["id"][i] for i, name in enumerate(places["function"])
                           if places["texts"][name] == "product")
            status, body = fetch(address, f"d/0/function/{product}")
            self.assertEqual(status, 200, body)
            code = json.loads(body)
            self.validate(code, "web_function")
            listing = self.answer_json("annotate", "product", profile)
            instructions = [one for place in listing["places"] for block in place["blocks"]
                            for one in block["instructions"]]
            self.assertEqual(code["instructions"]["address"], [one["address"] for one in instructions])
            self.assertEqual(code["instructions"]["text"], [one["text"] for one in instructions])
            for i, column in enumerate(code["columns"]):
                values = code["instructions"]["values"][i] or [0] * len(instructions)
                self.assertEqual(values, [one["values"][column["name"]]["value"] for one in instructions])
            stalls = [(one["stall"]["waits_for"], [cause["cause"] for cause in one["stall"]["causes"]])
                      if "stall" in one else None for one in instructions]
            self.assertGreater(len([one for one in stalls if one]), 0)
            self.assertEqual([(one["waits_for"], [cause["cause"] for cause in one["causes"]]) if one else None
                              for one in code["instructions"]["stall"]], stalls)
            for shown, place in zip(code["places"], listing["places"], strict=True):
                begins = [block["address"] for block in place["blocks"]] + [None]
                edges = shown["edges"]
                self.assertEqual([(begins[edges["from"][i]], begins[edges["to"][i]], edges["runs"][i])
                                  for i in range(len(edges["from"]))],
                                 [(one["from"], one["to"], one.get("runs")) for one in place["edges"]])
                self.assertEqual([(one["begin"], one["depth"]) for one in shown["loops"]],
                                 [(one["address"], one["depth"]) for one in place["loops"]])
                self.assertGreater(len(shown["loops"]), 0)
            status, body = fetch(address, "profiles")
            self.validate(json.loads(body), "web_profiles")

    def test_differences(self):
        before = self.simulated_profile("before")
        with self.serving(before, before) as address:
            status, body = fetch(address, "diff/0/1")
        self.assertEqual(status, 200, body)
        self.validate(json.loads(body), "diff")
        self.assertEqual(json.loads(body), self.answer_json("diff", before, before, "--limit", "0"))

    def test_a_profile_recorded_anew_is_read_anew(self):
        profile = self.simulated_profile()
        with self.serving(profile) as address:
            _, before = fetch(address, "profiles")
            command = json.loads(fetch(address, "d/0/index")[1])["runs"][0]["command"]
            other = self.compile_text(PROGRAM, "another.c", "another", "-O1")
            self.culprit("record", "-q", "--engine", "simulate", "--machine", "none", "-o", profile, other)
            _, after = fetch(address, "profiles")
            self.assertNotEqual(before, after)
            self.assertNotEqual(command, json.loads(fetch(address, "d/0/index")[1])["runs"][0]["command"])


def fetch(address, path, method="GET", headers=None):
    """(status, body) of a request below the address."""
    host, _, rest = address.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request(method, f"/{rest}{path}", headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def send_raw(address, text, seconds=10):
    """What the server answers to these bytes, until it closes or falls silent."""
    host, port = address.removeprefix("http://").split("/")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.sendall(text)
        answer = b""
        with contextlib.suppress(OSError):
            connection.settimeout(seconds)
            while part := connection.recv(65536):
                answer += part
        return answer


class Refusals(Web):
    """Who does not know the word, and who is not this machine's user's browser, learns nothing."""

    def setUp(self):
        super().setUp()
        self.profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", "true")

    def test_requests(self):
        with self.serving(self.profile) as address:
            word = address.rstrip("/").rsplit("/", 1)[1]
            host = address.removeprefix("http://").split("/")[0]
            base = f"http://{host}/"
            self.assertEqual(fetch(address, "")[0], 200)
            other = word[:-1] + ("1" if word.endswith("0") else "0")
            for path in ("", "d/0/index", "app.js", other + "/", word[:-1] + "/", word.upper() + "/x",
                         "../" + word + "/", "favicon.ico", "%2e%2e/" + word + "/"):
                status, body = fetch(base, path)
                self.assertEqual((status, body), (404, "not found\n"), path)
            for headers, status in (
                    ({"Host": "evil.example"}, 403), ({"Host": "127.0.0.1.evil.example"}, 403),
                    ({"Host": ""}, 403), ({"Host": "localhost:1234"}, 200),
                    ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403),
                    ({"Origin": f"http://{host}"}, 200), ({"Sec-Fetch-Site": "cross-site"}, 403),
                    ({"Sec-Fetch-Site": "same-site"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200),
                    ({"Transfer-Encoding": "chunked"}, 400), ({"Content-Length": "5"}, 400)):
                self.assertEqual(fetch(address, "profiles", headers=headers)[0], status, headers)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
                self.assertIn(fetch(address, "profiles", method=method)[0], (400, 405), method)
            for path in ("d/0/../../../etc/passwd", "d/0/%2e%2e/%2e%2e/etc/passwd", "d/9/index", "d/-1/index",
                         "d/0/function/../../x", "d/0/costs/nothing", "d/99999999999999999999/why", "diff/0/7",
                         "d/0/", "d//", "d/0/function/<script>alert(1)</script>"):
                status, body = fetch(address, path.replace("<", "%3c").replace(">", "%3e"))
                self.assertEqual(status, 404, path)
                self.assertNotIn("<script", body)
                self.assertNotIn("root:", body)

    def test_headers(self):
        with self.serving(self.profile) as address:
            host, _, rest = address.removeprefix("http://").partition("/")
            connection = http.client.HTTPConnection(host, timeout=30)
            connection.request("GET", f"/{rest}")
            answer = connection.getresponse()
            answer.read()
            policy = answer.getheader("Content-Security-Policy")
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertIn("worker-src blob:;", policy)  # the page's own script alone makes such an address
            self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff")
            self.assertEqual(answer.getheader("Referrer-Policy"), "no-referrer")
            self.assertEqual(answer.getheader("Cache-Control"), "no-store")
            self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))
            connection.close()

    def test_only_this_machine(self):
        self.assertIn("--expose", self.culprit("serve", "--listen", "0.0.0.0", self.profile, status=2).stderr)
        with self.serving(self.profile) as address:
            port = int(address.split(":")[2].split("/")[0])
            listening = run("ss", "-Hltn", f"sport = :{port}", status=None).stdout
            if listening:
                self.assertIn(f"127.0.0.1:{port}", listening)
                self.assertNotIn("0.0.0.0:", listening.split()[3])
        with self.serving("--listen", "0.0.0.0", "--expose", self.profile) as address:
            local = address.replace("0.0.0.0", "127.0.0.1")
            self.assertEqual(fetch(local, "profiles")[0], 200)
            self.assertEqual(fetch(local, "profiles", headers={"Host": "evil.example"})[0], 403)

    def test_hostile_bytes(self):
        with self.serving(self.profile) as address:
            path = "/" + address.split("/", 3)[3]
            for text in (b"", b"\0" * 5000, b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
                         b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                         b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nX: " + b"b" * 200000 + b"\r\n\r\n",
                         b"GET " + path.encode() + b"%00%ff HTTP/9.9\r\nHost: localhost\r\n\r\n",
                         b"POST " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx",
                         b"GET " + path.encode() + b" HTTP/1.1\r\nHost: a\r\nHost: localhost\r\nConnection: close\r\n\r\n"):
                answer = send_raw(address, text, seconds=1)
                self.assertNotIn(b"HTTP/1.1 200", answer, text[:80])
                self.assertEqual(fetch(address, "profiles")[0], 200, text[:80])

    def test_slow_and_many_clients(self):
        with self.serving(self.profile) as address:
            host, port = address.removeprefix("http://").split("/")[0].split(":")
            slow = [socket.create_connection((host, int(port))) for _ in range(4)]
            for one in slow:
                one.sendall(b"GET / HT")
            statuses = []
            ask = lambda: statuses.append(fetch(address, "d/0/places")[0])
            threads = [threading.Thread(target=ask) for _ in range(50)]
            begin = time.monotonic()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            print(f"50 clients beside 4 slow ones: {time.monotonic() - begin:.1f} s")
            self.assertEqual(statuses, [200] * 50)
            for one in slow:
                one.close()

    def test_profiles_of_a_folder(self):
        folder = self.folder / "nightly"
        folder.mkdir()
        self.assertIn("holds no profile", self.culprit("serve", folder, status=1).stderr)
        for name in ("b.culprit", "a.culprit", "notes.txt"):
            shutil.copy(self.profile, folder / name)
        with self.serving(folder) as address:
            status, body = fetch(address, "profiles")
            self.assertEqual(status, 200)
            names = [os.path.basename(one["name"]) for one in json.loads(body)["profiles"]]
            self.assertEqual(names, ["a.culprit", "b.culprit"])

    def test_an_epoch_has_the_names_of_its_database(self):
        program = self.compile_text("int work(int x) { return x * 3; }\n"
                                    "int main(int n, char** v) { return work(n); }", "day.c", "day",
                                    "-O0", "-g")
        run(BUILD / "day_of_epochs", self.folder / "db", 2, 200, program)
        with self.serving(*sorted((self.folder / "db/epochs").iterdir())) as address:
            for document in ("d/0/hottest", "d/1/hottest", "diff/0/1"):
                status, body = fetch(address, document)
                self.assertEqual(status, 200, body)
                self.assertIn('"work"', body)

    def test_errors_of_the_command(self):
        self.assertIn("No such file", self.culprit("serve", "absent.culprit", status=1).stderr)
        with self.serving(self.profile) as address:
            port = address.split(":")[2].split("/")[0]
            done = self.culprit("serve", "--port", port, self.profile, status=1)
            self.assertIn("cannot listen", done.stderr)


class OneFile(Web):
    """The page as one file: nothing in it comes from elsewhere, and no name becomes markup."""

    def test_has_no_address_and_no_markup_of_names(self):
        source = 'int main(void) { volatile long s = 0; for (long i = 0; i < 40000000; i++) s += i; return 0; }'
        program = self.compile_text(source, "p.c", "<script>alert(1)<!--", "-O1", "-g")
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "none", "-o", "p.culprit", program)
        self.culprit("export", "--to", "html", "-o", "p.html", "p.culprit")
        text = (self.folder / "p.html").read_text()

        class Tags(html.parser.HTMLParser):
            found = []
            def handle_starttag(self, tag, attributes):
                self.found.append((tag, dict(attributes)))
        tags = Tags()
        tags.feed(text)
        for tag, attributes in tags.found:
            self.assertIn(tag, ("html", "head", "meta", "title", "link", "style", "body", "div", "noscript", "script"))
            self.assertIn(attributes.get("href", "data:,"), ("data:,",), tag)
            self.assertNotIn("src", attributes)
            self.assertFalse([name for name in attributes if name.startswith("on")])
        self.assertNotIn("alert(1)", text)
        self.assertIn("default-src 'none'", text)
        # A foreign file is left alone; a page that culprit wrote is replaced.
        self.culprit("export", "--to", "html", "-o", "p.html", "p.culprit")
        (self.folder / "notes.txt").write_text("notes")
        self.culprit("export", "--to", "html", "-o", "notes.txt", "p.culprit", status=1)

    def test_size_has_a_bound(self):
        profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", "sh", "-c", "ls -la /")
        whole = len(self.culprit("export", "--to", "html", profile).stdout)
        done = self.culprit("export", "--to", "html", "--max-size", "60k", profile)
        self.assertLess(len(done.stdout), whole)
        self.assertRegex(done.stderr, r"left out: the code of \d+ functions")


class Browser(Web):
    """What tests in Chromium share: web/test/page.mjs and web/test/steps.mjs."""

    def setUp(self):
        super().setUp()
        self.need("chromium-headless-shell", "node", "npm")

    def packages(self):
        """The packages that only tests need, by the lock file; kept beside the build."""
        folder = BUILD / "web-test"
        folder.mkdir(exist_ok=True)
        lock, installed = SOURCE / "web/package-lock.json", folder / "installed-lock.json"
        with open(folder / "lock", "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # tests run beside each other
            if not installed.exists() or installed.read_text() != lock.read_text():
                for name in ("package.json", "package-lock.json"):
                    shutil.copy(SOURCE / "web" / name, folder)
                done = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", cwd=folder, status=None,
                           timeout=200)
                if done.returncode != 0:
                    self.skipTest(f"npm: {done.stderr[-300:]}")
                shutil.copy(lock, installed)
        return folder

    def node(self, script, *arguments, **options):
        done = run("node", SOURCE / "web/test" / script, self.packages(), *arguments, status=None, timeout=200,
                   env={**os.environ, "HOME": str(self.folder)}, **options)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def drive(self, job, *arguments):
        return self.node("page.mjs", job, *arguments)

    def steps(self, address, *steps):
        """What the steps found (web/test/steps.mjs); nothing may go wrong on the way."""
        done = self.done = self.node("steps.mjs", address, input=json.dumps(steps))
        for trouble in "errors", "elsewhere", "dialogs":
            self.assertEqual(done[trouble], [])
        return done["found"]


class Path(Web):
    def test_a_programs_report_ends_with_the_page(self):
        lines = self.culprit("true", cwd=self.folder).stdout.splitlines()
        self.assertEqual("        culprit serve   in a browser", lines[-1])
        self.assertTrue(lines[-2].startswith("Next "), lines[-2])


class Page(Browser):
    """web/test/page.mjs drives Chromium; here is what it finds against what the terminal says."""

    def test_types_are_those_of_the_schemas(self):
        folder = self.packages()
        (folder / "web").mkdir(exist_ok=True)
        link = folder / "web/node_modules"
        if not link.exists():
            link.symlink_to("../node_modules")
        for name in ("types.mjs", "tsconfig.json"):
            shutil.copy(SOURCE / "web" / name, folder / "web")
        shutil.copytree(SOURCE / "web/src", folder / "web/src", dirs_exist_ok=True)
        shutil.copytree(SOURCE / "schema", folder / "schema", dirs_exist_ok=True)
        run("node", "types.mjs", "--check", cwd=folder / "web")
        run("node", folder / "node_modules/typescript/bin/tsc", "--noEmit", cwd=folder / "web")

    def test_screens_show_what_json_says(self):
        profile = self.simulated_profile()
        with self.serving(profile, profile) as address:
            found = self.drive("screens", address)
        self.check(found, profile)
        self.assertEqual(set(found["screens"]), {"overview", "functions", "function", "calls", "data", "locality", "source",
                                                 "regions", "differences", "help"})

    def test_screens_of_one_file_do_too(self):
        profile = self.simulated_profile()
        self.culprit("export", "--to", "html", "-o", "page.html", profile)
        self.check(self.drive("screens", (self.folder / "page.html").as_uri()), profile)

    def check(self, found, profile):
        why = self.answer_json("why", profile)
        report = self.answer_json("report", profile, "--by", "function", "--limit", "1")
        self.assertEqual(found["errors"], [])
        self.assertEqual(found["requests_elsewhere"], [])
        self.assertEqual(found["hottest"], report["rows"][0]["function"])
        self.assertEqual(min(found["advice"], 5), len(why["advice"]))  # five on a terminal
        self.assertTrue(found["tree"].startswith("?" + three_digits(why["tree"]["cycles"]["value"])), found["tree"])
        self.assertEqual(found["violations"], [])
        self.assertEqual(found["sought"], ["product"])
        self.assertEqual(found["after_back"], "functions")
        self.assertTrue(found["restored"])
        self.assertGreaterEqual(found["blocks"], 4)
        self.assertGreater(found["linked"], 0)
        self.assertIn("kept in", found["objects"])
        # Beside the last line of a statement stand its figures; below, what is behind it.
        rows = self.answer_json("locality", profile)["rows"]
        hottest = next(row for row in rows if "line" in row)
        self.assertEqual(found["statement"]["line"], str(hottest["last_line"]))
        self.assertIn(f":{hottest['line']}", found["statement"]["part"])


def three_digits(value):
    """As the page writes an amount."""
    for step, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= step * 0.9995:
            value /= step
            return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {letter}"
    return str(value)
