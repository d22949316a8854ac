"""culprit templates: those that are shipped are right, and what is wrong with a damaged copy
is told with its file and line; the facts that they were made from.

Facts: ../shared/facts/hca-templates (tables of Gooda's templates and of proposals for newer
CPUs), used in place where present.
"""
import json
import pathlib
import re
import unittest

import jsonschema

from harness import SOURCE, CulpritTest

FOLDER = SOURCE / "data/templates"
FACTS = SOURCE.parent / "shared/facts/hca-templates"
SCHEMA = jsonschema.Draft7Validator(json.loads((SOURCE / "schema/templates.schema.json").read_text()))
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
BITS_OF_THE_KERNEL = 0x510000   # user, interrupt, enable: libpfm4 puts them into codes


def row_lines(text, event):
    """(first, last) line of the [[row]] of an event, from 1."""
    lines = text.splitlines()
    at = lines.index(f'event = "{event}"')
    first = max(i for i in range(at) if lines[i] == "[[row]]")
    last = next((i for i in range(at, len(lines)) if not lines[i].strip()), len(lines))
    return first + 1, last


class Shipped(CulpritTest):
    def test_lint_finds_nothing(self):
        text = self.culprit("templates", "lint").stdout
        self.assertTrue(text.endswith(f"{len(NAMES)} templates, 0 findings\n"), text)

    def test_lint_says_who_checked_the_codes(self):
        text = self.culprit("templates", "lint").stdout
        self.assertRegex(text, r"(?m)^skylake-sp: \d+ codes by libpfm4$")
        self.assertRegex(text, r"(?m)^sapphire-rapids: \d+ codes by libpfm4, 3 of them corrected$")
        self.assertRegex(text, r"(?m)^power9: \d+ codes by our own table, as libpfm4 does not know")
        self.assertRegex(text, r"(?m)^simulated-core: \d+ simulated events, without codes$")

    def test_the_list_has_all_and_follows_the_schema(self):
        listed = json.loads(self.culprit("templates", "list", "--format", "json").stdout)
        SCHEMA.validate(listed)
        self.assertEqual([one["name"] for one in listed["templates"]], NAMES)
        for one in listed["templates"]:
            self.assertEqual(one["full"] + one["partial"] + one["none"], 11, one)
        text = self.culprit("templates").stdout
        for name in NAMES:
            self.assertRegex(text, f"(?m)^{name} ")

    def test_each_is_shown_and_follows_the_schema(self):
        for name in NAMES:
            with self.subTest(template=name):
                shown = json.loads(self.culprit("templates", "show", name, "--format", "json").stdout)
                SCHEMA.validate(shown)
                text = self.culprit("templates", "show", name).stdout
                for row in shown["template"]["rows"]:
                    self.assertIn(row["event"], text)

    def test_the_schema_refuses_missing_and_unknown_fields(self):
        shown = json.loads(self.culprit("templates", "show", "zen4", "--format", "json").stdout)
        for damage in (dict(shown, surprise=1), {"schema": shown["schema"]}):
            self.assertFalse(SCHEMA.is_valid(damage))
        for field in shown["template"]["rows"][0]:
            damaged = json.loads(json.dumps(shown))
            del damaged["template"]["rows"][0][field]
            self.assertFalse(SCHEMA.is_valid(damaged), field)

    def test_the_simulated_core_has_the_events_of_the_software_pmu(self):
        """All of them, and no other: no library would find a name that is mistyped. Those of
        forecasts (what would remain without a cost) are no costs themselves."""
        source = (SOURCE / "src/simulate/simulated_events.cc").read_text()
        events = re.findall(r'(?m)^    (?:\{|of_\w+\()"([^"]+)", k?\w+', source)
        self.assertIn("sim:cycles", events)
        shown = json.loads(self.culprit("templates", "show", "simulated-core", "--format", "json").stdout)
        costs = {name for name in events if not re.match("sim:(replayed-cycles|without-|with-slow-)", name)}
        self.assertLess(len(costs), len(set(events)))
        self.assertEqual({row["event"] for row in shown["template"]["rows"]}, costs)

    def test_words_that_are_wrong(self):
        for arguments, status, word in ((["show", "zen7"], 1, "did you mean zen"),
                                        (["show"], 2, "show takes one template"),
                                        (["list", "zen4"], 2, "list takes no name"),
                                        (["lint", "--format", "json"], 2, "has no --format"),
                                        (["burn"], 2, "is not one of list, show, lint"),
                                        (["lint", "nowhere.toml"], 1, "No such file")):
            with self.subTest(arguments=arguments):
                done = self.culprit("templates", *arguments, status=status)
                self.assertIn(word, done.stdout + done.stderr)


def at_row(event):
    """The finding is in the row's first line."""
    return lambda text: row_lines(text, event)[0]


def at_text(part):
    return lambda text: text[:text.index(part)].count("\n") + 1


def in_row(event, old, new):
    def change(text):
        first, last = row_lines(text, event)
        lines = text.splitlines(keepends=True)
        row = "".join(lines[first - 1:last])
        assert old in row, (event, old)
        return "".join(lines[:first - 1]) + row.replace(old, new, 1) + "".join(lines[last:])
    return change


def without_row(event):
    def change(text):
        first, last = row_lines(text, event)
        lines = text.splitlines(keepends=True)
        return "".join(lines[:first - 1] + lines[last + 1:])
    return change


def replaced(old, new):
    def change(text):
        assert old in text, old
        return text.replace(old, new, 1)
    return change


def doubled(event):
    def change(text):
        first, last = row_lines(text, event)
        return text + "\n" + "\n".join(text.splitlines()[first - 1:last]) + "\n"
    return change


IVB = "ivy-bridge-ep"
DRAM = "MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM"
# kind of fault: template, change, the line of the damaged text, words of the message
FAULTS = {
    "no TOML": (IVB, replaced("[[row]]", "[[row"), at_text("[[row\n"), ""),
    "an unknown key": ("zen4", replaced("period = ", "perriod = "), at_text("perriod"), "no key row.perriod"),
    "a branch that there is not": ("zen3", in_row("DIV_OP_COUNT", "instruction_latency", "division"),
                                   at_text('branch = "division"'), "row.branch is one of"),
    "a code that is not the name's": (IVB, in_row("BACLEARS:ANY", "0x1fe6", "0x1ee6"),
                                      at_row("BACLEARS:ANY"), "libpfm4 (as corrected) encodes it as 0x1fe6"),
    "a code of our own table": ("neoverse-n1", in_row("DTLB_WALK", "0x34", "0x35"), at_row("DTLB_WALK"),
                                "our table of this CPU has 0x34"),
    "a second code that is missing": ("skylake-sp", in_row("FRONTEND_RETIRED:L2_MISS", "code1 = 0x13\n", ""),
                                      at_row("FRONTEND_RETIRED:L2_MISS"), "encodes it as 0x1c6 with 0x13"),
    "bits of the kernel": ("ice-lake-sp", in_row("RESOURCE_STALLS:SB", "0x8a2", "0x5108a2"),
                           at_row("RESOURCE_STALLS:SB"), "bits that no counter of this CPU has: 0x510000"),
    "any thread, on AMD": ("zen4", in_row("DIV_OP_COUNT", "0xd4", "0x2000d4"), at_row("DIV_OP_COUNT"),
                           "bits that no counter of this CPU has: 0x200000"),
    "a code too wide for Arm": ("armv8", in_row("BUS_ACCESS", "0x19", "0x10019"), at_row("BUS_ACCESS"),
                                "bits that no counter of this CPU has: 0x10000"),
    "a name that is not": ("zen3", replaced('"DIV_OP_COUNT"', '"DIVISIONS"'),
                           at_row("DIVISIONS"), 'should be "unknown"'),
    "a name of Arm that is not": ("power9", replaced('"PM_CMPLU_STALL_BRU"', '"PM_STALL_BRU"'),
                                  at_row("PM_STALL_BRU"), "has no such event"),
    "an error of libpfm4 that is hidden": (IVB, in_row(DRAM, 'name_state = "wrong"\n', ""), at_row(DRAM),
                                           'name_state is "known", and should be "wrong"'),
    "an error of libpfm4 that is none": ("zen3", in_row("DIV_OP_COUNT", "code = ",
                                                        'name_state = "wrong"\nname_source = "me"\ncode = '),
                                         at_row("DIV_OP_COUNT"), 'should be "known"'),
    "an error of libpfm4 without a source": ("sapphire-rapids", in_row(
        "TOPDOWN:BR_MISPREDICT_SLOTS", "name_source", 'name_source = ""\nnote'),
        at_row("TOPDOWN:BR_MISPREDICT_SLOTS"), "without a name_source"),
    "a PMU that there is not": ("zen4", replaced('libpfm = ["amd64_fam19h_zen4"]', 'libpfm = ["zen4"]'),
                                lambda text: 1, "neither libpfm4 nor our tables know 'zen4'"),
    "another name than the file's": ("zen4", replaced('name = "zen4"', 'name = "zen5"'), lambda text: 1,
                                     "name is 'zen5'"),
    "a row twice": (IVB, doubled("BACLEARS:ANY"), lambda text: text.rindex("[[row]]") and
                    text[:text.rindex("[[row]]")].count("\n") + 1, "BACLEARS:ANY: the row stands in line"),
    "an operand that is in no row": (IVB, without_row("UOPS_RETIRED:RETIRE_SLOTS"),
                                     lambda text: at_text("[[formula]]\nformula = \"wrong_path\"")(text),
                                     "UOPS_RETIRED:RETIRE_SLOTS is in no row, and so is never collected"),
    "a derived row that nobody uses": ("skylake-sp", replaced('"UOPS_DISPATCHED:PORT_7",\n]', "]"),
                                       at_row("UOPS_DISPATCHED:PORT_7"), "no formula has it as an operand"),
    "no period": (IVB, in_row("BACLEARS:ANY", "period = 200003\n", ""), at_row("BACLEARS:ANY"),
                  "there is no row.period here"),
    "a sum that is never sampled": (IVB, in_row("BACLEARS:ANY", "period = 200003", "counting_only = true"),
                                    at_row("BACLEARS:ANY"), "and never sampled"),
    "an operand that is never sampled": ("zen3", in_row("RETIRED_OPS", "period = 2000003", "counting_only = true"),
                                         at_text("[[formula]]"), "some of its operands are counting only"),
    "an event in two sums": ("westmere-ep", doubled("ARITH:CYCLES_DIV_BUSY"),
                             lambda text: text[:text.rindex("[[row]]")].count("\n") + 1, "stands in line"),
    "an event in a sum and a function": (IVB, in_row("BR_INST_RETIRED:NEAR_CALL", 'role = "derive"',
        'role = "sum"\npenalty = 3\nunit = "cycles"\nsource = "s"'),
        at_text('[[formula]]\nformula = "call_overhead"'), "BR_INST_RETIRED:NEAR_CALL is summed in line"),
    "a whole beside its parts": ("power9", in_row("PM_CMPLU_STALL_DCACHE_MISS", 'role = "info"',
                                                  'role = "sum"\nadvice = "Something."'),
                                 at_row("PM_CMPLU_STALL_DMISS_L2L3"),
                                 "it is part of PM_CMPLU_STALL_DCACHE_MISS, which is summed, too"),
    "a part of what is not": ("power9", in_row("PM_CMPLU_STALL_LWSYNC", 'part_of = "PM_CMPLU_STALL_ANY_SYNC"',
                                               'part_of = "PM_SYNC"'), at_row("PM_CMPLU_STALL_LWSYNC"),
                              "part_of PM_SYNC, which is in no row"),
    "an empty cell": ("zen4", in_row("ALLOC_MAB_COUNT:c=4", 'advice = "', 'advice = ""\n# "'),
                      at_text('advice = ""'), "row.advice is empty"),
    "a label that is missing": ("zen4", in_row("ALLOC_MAB_COUNT:c=4", 'label = "', '# "'),
                                at_row("ALLOC_MAB_COUNT:c=4"), "there is no row.label here"),
    "a penalty without a source": ("skylake-sp", in_row("BACLEARS:ANY", "source = ", "# "),
                                   at_row("BACLEARS:ANY"), "there is no row.source here"),
    "no penalty": ("haswell-ep", in_row("BACLEARS:ANY", "penalty = 6\n", ""), at_row("BACLEARS:ANY"),
                   "there is no row.penalty here"),
    "a sum in a branch that is not covered": (
        "zen3", replaced('[coverage.instruction_latency]\ncoverage = "full"',
                         '[coverage.instruction_latency]\ncoverage = "none"\nreason = "Because."'),
        at_text("[coverage.instruction_latency]"), "something is summed there"),
    "full coverage of nothing": (
        "neoverse-n1", replaced('[coverage.port_saturation]\ncoverage = "none"',
                                '[coverage.port_saturation]\ncoverage = "full"'),
        at_text("[coverage.port_saturation]"), 'is "full", and nothing is summed there'),
    "no reason": ("armv8", replaced('[coverage.port_saturation]\ncoverage = "none"\nreason = ',
                                    '[coverage.port_saturation]\ncoverage = "none"\n#'),
                  at_text("[coverage.port_saturation]"), "there is no coverage.port_saturation.reason"),
    "no coverage": ("zen3", replaced('[coverage.port_saturation]', "[coverage.port]"),
                    at_text("[coverage.port]"), "there is no branch port"),
    "a rule about an unknown event": ("neoverse-v1", replaced('left = ["STALL_SLOT"]', 'left = ["STALL_SLOTS"]'),
                                      at_text("[[rule]]"), "STALL_SLOTS is in no row"),
    "a rule with an empty side": ("neoverse-v1", replaced('left = ["STALL_SLOT"]', "left = []"),
                                  at_text("[[rule]]"), "a side is empty"),
    "a function with too few operands": ("zen3", replaced('  "RETIRED_OPS",\n]', "]"), at_text("[[formula]]"),
                                         "wrong_path has 2 to 3 operands, and these are 1"),
    "a function without its constant": ("zen3", replaced("constant = 6\n", ""), at_text("[[formula]]"),
                                        "wrong_path has a constant"),
    "weights that do not fit": ("ice-lake-sp", replaced("weights = [1, 1, ", "weights = [1, "),
                                at_text("weights = [1, 0.5"), "6 weights for 7 operands"),
    "no base": ("ivy-bridge-ep-paper", replaced('base = "ivy-bridge-ep"', 'base = "ivy-bridge"'),
                at_text("base = "), "there is no template ivy-bridge"),
    "a simulated event with a code": ("simulated-core", in_row("calls", "branch = ", "code = 0x1\nbranch = "),
                                      at_text("code = 0x1"), "simulated events have no code"),
}


class Planted(CulpritTest):
    def lint_of(self, name, change):
        """(the damaged text, its path, what lint says of it)"""
        text = change((FOLDER / f"{name}.toml").read_text())
        path = self.folder / f"{name}.toml"
        path.write_text(text)
        if name == "ivy-bridge-ep-paper":
            (self.folder / "ivy-bridge-ep.toml").write_text((FOLDER / "ivy-bridge-ep.toml").read_text())
        return text, path, self.culprit("templates", "lint", path, status=None)

    def check(self, name, change, line, words):
        text, path, done = self.lint_of(name, change)
        self.assertEqual(done.returncode, 1, done.stdout)
        findings = re.findall(r"(?m)^(\S+\.toml):(\d+): (.*)$", done.stdout)
        self.assertIn((str(path), line(text)), {(file, int(at)) for file, at, said in findings if words in said},
                      done.stdout)

    def test_copies_are_right_before(self):
        for name in NAMES:
            done = self.lint_of(name, lambda text: text)[2]
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_kind_of_fault_is_told_with_file_and_line(self):
        for kind, fault in FAULTS.items():
            with self.subTest(fault=kind):
                self.check(*fault)

    def test_what_a_variant_takes_over_is_told_where_it_does(self):
        base = (FOLDER / f"{IVB}.toml").read_text()
        (self.folder / f"{IVB}.toml").write_text(in_row("BACLEARS:ANY", "0x1fe6", "0x1ee6")(base))
        text = (FOLDER / f"{IVB}-paper.toml").read_text()
        path = self.folder / f"{IVB}-paper.toml"
        path.write_text(text)
        said = self.culprit("templates", "lint", path, status=1).stdout
        self.assertIn(f"{path}:{at_text('base = ')(text)}: BACLEARS:ANY: its code is 0x1ee6", said)

    # ---- Errors that Gooda's templates had.

    def test_gooda_took_the_last_port(self):
        """Port saturation is a function of all ports; which one is busiest is not for the file."""
        for name in ("westmere-ep", "sandy-bridge", "sandy-bridge-ep", "ivy-bridge", IVB, "haswell-ep"):
            with self.subTest(template=name):
                shown = json.loads(self.culprit("templates", "show", name, "--format", "json").stdout)
                ports = {row["event"] for row in shown["template"]["rows"] if row["label"].startswith("port ")}
                formula, = [f for f in shown["template"]["formulas"] if f["formula"] == "port_saturation"]
                self.assertEqual(set(formula["operands"]), ports)
                self.assertEqual(len(ports), 8 if name == "haswell-ep" else 6)   # ports of these CPUs
        last = '"UOPS_DISPATCHED_PORT:PORT_4",\n  "UOPS_DISPATCHED_PORT:PORT_5",\n'
        self.check(IVB, replaced(last, '"UOPS_DISPATCHED_PORT:PORT_5",\n'),
                   at_text('[[formula]]\nformula = "port_saturation"'), "PORT_4 is not among its operands")

    def test_gooda_never_collected_haswells_divider(self):
        row = ('\n[[row]]\nevent = "ARITH:FPU_DIV_ACTIVE"\ncode = 0x114\nbranch = "instruction_latency"\n'
               'label = "divider"\nrole = "sum"\npenalty = 1\nunit = "cycles"\nsource = "counts cycles"\n'
               'counting_only = true\nproblem = "p"\nadvice = "a"\n')
        self.check("haswell-ep", lambda text: text + row, at_row("ARITH:FPU_DIV_ACTIVE"), 'should be "unknown"')
        full = replaced('[coverage.instruction_latency]\ncoverage = "partial"\nreason',
                        '[coverage.instruction_latency]\ncoverage = "full"\nreason')
        self.check("haswell-ep", lambda text: full(text) + row, at_row("ARITH:FPU_DIV_ACTIVE"), "never sampled")

    def test_gooda_summed_the_itlb_on_top_of_the_empty_scheduler(self):
        for name in ("sandy-bridge", "sandy-bridge-ep", "ivy-bridge", IVB, "haswell-ep"):
            for event in ("STLB_HIT", "WALK_COMPLETED", "WALK_DURATION"):
                with self.subTest(template=name, event=event):
                    event = f"ITLB_MISSES:{event}"
                    self.check(name, in_row(event, 'role = "info"', 'role = "sum"'), at_row(event),
                               "it is part of RS_EVENTS:EMPTY_CYCLES, which is summed, too")

    def test_goodas_lists_drifted_from_its_templates(self):
        """What is summed is collected: rows are the collection list, and need a period."""
        for name, event in ((IVB, DRAM), ("sandy-bridge-ep", DRAM), ("ivy-bridge", "DTLB_LOAD_MISSES:STLB_HIT")):
            with self.subTest(template=name, event=event):
                text = (FOLDER / f"{name}.toml").read_text()
                first, last = row_lines(text, event)
                self.assertRegex("\n".join(text.splitlines()[first:last]), r"(?m)^period = \d+$")
        self.check("ivy-bridge", in_row(DRAM, "period = 10007", "counting_only = true"),
                   at_row(DRAM), "never sampled")


# ---- What the templates were made from.

def table(file):
    """The rows of a facts file's table, by its header."""
    rows, head = [], None
    for line in (FACTS / file).read_text().splitlines():
        if not line.startswith("|") or line.startswith("|---"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if head is None:
            head = cells
        else:
            rows.append(dict(zip(head, cells)))
    return rows


def codes_of(raw):
    """"0x1d102c2", "0x5101c6 0x13" or "raw 0xad/0x40 c=1 i=1 e=1 MSR 0x3F7=0x7 (...)"."""
    match = re.fullmatch(r"0x([0-9a-f]+)(?: 0x([0-9a-f]+))?", raw)
    if match:
        return int(match[1], 16) & ~BITS_OF_THE_KERNEL, int(match[2] or "0", 16)
    event, mask = re.match(r"raw 0x([0-9a-f]+)/0x([0-9a-f]+)", raw).groups()
    code = int(event, 16) | int(mask, 16) << 8
    for letter, shift in (("c", 24), ("i", 23), ("e", 18)):
        if match := re.search(rf" {letter}=(\d+)", raw):
            code |= int(match[1]) << shift
    match = re.search(r"MSR 0x3F7=0x([0-9a-f]+)", raw)
    return code, int(match[1], 16) if match else 0


GOODA = {"gooda_wsm_ep.md": "westmere-ep", "gooda_snb.md": "sandy-bridge", "gooda_snb_ep.md": "sandy-bridge-ep",
         "gooda_ivb.md": "ivy-bridge", "gooda_ivb_ep.md": IVB, "gooda_hsw_ep.md": "haswell-ep"}
PROPOSED = {"proposed_skx.md": "skylake-sp", "proposed_icx.md": "ice-lake-sp",
            "proposed_spr.md": "sapphire-rapids", "proposed_zen3.md": "zen3", "proposed_zen4.md": "zen4"}
CELLS = {"proposed_neoverse_n1.md": "neoverse-n1", "proposed_neoverse_v1.md": "neoverse-v1",
         "proposed_power9.md": "power9"}

# Their names of branches; level 1 and 2 and records of branches are beside the tree.
BRANCHES = {"bandwidth_saturated": "bandwidth_saturation", "store_resources_saturated": "store_resource_saturation",
            "exception_handling": "microcode_exceptions", "function_calls": "function_call_overhead",
            "cycles": "unhalted", "ref": "general", "inst": "general", "lbr": "general", "level2": "stalled"}
LEVEL_2 = {"unhalted_core_cycles": "unhalted", "uops_retired:stall_cycles": "stalled"}
PLACE = "how many branches there are says nothing about mispredictions alone"
ITLB = "the empty scheduler has these cycles: not summed on top of them"
DRIFT = "Gooda sums it, and its script does not collect it"
NO_CYCLES = "a number of times, not of cycles: it informs without a penalty"
# Deliberate differences: (template or "", event, field) -> why.
DIFFERENT = {
    **{("", f"itlb_misses:{part}", field): ITLB for part in ("stlb_hit", "walk_completed", "walk_duration")
       for field in ("sum",)},
    ("sandy-bridge-ep", "mem_load_uops_llc_miss_retired:local_dram", "period"): DRIFT,
    ("sandy-bridge-ep", "mem_load_uops_llc_miss_retired:remote_dram", "period"): DRIFT,
    ("ivy-bridge", "dtlb_load_misses:stlb_hit", "period"): DRIFT,
    ("ivy-bridge", "mem_load_uops_retired:local_dram", "row"):
        "does not exist; MEM_LOAD_UOPS_LLC_MISS_RETIRED:LOCAL_DRAM takes its place",
    (IVB, "mem_load_uops_llc_miss_retired:local_dram", "code"): "libpfm4 is wrong: Intel's list has 0x3d3",
    ("haswell-ep", "l2_rqsts:code_rd_hit", "code"): "libpfm4 is wrong: Intel's list has 0xc424",
    ("", "cpl_cycles_ring0_trans", "row"): "does not exist on this CPU",
    ("", "other_assists:itlb_miss_retired", "row"): "does not exist on this CPU",
    ("haswell-ep", "arith:fpu_div_active", "row"): "does not exist; ARITH:DIVIDER_UOPS takes its place",
    ("haswell-ep", "arith:fpu_div", "row"): "does not exist on this CPU",
    ("", "br_inst_retired:all_branches", "branch"): PLACE,
    ("", "cpu_clk_unhalted:ref_p", "penalty"): NO_CYCLES,
    ("", "mem_uops_retired:stlb_miss_loads", "penalty"): NO_CYCLES,
    ("", "rs_events:empty_cycles:c=1:i=1:e=1", "penalty"): NO_CYCLES,
}
# The same of the proposals, with the event as they write it.
PROPOSAL_DIFFERENT = {
    ("ice-lake-sp", "CPU_CLK_UNHALTED:ONE_THREAD_ACTIVE", "role"): "what the sibling had is a difference of cycles",
    ("sapphire-rapids", "CPU_CLK_UNHALTED:ONE_THREAD_ACTIVE", "role"): "what the sibling had is a difference of cycles",
    **{(zen, event, "role"): "both together are the operand, which the library encodes as one"
       for zen, event in (("zen3", "OPS_SOURCE_DISPATCHED_FROM_DECODER:X86DECODER_DISPATCHED"),
                          ("zen3", "OPS_SOURCE_DISPATCHED_FROM_DECODER:OPCACHE_DISPATCHED"),
                          ("zen4", "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER"),
                          ("zen4", "OPS_SOURCE_DISPATCHED_FROM_DECODER:OPCACHE"))},
}

class Facts(CulpritTest):
    def setUp(self):
        super().setUp()
        if not FACTS.exists():
            self.skipTest(f"no {FACTS.relative_to(SOURCE.parent)} beside the repository")

    def shown(self, name):
        return json.loads(self.culprit("templates", "show", name, "--format", "json").stdout)["template"]

    def test_every_row_of_goodas_is_here(self):
        met = set()
        for file, name in GOODA.items():
            rows = {row["event"].lower(): row for row in self.shown(name)["rows"]}
            for fact in table(file):
                if "(derived)" in fact["event"]:
                    continue   # a formula, or from branch records: named in the file's comment
                with self.subTest(template=name, event=fact["event"]):
                    self.compare(name, fact, rows, met)
        self.assertEqual({key for key in DIFFERENT if key not in met}, set(), "differences that are none")

    def compare(self, name, fact, rows, met):
        event = fact["event"]

        def differs(field):
            key = next((key for key in ((name, event, field), ("", event, field)) if key in DIFFERENT), None)
            met.add(key)
            return key is not None

        if event not in rows:
            self.assertTrue(differs("row"), "no such row")
            return
        row = rows[event]
        in_sum = fact["in sum"] == "yes"
        collected = fact["period"] != "not collected"
        penalty = float(fact["penalty"] or 0)
        branch = BRANCHES.get(fact["branch"], fact["branch"])
        if branch == "level 1-2":
            branch = LEVEL_2.get(event, "general")
        mine = {"code": int(row["code"], 16), "branch": row["branch"], "period": row["period"], "precise": row["precise"],
                "penalty": row["penalty"] or 0, "sum": row["role"] == "sum"}
        theirs = {"code": codes_of(fact["raw"])[0], "branch": branch, "period": int(fact["period"]) if collected else None,
                  "precise": int(fact["pebs"] or 0), "penalty": penalty,
                  "sum": in_sum or (fact["branch"] == "level 1-2" and row["branch"] in ("unhalted", "stalled"))}
        for field in mine:
            if field == "penalty" and penalty == 0 and row["source"] == "counts cycles":
                continue   # Gooda does not show them in cycles
            if mine[field] != theirs[field]:
                self.assertTrue(differs(field), f"{field} is {mine[field]}, Gooda's {theirs[field]}")

    def test_every_row_of_the_proposals_is_here(self):
        met = set()
        for file, name in PROPOSED.items():
            rows = {row["event"].replace(":", "."): row for row in self.shown(name)["rows"]}
            for fact in table(file):
                event = fact["event"]
                with self.subTest(template=name, event=event):
                    full = event + (":c=6" if "L3_MISS_DEMAND_DATA_RD" in event and "GE" not in event else "")
                    self.assertIn(full.replace(":", "."), rows)
                    row = rows[full.replace(":", ".")]
                    self.assertEqual((int(row["code"], 16), int(row["code1"], 16)), codes_of(fact["raw"]))
                    self.compare_proposal(name, fact, row, met)
        self.assertEqual({key for key in PROPOSAL_DIFFERENT if key not in met}, set(), "differences that are none")

    def compare_proposal(self, name, fact, row, met):
        role = "bound" if "upper bound" in fact["note"] else fact["role"]
        if row["role"] != role:
            key = (name, fact["event"], "role")
            met.add(key)
            self.assertIn(key, PROPOSAL_DIFFERENT, f"role is {row['role']}, not {role}")
        self.assertEqual(row["branch"], BRANCHES.get(fact["branch"], fact["branch"]))
        said = fact["penalty (cycles)"]
        if role not in ("sum", "bound"):
            return
        if re.fullmatch(r"\d+(/\d+)?", said):
            over = said.split("/")
            self.assertAlmostEqual(row["penalty"], int(over[0]) / int(over[-1] if len(over) > 1 else 1), 5)
        elif "TMA: " in said:   # "stlb_hit (TMA: 9)"
            self.assertEqual(row["penalty"], int(re.search(r"TMA: (\d+)", said)[1]))
        else:                   # a word: to be measured
            self.assertEqual(row["unit"], "measured")

    def test_every_cell_of_arm_and_power_is_here(self):
        for file, name in CELLS.items():
            rows = {row["event"]: int(row["code"], 16) for row in self.shown(name)["rows"]}
            cells = re.findall(r"([A-Z_][A-Z0-9_]{3,}) (0x[0-9a-f]+)", (FACTS / file).read_text())
            self.assertGreater(len(cells), 10)
            for word, code in cells:
                with self.subTest(template=name, event=word):
                    self.assertTrue(any(value == int(code, 16) and
                                        (event.endswith(word) if word.startswith("_") else event == word)
                                        for event, value in rows.items()), f"{word} {code}")


if __name__ == "__main__":
    unittest.main()
