#!/usr/bin/env python3
"""sizing.py SOMAD: what sessions and requests cost, as the tables of deploy/README.md. Starts somad on a free
port; asks it over one connection, so that times are processor time of the server and not of a queue."""

import http.client
import json
import os
import subprocess
import sys
import time

MIB = 1 << 20


class Server:
    def __init__(self, somad):
        self.process = subprocess.Popen([somad, "--listen", "127.0.0.1:0", "--threads", "2", "--max-sessions", "100000",
                                         "--log-level", "warn"], stdout=subprocess.PIPE, text=True)
        self.where = self.process.stdout.readline().split("//")[1].strip()
        self.connection = http.client.HTTPConnection(self.where, timeout=120)

    def ask(self, method, path, body=None, session=None, raw=None):
        headers = {"Soma-Session": session} if session else {}
        data = raw
        if body is not None:
            data = json.dumps(body, separators=(",", ":"))
        if data is not None:
            headers["Content-Type"] = "application/json" if raw is None else "application/octet-stream"
        self.connection.request(method, path, data, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            sys.exit(f"{method} {path}: {text}")
        return text

    def open(self, count, devices=8):
        return [json.loads(self.ask("POST", "/v1/sessions", {"ttlSeconds": 86400, "devices": devices}))["session"]
                for _ in range(count)]

    def close(self, sessions):
        for session in sessions:
            self.ask("DELETE", f"/v1/sessions/{session}")

    def resident(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def processor_s(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            main = int(file.read().split()[0])
        total = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return max(total, main) / 1e9

    def cost_us(self, count, action):
        """Processor time of the server for one action, the best of three rounds."""
        best = float("inf")
        for _ in range(3):
            before = self.processor_s()
            for _ in range(count):
                action()
            best = min(best, (self.processor_s() - before) / count * 1e6)
        return best

    def end(self):
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def memory(somad):
    print("\n| a session with | bytes |\n|---|---|")

    def row(what, count, devices, fill):
        server = Server(somad)
        warm = server.open(50)
        for session in warm:
            fill(server, session)
        before = server.resident()
        for session in server.open(count, devices):
            fill(server, session)
        print(f"| {what} | {(server.resident() - before) // count:,} |", flush=True)
        server.end()

    def commands(*more):
        def fill(server, session):
            for body in more:
                server.ask("POST", "/v1/commands", {"commands": body}, session)
        return fill

    pool = [{"op": "pool.create", "maxSize": "16GiB"}]
    blocks = [{"op": "pool.malloc", "pool": 1, "size": 4096} for _ in range(1000)]
    row("nothing, 1 device", 5000, 1, lambda server, session: None)
    row("nothing, 8 devices", 5000, 8, lambda server, session: None)
    row("8 devices, 8 streams, 1 pool", 2000, 8, commands([{"op": "stream.create"}] * 8 + pool))
    row("the same, and 1,000 blocks", 200, 8, commands([{"op": "stream.create"}] * 8 + pool, blocks))

    def write(server, session):
        pointer = json.loads(server.ask("POST", "/v1/devices/0/memory:malloc", {"size": 64 * MIB}, session))["ptr"]
        server.ask("PUT", f"/v1/devices/0/memory/{pointer}", None, session, b"x" * MIB)
    row("64 MiB allocated, 1 MiB of them written", 200, 1, write)

    server = Server(somad)
    server.open(1)
    before = server.resident()
    connections = []
    for _ in range(1000):
        connection = http.client.HTTPConnection(server.where, timeout=60)
        connection.request("GET", "/v1/devices/0")
        connection.getresponse().read()
        connections.append(connection)
    print(f"\na connection: {(server.resident() - before) // 1000:,} bytes")
    server.end()


def requests(somad):
    server = Server(somad)
    session = server.open(1)[0]
    server.ask("POST", "/v1/devices/0/pools", {"maxSize": "16GiB"}, session)
    keep = server.ask("POST", "/v1/devices/0/pools/1:malloc", {"size": 2 * MIB}, session)
    assert keep

    def pair():
        pointer = json.loads(server.ask("POST", "/v1/devices/0/pools/1:malloc", {"size": 4096}, session))["ptr"]
        server.ask("POST", "/v1/devices/0/pools/1:free", {"ptr": pointer}, session)
    batch = {"commands": [{"op": "pool.malloc", "pool": 1, "size": 4096, "as": "a"},
                          {"op": "pool.free", "pool": 1, "ptr": "$a"}] * 50}

    def many():
        server.ask("POST", "/v1/commands", batch, session)

    def life():
        server.close(server.open(1))
    rows = [("GET /v1/devices/0", 1, 3000, lambda: server.ask("GET", "/v1/devices/0", session=session)),
            ("pool malloc, and free", 2, 2000, pair),
            ("the same in POST /v1/commands, 100 at a time", 100, 200, many),
            ("a session opened and ended", 2, 1000, life),
            ("GET /livez", 1, 3000, lambda: server.ask("GET", "/livez"))]
    print("\n| request | processor time, µs each | each second of a core |\n|---|---|---|")
    for what, parts, count, action in rows:
        cost = server.cost_us(count, action) / parts
        print(f"| {what} | {cost:.1f} | {1e6 / cost:,.0f} |", flush=True)
    server.end()


def growth(somad):
    print("\n| sessions | malloc and free, µs | open and end one, µs | GET /metrics, ms | GET /v1/sessions, ms |"
          "\n|---|---|---|---|---|")
    server = Server(somad)
    session, count = server.open(1)[0], 1
    server.ask("POST", "/v1/devices/0/pools", {"maxSize": "1GiB"}, session)

    def pair():
        pointer = json.loads(server.ask("POST", "/v1/devices/0/pools/1:malloc", {"size": 4096}, session))["ptr"]
        server.ask("POST", "/v1/devices/0/pools/1:free", {"ptr": pointer}, session)
    for target in (1, 100, 1000, 10000):
        server.open(target - count, 1)
        count = target
        print(f"| {target:,} | {server.cost_us(1000, pair):.1f} "
              f"| {server.cost_us(300, lambda: server.close(server.open(1))):.1f} "
              f"| {server.cost_us(20, lambda: server.ask('GET', '/metrics')) / 1000:.2f} "
              f"| {server.cost_us(5, lambda: server.ask('GET', '/v1/sessions')) / 1000:.2f} |", flush=True)
    server.end()
    print("\n| live blocks in the pool | malloc and free, µs | GET the pool, µs |\n|---|---|---|")
    server = Server(somad)
    session = server.open(1)[0]
    server.ask("POST", "/v1/devices/0/pools", {"maxSize": "60GiB"}, session)
    count = 0
    for target in (1, 100, 1000, 10000):
        blocks = [{"op": "pool.malloc", "pool": 1, "size": 4096}] * (target - count)
        server.ask("POST", "/v1/commands", {"commands": blocks}, session)
        count = target
        print(f"| {target:,} | {server.cost_us(1000, pair):.1f} "
              f"| {server.cost_us(500, lambda: server.ask('GET', '/v1/devices/0/pools/1', session=session)):.1f} |",
              flush=True)
    server.end()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: sizing.py SOMAD")
    begun = time.monotonic()
    memory(sys.argv[1])
    requests(sys.argv[1])
    growth(sys.argv[1])
    print(f"\ntook {time.monotonic() - begun:.0f} s")


main()
