#!/usr/bin/env python3
"""docs.py SOMAD FILE...: what the documents show is what happens.

Runs the commands of every ```console block of a file, in order, in one bash against a fresh somad
whose address is $S, and compares what they print with what the block shows.
A command begins with "$ " and goes on in lines that begin with "> ". White space does not count;
"…" in the document stands for anything.
"""

import os
import re
import subprocess
import sys
import tempfile


def commands_of(path):
    """[(line number, command, expected output)] of a file."""
    found, in_block = [], False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if line.startswith("```"):
                in_block = line == "```console"
            elif in_block and line.startswith("$ "):
                found.append([number, line[2:], ""])
            elif in_block and line.startswith("> ") and found:
                found[-1][1] += "\n" + line[2:]
            elif in_block:
                if not found:
                    sys.exit(f"{path}:{number}: output without a command")
                found[-1][2] += line
    return found


def bare(text):
    return re.sub(r"\s+", "", text)


def matches(expected, actual):
    pattern = ".*".join(re.escape(part) for part in bare(expected).split("…"))
    return re.fullmatch(pattern, bare(actual)) is not None


def start(somad, log):
    process = subprocess.Popen([somad, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=log, text=True)
    line = process.stdout.readline()
    if not line.startswith("somad listening on "):
        log.seek(0)
        sys.exit(f"somad did not start: {log.read()}")
    return process, line.split()[-1]


def run(commands, url):
    """What each command prints, both streams."""
    mark = "@@end@@"
    script = "".join(f"{command}\necho; echo {mark}\n" for _, command, _ in commands)
    environment = dict(os.environ, S=url, SOMA_SERVER=url)
    done = subprocess.run(["bash", "-c", "exec 2>&1\n" + script], env=environment, text=True, timeout=300,
                          stdout=subprocess.PIPE, check=False)
    return done.stdout.split(mark)[:-1]


def check(path, somad):
    """Number of commands that print something else."""
    commands, wrong = commands_of(path), 0
    if not commands:
        sys.exit(f"{path}: no ```console block")
    with tempfile.TemporaryFile("w+") as log:
        process, url = start(somad, log)
        try:
            outputs = run(commands, url)
        finally:
            process.terminate()
            process.wait()
    for (number, command, expected), actual in zip(commands, outputs, strict=True):
        if not matches(expected, actual.replace(url, "$S")):
            wrong += 1
            print(f"{path}:{number}: {command}\n  shown:   {expected}\n  printed: {actual.strip()}")
    print(f"{path}: {len(commands)} commands, {wrong} wrong")
    return wrong


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: docs.py SOMAD FILE...")
    sys.exit(1 if sum(check(path, sys.argv[1]) for path in sys.argv[2:]) else 0)


if __name__ == "__main__":
    main()
