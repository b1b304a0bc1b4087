#!/usr/bin/env python3
"""drive.py URL --kill COMMAND [--drain COMMAND] [--restart COMMAND]: sessions behind a balancer.

Opens sessions, keeps all of them busy, and has one instance killed meanwhile: its sessions fail, with the
errors that the contract tells, and nothing else does; what the others hold is as it was. Then has another
instance drained (its sessions go on, no new ones come), and the killed one started anew.
In a COMMAND {} stands for the name of the instance. Exit code 0 when all of it held.
"""

import argparse
import base64
import http.client
import json
import subprocess
import sys
import threading
import time
from collections import Counter

THREADS = 8
TIMEOUT_S = 60
LOST = "SESSION_LOST"
UNAVAILABLE = "INSTANCE_UNAVAILABLE"
CUT = "the connection was closed without an answer"


class Answer:
    def __init__(self, response):
        self.http = 0  # no answer
        if response is None:
            return
        self.http = response.status
        self.instance = response.getheader("X-Soma-Instance")
        self.body = response.read()
        self.json = json.loads(self.body) if self.body else None

    def reason(self):
        """None: no error. An error that has not the contract's form is an exception."""
        if self.http == 0:
            return CUT
        if self.http < 400:
            return None
        error = self.json["error"]
        assert error["code"] == self.http and error["message"] and error["status"], self.body
        return error["details"][0]["reason"]


class Client:
    """A connection of its own for each thread."""

    def __init__(self, where):
        self.where = where
        self.connection = None

    def ask(self, method, path, body=None, session=None):
        headers = {} if session is None else {"Soma-Session": session}
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        is_new = self.connection is None
        if is_new:
            self.connection = http.client.HTTPConnection(self.where, timeout=TIMEOUT_S)
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
        except ConnectionError:
            # Any server may close a connection that it has kept; a new one it has to answer on.
            self.connection = None
            if is_new:
                raise
            return Answer(None)
        answer = Answer(response)
        if response.will_close:
            self.connection.close()
            self.connection = None
        return answer


class Session:
    """One session, and what it has to hold."""

    def __init__(self, client, number):
        answer = client.ask("POST", "/v1/sessions", {"label": f"scale {number}", "devices": 1})
        self.reason = answer.reason()
        if self.reason is not None:
            return
        self.id = answer.json["session"]
        self.home = answer.instance
        assert self.id.startswith(self.home + "-"), (self.id, self.home)
        self.number = number
        self.mallocs = 0

    def run(self, client, commands):
        answer = client.ask("POST", "/v1/commands", {"commands": commands}, self.id)
        if answer.reason() is not None:
            return answer.reason(), None
        assert answer.instance == self.home, f"{self.id} was answered by {answer.instance}"
        assert answer.json["completed"] == len(commands), answer.body
        return None, answer.json["results"]

    def text(self):
        return base64.b64encode(f"session {self.number} of {self.home}, {self.id}".encode()).decode()

    def fill(self, client):
        reason, results = self.run(client, [
            {"op": "pool.create", "maxSize": "64MiB", "as": "p"},
            {"op": "pool.malloc", "pool": "$p", "size": 4096, "as": "a"},
            {"op": "memory.write", "ptr": "$a", "base64": self.text()}])
        assert reason is None, reason
        self.ptr = results[1]["ptr"]
        self.mallocs = 1

    def work(self, client):
        """A round of commands. None, or the reason of the failure."""
        reason, results = self.run(client, [
            {"op": "pool.malloc", "pool": 1, "size": 4096, "as": "b"},
            {"op": "pool.free", "pool": 1, "ptr": "$b"},
            {"op": "memory.read", "ptr": self.ptr, "size": len(base64.b64decode(self.text()))}])
        if reason is None:
            self.mallocs += 1
            assert results[2]["base64"] == self.text(), f"{self.id} holds something else"
        return reason

    def check(self, client):
        """What it holds is what it was given, no more and no less."""
        assert self.work(client) is None
        answer = client.ask("GET", "/v1/devices/0/pools/1", session=self.id)
        usage = answer.json["usage"]
        assert (usage["mallocs"], usage["frees"]) == (self.mallocs, self.mallocs - 1), (usage, self.mallocs)


class Drive:
    def __init__(self, where, count):
        self.where, self.count = where, count
        self.sessions = []
        self.failures = []  # (time, session, reason)
        self.open_failures = []  # (time, reason)
        self.problems = []
        self.rounds = 0
        self.lock = threading.Lock()
        self.stop = threading.Event()

    def each(self, action, items):
        """action(client, item) for all items, over THREADS threads."""
        def run(share):
            client = Client(self.where)
            try:
                for item in share:
                    action(client, item)
            except Exception as problem:  # pylint: disable=broad-except
                self.problems.append(repr(problem))
        threads = [threading.Thread(target=run, args=(items[i::THREADS],)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.give_up_on_problems()

    def give_up_on_problems(self):
        if self.problems:
            sys.exit("\n".join(self.problems[:5]))

    def open(self):
        def open_one(client, number):
            session = Session(client, number)
            assert session.reason is None, session.reason
            session.fill(client)
            with self.lock:
                self.sessions.append(session)
        self.each(open_one, range(self.count))
        homes = Counter(session.home for session in self.sessions)
        print(f"{len(self.sessions)} sessions: {dict(homes)}")
        assert len(homes) > 1 and min(homes.values()) * 10 >= self.count, "they are not spread"
        return homes

    def keep_busy(self, share):
        client = Client(self.where)
        try:
            while not self.stop.is_set():
                for session in share:
                    reason = session.work(client)
                    with self.lock:
                        self.rounds += 1
                        if reason is not None:
                            self.failures.append((time.monotonic(), session, reason))
        except Exception as problem:  # pylint: disable=broad-except
            self.problems.append(repr(problem))

    def keep_opening(self):
        client = Client(self.where)
        try:
            while not self.stop.is_set():
                session = Session(client, -1)
                if session.reason is None:
                    answer = client.ask("DELETE", f"/v1/sessions/{session.id}")
                    if answer.reason() is not None:
                        self.open_failures.append((time.monotonic(), answer.reason()))
                else:
                    self.open_failures.append((time.monotonic(), session.reason))
        except Exception as problem:  # pylint: disable=broad-except
            self.problems.append(repr(problem))

    def kill_one(self, command, victim):
        threads = [threading.Thread(target=self.keep_busy, args=(self.sessions[i::THREADS],)) for i in range(THREADS)]
        threads.append(threading.Thread(target=self.keep_opening))
        for thread in threads:
            thread.start()
        time.sleep(1.5)
        shell(command, victim)
        killed = time.monotonic()
        time.sleep(5)
        self.stop.set()
        for thread in threads:
            thread.join()
        self.give_up_on_problems()
        reasons = Counter(reason for _, _, reason in self.failures)
        last = max((at for at, _, reason in self.failures if reason != LOST), default=killed) - killed
        print(f"{victim} killed under load: {self.rounds} rounds, failures {dict(reasons)}, "
              f"all {LOST} after {last:.1f} s; opening and ending others: {len(self.open_failures)} failed")
        others = [(session.id, reason) for _, session, reason in self.failures if session.home != victim]
        assert not others, f"sessions of other instances failed: {others[:3]}"
        assert set(reasons) <= {LOST, UNAVAILABLE, CUT} and reasons[LOST] > 0, reasons
        assert reasons[CUT] <= THREADS, "more requests were cut than were under way"
        assert min(at for at, _, _ in self.failures) >= killed - 1, "failures before"
        assert {reason for _, reason in self.open_failures} <= {LOST, UNAVAILABLE, CUT}, self.open_failures
        assert last < 4 and len(self.open_failures) <= 3, "the balancer is slow to see it"

    def check(self, victim):
        """The victim's sessions are lost, the others are as they were."""
        def check_one(client, session):
            if session.home != victim:
                session.check(client)
                return
            for method, path in (("GET", "/v1/devices"), ("GET", f"/v1/sessions/{session.id}"),
                                 ("DELETE", f"/v1/sessions/{session.id}")):
                answer = client.ask(method, path, session=session.id)
                assert (answer.http, answer.reason()) == (404, LOST), (path, answer.body)
        self.each(check_one, self.sessions)
        kept = [session for session in self.sessions if session.home != victim]
        print(f"{len(self.sessions) - len(kept)} sessions are lost and say so, {len(kept)} hold what they held")

    def open_some(self, client, count):
        opened = [Session(client, -1) for _ in range(count)]
        assert all(session.reason is None for session in opened), [session.reason for session in opened]
        for session in opened:
            assert client.ask("DELETE", f"/v1/sessions/{session.id}").reason() is None
        return Counter(session.home for session in opened)

    def drain_one(self, command, leaver, victim):
        client = Client(self.where)
        shell(command, leaver)
        self.open_some(client, 20)  # at once: nobody is refused, whoever takes them
        time.sleep(1.5)
        homes = self.open_some(client, 20)
        assert leaver not in homes, f"{leaver} drains and took sessions: {homes}"
        leaving = [session for session in self.sessions if session.home == leaver]
        for _ in range(2):
            self.each(lambda client, session: session.check(client), leaving)
            time.sleep(1.5)
        self.check(victim)
        for session in leaving:
            answer = client.ask("DELETE", f"/v1/sessions/{session.id}")
            assert answer.reason() is None and answer.instance == leaver, answer.body
        self.sessions = [session for session in self.sessions if session.home != leaver]
        print(f"{leaver} drained: its {len(leaving)} sessions went on to their end, new ones came to {dict(homes)}")

    def restart_one(self, command, victim):
        client = Client(self.where)
        shell(command, victim)
        until = time.monotonic() + 30
        while victim not in self.open_some(client, 4):
            assert time.monotonic() < until, f"{victim} is back and gets no sessions"
            time.sleep(0.2)
        self.check(victim)
        print(f"{victim} started anew: new sessions work there, those of before are {LOST}")


def shell(command, instance):
    subprocess.run(command.replace("{}", instance), shell=True, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("where", help="HOST:PORT of the balancer")
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--kill", required=True)
    parser.add_argument("--drain")
    parser.add_argument("--restart")
    options = parser.parse_args()
    drive = Drive(options.where, options.sessions)
    homes = drive.open()
    victim, leaver = sorted(homes)[:2]
    drive.kill_one(options.kill, victim)
    drive.check(victim)
    if options.drain is not None:
        drive.drain_one(options.drain, leaver, victim)
    if options.restart is not None:
        drive.restart_one(options.restart, victim)


main()
