"""The emulated Arm machine: boots once, runs a list of commands, brings back what they did.

QEMU emulates an Armv8 core with its performance counters, and -icount makes every run the
same. /init is a shell script that runs the commands one by one; standard output, standard
error and wanted files come back over the console in base64, between markers.
"""
import base64
import pathlib
import re
import shutil
import subprocess
import tempfile

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs tmp /tmp
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup /sys/fs/cgroup
export PATH=/bin HOME=/tmp
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent   # or it samples less and less often
cd /tmp; mkdir /sys/fs/cgroup/g
. /commands
poweroff -f
"""
COMMAND = """( {command} ) >/tmp/.out 2>/tmp/.err
echo "@@status {name} $?"
for kind in out err; do echo "@@begin {name} $kind"; base64 /tmp/.$kind; echo "@@end"; done
"""
FILE = """[ ! -f /tmp/{file} ] || {{ echo "@@begin {name} {file}"; base64 /tmp/{file}; echo "@@end"; }}
"""


class Result:
    """What one command did: status, out, err, and the bytes of its files by name."""

    def __init__(self):
        self.status, self.parts = None, {}

    @property
    def out(self):
        return self.parts.get("out", b"").decode(errors="replace")

    @property
    def err(self):
        return self.parts.get("err", b"").decode(errors="replace")


def make_initrd(folder, busybox, programs, templates, commands):
    root = folder / "root"
    for name in ("bin", "proc", "sys", "tmp", "dev", "etc"):
        (root / name).mkdir(parents=True)
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
    shutil.copytree(templates, root / "share/culprit/templates")
    for program in [busybox, *programs]:
        shutil.copy(program, root / "bin" / program.name)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    script = ""
    for name, (command, files) in commands.items():
        script += COMMAND.format(name=name, command=command)
        script += "".join(FILE.format(name=name, file=file) for file in files)
    (root / "commands").write_text(script)
    initrd = folder / "initrd.gz"
    subprocess.run("find . | cpio -o -H newc --quiet | gzip -1 > ../initrd.gz", shell=True, cwd=root,
                   check=True)
    return initrd


def parse_console(text):
    results = {}
    for line in re.finditer(r"^@@status (\S+) (\d+)\r?$", text, re.MULTILINE):
        results.setdefault(line[1], Result()).status = int(line[2])
    for part in re.finditer(r"^@@begin (\S+) (\S+)\r?\n(.*?)^@@end", text, re.MULTILINE | re.DOTALL):
        results.setdefault(part[1], Result()).parts[part[2]] = base64.b64decode(part[3])
    return results


def run_in_machine(kernel, busybox, programs, templates, commands, seconds=300, cpus=1):
    """One CPU: QEMU's count of instructions is that of all its CPUs together.

    `commands`: {name: (shell command, [files in /tmp to bring back])} -> {name: Result}."""
    with tempfile.TemporaryDirectory(prefix="culprit-arm-") as name:
        folder = pathlib.Path(name)
        initrd = make_initrd(folder, busybox, programs, templates, commands)
        done = subprocess.run(
            ["qemu-system-aarch64", "-M", "virt", "-cpu", "max", "-m", "1024", "-smp", str(cpus),
             "-icount", "shift=0,sleep=off", "-nographic", "-net", "none", "-no-reboot", "-kernel", kernel, "-initrd", initrd,
             "-append", "console=ttyAMA0 quiet loglevel=0 panic=1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=seconds)
    console = done.stdout.decode(errors="replace")
    return parse_console(console), console
