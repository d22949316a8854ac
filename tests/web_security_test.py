"""What must not harm the page and its server: requests without end, clients that are slow on
purpose, requests behind requests, bytes of every kind, and names in a profile that try to be markup."""
import http.client
import os
import random
import re
import socket
import threading
import time

from harness import run
from web_test import Browser, Web, fetch, send_raw


def connect(address):
    host, port = address.removeprefix("http://").split("/")[0].split(":")
    return socket.create_connection((host, int(port)), timeout=5)


class Bounds(Web):
    """The head of a request has 16 kB and 2 s (server/bounded_server.h)."""

    def setUp(self):
        super().setUp()
        self.profile, _ = self.record("--engine", "simulate", "--machine", "none", "--", "true")

    def peak_bytes(self):
        status = open(f"/proc/{self.server.pid}/status").read()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024

    def test_heads_without_end_take_no_memory(self):
        with self.serving(self.profile) as address:
            path = "/" + address.split("/", 3)[3]
            fetch(address, "d/0/places")
            before = self.peak_bytes()
            for begin, part in ((b"", b"a" * 65536), (b"GET /", b"b" * 65536),
                                (f"GET {path} HTTP/1.1\r\n".encode(), b"X-a: " + b"c" * 90 + b"\r\n"),
                                (f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX: ".encode(), b"d" * 65536),
                                (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999999\r\n\r\n".encode(),
                                 b"e" * 65536)):
                sent = 0
                with connect(address) as client, self.assertRaises(OSError, msg=begin):
                    client.sendall(begin)
                    while sent < 64 << 20:
                        sent += client.send(part * (1 + 65536 // len(part)))
                self.assertLess(sent, 32 << 20, begin)
            self.assertLess(self.peak_bytes() - before, 16 << 20)
            self.assertEqual(fetch(address, "profiles")[0], 200)

    def test_a_head_that_is_too_long_is_told_so(self):
        with self.serving(self.profile) as address:
            path = "/" + address.split("/", 3)[3]
            for size, status in ((10000, b"414"), (15000, b"414"), (17000, b"431"), (200000, b"431")):
                answer = send_raw(address, f"GET {path}{'a' * size} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), 3)
                self.assertTrue(answer.startswith(b"HTTP/1.1 " + status), (size, answer[:80]))

    def test_who_sends_a_byte_at_a_time_keeps_nobody_out(self):
        with self.serving(self.profile) as address:
            clients = [connect(address) for _ in range(24)]
            is_over = threading.Event()

            def drip(client):
                try:
                    for byte in b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1000:
                        if is_over.wait(0.1):
                            break
                        client.send(bytes([byte]))
                except OSError:
                    return  # it was sent away, as it should be
            threads = [threading.Thread(target=drip, args=(client,)) for client in clients]
            for thread in threads:
                thread.start()
            self.assertEqual(fetch(address, "profiles")[0], 200)
            # Longer than a head may take: by then each of them was sent away.
            closed = 0
            for client in clients:
                client.settimeout(20)
                try:
                    closed += client.recv(1000) == b""
                except ConnectionError:
                    closed += 1
            self.assertEqual(closed, len(clients))
            is_over.set()
            for thread, client in zip(threads, clients):
                thread.join()
                client.close()

    def test_what_follows_a_request_is_no_request(self):
        with self.serving(self.profile) as address:
            path = "/" + address.split("/", 3)[3]
            hidden = f"GET {path}profiles HTTP/1.1\r\nHost: localhost\r\n\r\n"
            for first in (f"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(hidden)}\r\n\r\n",
                          "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                          f"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(hidden)}\r\n\r\n",
                          "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                          "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"):
                answer = send_raw(address, (first + hidden).encode(), seconds=5)
                self.assertEqual(answer.count(b"HTTP/1.1 "), 1, first)
                self.assertNotIn(b"profiles", answer, first)

    def test_parts_of_an_answer_cannot_be_asked_for(self):
        with self.serving(self.profile) as address:
            many = "bytes=" + ",".join(["0-"] * 1000)
            for wanted in ("bytes=0-10", many):
                self.assertEqual(fetch(address, "app.js", headers={"Range": wanted})[0], 400)

    def test_changed_requests_get_nothing_and_harm_nothing(self):
        seed = 1
        chance = random.Random(seed)
        with self.serving(self.profile) as address:
            host = address.removeprefix("http://").split("/")[0]
            good = (f"GET /{'0' * 32}/d/0/index HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
                    "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nAccept-Encoding: gzip, br\r\n"
                    "Range: bytes=0-5\r\nExpect: 100-continue\r\n\r\n").encode()
            pieces = [b"\r\n", b"\n", b"\0", b"%", b"%00", b"%zz", b"..", b"//", b"\xff\xfe", b":", b"HTTP/1.1", b" ",
                      b"Transfer-Encoding: chunked\r\n", b"Content-Length: 18446744073709551616\r\n", b"Host:", b"?a=b&c",
                      b"#", b"bytes=--1", b"Content-Type: multipart/form-data; boundary=\r\n", b"a" * 9000]
            for round_number in range(400):
                text = bytearray(good)
                for _ in range(chance.randrange(1, 6)):
                    at = chance.randrange(len(text))
                    what = chance.randrange(4)
                    if what == 0:
                        text[at] = chance.randrange(256)
                    elif what == 1:
                        del text[at:at + chance.randrange(1, 40)]
                    elif what == 2:
                        text[at:at] = chance.choice(pieces)
                    else:
                        text[at:at] = text[at:at + chance.randrange(1, 80)]
                    if not text:
                        text = bytearray(b"\n")
                with connect(address) as client:
                    client.sendall(text)
                    client.shutdown(socket.SHUT_WR)
                    answer = b""
                    try:
                        while part := client.recv(65536):
                            answer += part
                    except ConnectionError:
                        pass
                self.assertFalse(re.match(rb"HTTP/1.1 [^45]", answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")),
                                 (seed, round_number, bytes(text)[:300], answer[:80]))
                self.assertNotIn(b"culprit-web", answer)
            self.assertIsNone(self.server.poll())
            self.assertEqual(fetch(address, "profiles")[0], 200)

    def test_fifty_browsers_at_once(self):
        with self.serving(self.profile) as address:
            whole = fetch(address, "app.js")
            self.assertEqual(whole[0], 200)
            answers = []

            def browse():
                answers.extend((fetch(address, "app.js") == whole, fetch(address, "d/0/places")[0] == 200,
                                fetch(address, "d/0/why")[0] == 200))
            threads = [threading.Thread(target=browse) for _ in range(50)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(answers, [True] * 150)


NAMES = ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "javascript:alert(3)",
         "\u202eevil\u202c<!--", "N" * 100000)
FILE = "<b onmouseover=alert(4)>.c"
PROGRAM = "<svg onload=alert(6)>"


class HostileNames(Browser):
    """Names of functions, data, files and programs, lines of source, and words of the command."""

    def hostile_profiles(self):
        """The compiler takes no such names; in its assembly they are put in place of others."""
        head = ["static volatile int sink;", *(f"int hostile_data_{i}[4096];" for i in range(len(NAMES)))]
        code = [f"__attribute__((noinline)) void hostile_function_{i}(void) {{ for (int k = 0; k < 9000; k++) "
                f"hostile_data_{i}[k % 4096] += k; }} // </script><img src=x onerror=alert(5)> \u202e{'s' * 20000}"
                for i in range(len(NAMES))]
        code.append("int main(int words, char** word) { for (int round = 0; round < (words > 3 ? 300 : 1); round++) { "
                    + "".join(f"hostile_function_{i}(); " for i in range(len(NAMES))) + "} return sink; }")
        (self.folder / FILE).write_text("\n".join(code) + "\n")
        (self.folder / "plain.c").write_text("\n".join([*head, f'#line 1 "{FILE}"', *code]) + "\n")
        run("gcc", "-w", "-O1", "-g", "-S", "plain.c", "-o", "plain.s", cwd=self.folder)
        lines = []
        for line in (self.folder / "plain.s").read_text().splitlines():
            quote = "" if line.lstrip().startswith((".string", ".ascii", ".file")) else '"'
            lines.append(re.sub(r"hostile_(function|data)_(\d)", lambda found: quote + NAMES[int(found[2])]
                                + (" data" if found[1] == "data" else "") + quote, line))
        (self.folder / "hostile.s").write_text("\n".join(lines) + "\n")
        run("gcc", "hostile.s", "-o", PROGRAM, cwd=self.folder)
        self.culprit("record", "-q", "--engine", "simulate", "--machine", "zen4", "--locality", "all", "--objects",
                     "site", "-o", "<i>.culprit", f"./{PROGRAM}", "</script><script>alert(7)</script>",
                     "javascript:alert(8)")
        self.culprit("record", "-q", "-g", "-o", "<u>.culprit", f"./{PROGRAM}", "</script><script>alert(7)</script>",
                     "javascript:alert(8)", "and for long")
        return "<i>.culprit", "<u>.culprit"

    def check(self, address, carrier, calls, profile=0):
        """`calls`: whether this one has the calls, or all the rest."""
        # What the page itself never makes, and what names would have made.
        foreign = ("[...document.querySelectorAll('img,iframe,object,embed,b[onmouseover],svg[onload],base,form,"
                   "a[href^=javascript]')].map((one) => one.outerHTML.slice(0, 200))")
        scripts = "[...document.scripts].filter((one) => one.type !== 'text/plain').length"
        # Characters that turn the order of others make source look like what it is not.
        turned = "/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML)"
        wide = "document.documentElement.scrollWidth <= window.innerWidth"
        asked = (["evaluate", foreign], ["evaluate", scripts], ["evaluate", turned], ["evaluate", wide])
        steps, screens = [], []

        def look(screen, *way):
            screens.append((screen, len(steps) + len(way)))
            steps.extend((*way, *asked))
        if calls:
            look("calls", ["open", f"#1/{profile}/calls", ".frame-of-call"], ["settle"])
            found = self.steps(address, *steps)
            self.assertEqual(found[2:6], [[], 1, False, True], carrier)
            return
        for screen, ready in (("overview", "section[aria-label='hottest functions'] tbody tr"),
                              ("functions", "[aria-label=functions] .row:not(.head)"),
                              ("data", "section[aria-label=summary] table"),
                              ("locality", "section[aria-label=summary] table")):
            look(screen, ["open", f"#1/0/{screen}", ready], ["settle"])
        look("address", ["open", "#1/0/functions?q=%3Cimg%20src%3Dx%20onerror%3Dalert(9)%3E&cols=%3Cb%3E&sort=%3Ci%3E",
                         "[aria-label=functions]"], ["settle"])
        look("nowhere", ["open", "#1/0/%3Cimg%20src=x%20onerror=alert(10)%3E/javascript:alert(11)", "main section"],
             ["settle"])
        for name in ("img src", "script>$|script>alert", "javascript", "evil", "^NNNN"):
            pattern = name.replace("|", "%7C").replace(" ", "%20").replace(">", "%3E").replace("$", "%24")
            look(name, ["open", f"#1/0/functions?q={pattern}", "[aria-label=functions] .row:not(.head)"],
                 ["focus", "[aria-label='functions: rows']"], ["press", "ArrowDown"], ["press", "Enter"],
                 ["wait", "[aria-label=assembly] .row:not(.head)"], ["settle"])
        steps.append(["open", "#1/0/functions?q=img%20src", "[aria-label=functions] .row:not(.head)"])
        steps.append(["rows", "functions"])
        found = self.steps(address, *steps)
        plain_scripts = found[screens[0][1] + 1]
        for screen, at in screens:
            self.assertEqual(found[at:at + 4], [[], plain_scripts, False, True], (carrier, screen))
        self.assertEqual(plain_scripts, 1, carrier)
        # It is there, as text.
        self.assertIn(NAMES[0], [row["function"] for row in found[-1]], carrier)

    def test_names_are_text_in_both_carriers(self):
        # Every screen twice, with a name of 100 kB in most documents: that takes its time.
        profiles = self.hostile_profiles()
        with self.serving(*profiles) as address:
            self.check(address, "server", calls=False)
            self.check(address, "server", calls=True, profile=1)
        for profile, calls in zip(profiles, (False, True)):
            page = self.folder / f"{calls}.html"
            self.culprit("export", "--to", "html", "-o", page, profile)
            text = page.read_text()
            for number in range(1, 9):
                self.assertNotIn(f"alert({number})", text)
            self.check(page.as_uri(), "file", calls)
