#!/usr/bin/env python3
"""A stream-ordered memory pool from Python: standard library only.

    SOMA_SERVER=http://127.0.0.1:8080 python3 examples/python/soma_article.py

Creates a pool, takes three blocks from it, adds two vectors on the emulated device, frees the
blocks, takes three again and gets the same addresses, trims and destroys the pool. Checks what it
sees; exits with 1 when something is not as documented.

The class Soma below is all that is needed to use soma from Python: copy it.
"""

import http.client
import json
import os
import struct
import sys
import urllib.parse


class SomaError(Exception):
    """An error that the server answered."""

    def __init__(self, error):
        detail = error["details"][0]
        super().__init__(f"{detail['reason']}: {error['message']}")
        self.http = error["code"]
        self.reason = detail["reason"]  # a stable word: test for this
        self.acl_error = detail["aclError"]  # what the C library returns for it


class Soma:
    """A session of a soma server, over one connection. Use it in a with statement.

    options: label, devices, soc, ttlSeconds, clock (POST /v1/sessions).
    """

    def __init__(self, server, **options):
        url = urllib.parse.urlsplit(server)
        if url.scheme != "http" or url.hostname is None:
            raise ValueError(f"SOMA_SERVER is {server!r}; http://HOST:PORT is needed")
        self._connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=30)
        self._headers = {}
        self.session = self.call("POST", "/v1/sessions", options)["session"]
        self._headers["Soma-Session"] = self.session

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.session is not None:
                self.end()
        finally:
            self._connection.close()

    def end(self):
        """End the session; tells what it still held."""
        report = self.call("DELETE", f"/v1/sessions/{self.session}")
        self.session = None
        return report

    def call(self, method, path, body=None):
        """One request. body: bytes go as they are, anything else as JSON. Answers likewise."""
        headers = dict(self._headers)
        if isinstance(body, bytes):
            headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        answer = json.loads(content) if is_json and content else content
        if response.status >= 400:
            raise SomaError(answer["error"])
        return answer


class Pool:
    """A memory pool of device 0."""

    def __init__(self, soma, **options):
        self._soma = soma
        self.created = soma.call("POST", "/v1/devices/0/pools", options)
        self._path = f"/v1/devices/0/pools/{self.created['pool']}"

    def malloc(self, size, stream):
        return self._soma.call("POST", self._path + ":malloc", {"size": size, "stream": stream})

    def free(self, ptr, stream):
        return self._soma.call("POST", self._path + ":free", {"ptr": ptr, "stream": stream})

    def attributes(self):
        return self._soma.call("GET", self._path + "/attributes")

    def set_attribute(self, name, value):
        return self._soma.call("PUT", f"{self._path}/attributes/{name}", {"value": value})

    def trim_to(self, min_bytes_to_keep):
        return self._soma.call("POST", self._path + ":trimTo", {"minBytesToKeep": min_bytes_to_keep})

    def destroy(self):
        return self._soma.call("DELETE", self._path)


def say(text):
    print(f"\n== {text}")


def check(is_good, text):
    if not is_good:
        print(f"NOT AS DOCUMENTED: {text}", file=sys.stderr)
        sys.exit(1)


def run(soma):
    count = 1024
    size = 4 * count

    say("A session: one emulated process, with one device of its own")
    print(f"session {soma.session}")

    say("A stream, and a pool of at most 1 GiB")
    stream = soma.call("POST", "/v1/devices/0/streams")["stream"]
    pool = Pool(soma, maxSize="1GiB")
    pool.set_attribute("releaseThreshold", "64MiB")
    print(f"stream {stream}, pool {pool.created['pool']} at {pool.created['baseAddress']}")

    say(f"Three blocks of {size} bytes on the stream (each takes 2 MiB, the granularity)")
    blocks = [pool.malloc(size, stream) for _ in "xyz"]
    for name, block in zip("xyz", blocks):
        print(f"{name}: {block['ptr']}  {block['reuse']}")
        check(block["reuse"] == "FRESH", "the first blocks must be FRESH")
    x, y, z = (block["ptr"] for block in blocks)

    say(f"x = 0 1 2 ..., y = 0 2 4 ... ({count} floats); z = x + y on the device")
    memory = "/v1/devices/0/memory"
    floats = struct.Struct(f"<{count}f")
    soma.call("PUT", f"{memory}/{x}?stream={stream}", floats.pack(*range(count)))
    soma.call("PUT", f"{memory}/{y}?stream={stream}", floats.pack(*range(0, 2 * count, 2)))
    launch = {
        "kernel": "add_custom",
        "blockDim": 8,
        "args": [{"ptr": x}, {"ptr": y}, {"ptr": z}, {"u32": count}, {"u32": 0}],  # 0: ACL_FLOAT
    }
    times = soma.call("POST", f"/v1/devices/0/streams/{stream}:launchKernel", launch)
    print(f"the kernel runs from {times['startNs']} ns to {times['endNs']} ns of virtual time")
    total = floats.unpack(soma.call("GET", f"{memory}/{z}?size={size}&stream={stream}"))
    print(f"z = {total[0]} {total[1]} {total[2]} ... {total[-1]}")
    check(total == tuple(3.0 * i for i in range(count)), "z must be 3 times the index")

    say("Free on the stream: the memory is unused at once, but it stays with the pool")
    for ptr in (x, y, z):
        pool.free(ptr, stream)
    now = pool.attributes()
    print(f"USED {now['usedMemCurrent']}, RESERVED {now['reservedMemCurrent']}")
    check(now["usedMemCurrent"] == 0, "USED must be 0")
    check(now["reservedMemCurrent"] == 3 * 2097152, "RESERVED must be 3 x 2 MiB")

    say("Three blocks again, before the device has come anywhere: the same stream may use them")
    again = [pool.malloc(size, stream) for _ in "xyz"]
    for block in again:
        print(f"{block['ptr']}  {block['reuse']}")
        check(block["reuse"] == "SAME_STREAM", "a freed block must be reused")
    check([b["ptr"] for b in again] == [x, y, z], "the addresses must be the same")

    say("What is wrong is refused, and says why")
    try:
        pool.malloc("2GiB", stream)
        check(False, "2 GiB cannot come out of 1 GiB")
    except SomaError as error:
        print(f"HTTP {error.http}, ACL error {error.acl_error}: {error}")
        check(error.reason == "POOL_EXHAUSTED", "the reason must be POOL_EXHAUSTED")

    for block in again:
        pool.free(block["ptr"], stream)

    say("Synchronise: the host waits, and memory above the threshold goes back (here: none)")
    done = soma.call("POST", f"/v1/devices/0/streams/{stream}:synchronize")
    print(f"virtual time {done['nowNs']} ns, released {done['releasedBytes']} bytes")
    check(done["releasedBytes"] == 0, "the threshold must keep the memory")

    say("Trim: give all idle memory back now")
    trimmed = pool.trim_to(0)
    print(f"released {trimmed['releasedBytes']} bytes, RESERVED {trimmed['reservedMemCurrent']}")
    check(trimmed["releasedBytes"] == 3 * 2097152, "3 x 2 MiB were idle")

    say("Destroy the pool, end the session")
    destroyed = pool.destroy()
    print(f"left allocated in the pool: {destroyed['leakedAllocations']}")
    check(destroyed["leakedAllocations"] == 0, "nothing was left allocated")
    report = soma.end()
    print(f"the session held: {report['freed']}")
    check(report["leaks"] == [], "nothing may have leaked")


def main():
    server = os.environ.get("SOMA_SERVER", "http://127.0.0.1:8080")
    try:
        with Soma(server, label="Python example", devices=1, ttlSeconds=60) as soma:
            run(soma)
    except SomaError as error:
        sys.exit(f"refused: {error}")
    except OSError as error:
        sys.exit(f"no soma server at {server} ({error}); start somad, or set SOMA_SERVER")
    print("\nAll as documented.")


if __name__ == "__main__":
    main()
