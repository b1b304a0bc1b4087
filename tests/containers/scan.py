#!/usr/bin/env python3
"""scan.py BASE IMAGE: what an image of somad should not have. BASE is the image it began with."""

import re
import subprocess
import sys
import tarfile

# Programs that make programs.
COMPILERS = re.compile(r"(^|/)(.*-)?(gcc|g\+\+|cc|c\+\+|cpp|clang|tcc|as|ld|make|cmake|ninja|rustc|go)(-[0-9.]+)?$")
HISTORIES = re.compile(r"(^|/)(\.[a-z]*_?history|\.lesshst|\.viminfo|\.wget-hsts|\.netrc|\.gitconfig|\.git)(/|$)")
LEFTOVERS = re.compile(r"^(soma|stage|build|src)/|^var/lib/apt/lists/.|^var/cache/apt/.*\.bin$|\.(c|h|o|a)$")
ADDED = {"libmicrohttpd12", "libcjson1"}


def packages(image):
    return set(subprocess.run(["docker", "run", "--rm", "--network", "none", "--user", "0", "--entrypoint", "dpkg-query",
                               image, "-W", "-f", "${Package}\n"],
                              check=True, capture_output=True, text=True).stdout.split())


def entries(image):
    """What a container of the image begins with."""
    container = subprocess.run(["docker", "create", image, "true"], check=True, capture_output=True,
                               text=True).stdout.strip()
    try:
        with subprocess.Popen(["docker", "export", container], stdout=subprocess.PIPE) as export:
            with tarfile.open(fileobj=export.stdout, mode="r|") as tar:
                yield from tar
    finally:
        subprocess.run(["docker", "rm", container], check=True, stdout=subprocess.DEVNULL)


def is_bad(entry, is_new):
    """Why, or None."""
    if is_new and LEFTOVERS.search(entry.name):
        return "left over from building"
    if HISTORIES.search(entry.name):
        return "a history, or something else of a person"
    if not entry.isreg() and not entry.isdir():
        return None
    if entry.isreg() and entry.mode & 0o6000:
        return "setuid or setgid"
    if entry.mode & 0o002:
        return "writable by everyone"
    if entry.isreg() and entry.mode & 0o111 and COMPILERS.search(entry.name):
        return "a compiler"
    return None


def main():
    base, image = sys.argv[1:]
    old = {entry.name for entry in entries(base)}
    bad, count = [], 0
    for entry in entries(image):
        count += 1
        why = is_bad(entry, entry.name not in old)
        if why is not None:
            bad.append(f"{entry.name}: {why}")
    strangers = packages(image) - packages(base) - ADDED
    bad += [f"{name}: a package that somad does not need" for name in sorted(strangers)]
    for line in bad[:20]:
        print(line)
    print(f"{count} entries, {len(bad)} of them bad")
    sys.exit(1 if bad or count < 1000 else 0)


main()
