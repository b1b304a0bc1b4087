#!/usr/bin/env python3
"""queries.py DASHBOARD RULES SOMA PROMETHEUS: while sessions work, every query of the dashboard and every
metric of the rules returns data. SOMA and PROMETHEUS are addresses of running servers."""

import json
import re
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LIMIT_S = 60


def ask(url, body=None, session=None, method=None):
    headers = {"Soma-Session": session} if session else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    request = urllib.request.Request(url, body, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
    except urllib.error.HTTPError as error:
        text = error.read()
    return json.loads(text) if text else None


def work(soma, stop):
    """Some of everything that the dashboard shows, errors and reuse included."""
    batch = [{"op": "stream.create", "as": "s"},
             {"op": "pool.create", "maxSize": "64MiB", "as": "p"},
             {"op": "pool.malloc", "pool": "$p", "size": 4096, "stream": "$s", "as": "a"},
             {"op": "pool.free", "pool": "$p", "ptr": "$a", "stream": "$s"},
             {"op": "pool.malloc", "pool": "$p", "size": 4096, "stream": "$s", "as": "b"},
             {"op": "pool.free", "pool": "$p", "ptr": "$b", "stream": "$s"},
             {"op": "stream.synchronize", "stream": "$s"}]
    while not stop.is_set():
        opened = ask(f"{soma}/v1/sessions", {"devices": 1})
        session = opened.get("session")
        if session is None:
            time.sleep(0.1)
            continue
        ask(f"{soma}/v1/commands", {"commands": batch}, session)
        ask(f"{soma}/v1/devices/0/pools/1:malloc", {"size": 100}, session)
        ask(f"{soma}/v1/devices/0/pools/7:malloc", {"size": 100}, session)
        ask(f"{soma}/v1/sessions/{session}", method="DELETE")
        time.sleep(0.02)


def queries_of(dashboard, rules):
    found = []
    for panel in dashboard["panels"]:
        if panel["type"] != "row" and not panel.get("targets"):
            sys.exit(f"the panel {panel['title']} asks nothing")
        for target in panel.get("targets", []):
            found.append((panel["title"], target["expr"]))
    # Alerts are silent while all is well; what they look at has to be there.
    for metric in sorted(set(re.findall(r"\bsoma_[a-z_]+", rules))):
        found.append(("rules", metric))
    return found


def has_data(prometheus, expression):
    expression = expression.replace("$__rate_interval", "10s").replace("$instance", ".*")
    answer = ask(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
    if answer["status"] != "success":
        sys.exit(f"{expression}: {answer.get('error')}")
    values = [row["value"][1] for row in answer["data"]["result"]]
    return any(value != "NaN" for value in values)


def wait_for(url):
    until = time.monotonic() + LIMIT_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def main():
    dashboard_file, rules_file, soma, prometheus = sys.argv[1:]
    with open(dashboard_file, encoding="utf-8") as file:
        dashboard = json.load(file)
    with open(rules_file, encoding="utf-8") as file:
        queries = queries_of(dashboard, file.read())
    wait_for(f"{soma}/readyz")
    wait_for(f"{prometheus}/-/ready")
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(soma, stop))
    thread.start()
    until = time.monotonic() + LIMIT_S
    waiting = queries
    try:
        while waiting and time.monotonic() < until:
            time.sleep(1)
            waiting = [(title, query) for title, query in waiting if not has_data(prometheus, query)]
    finally:
        stop.set()
        thread.join()
    for title, query in waiting:
        print(f"no data: {title}: {query}")
    print(f"{len(queries)} queries, {len(queries) - len(waiting)} return data")
    sys.exit(1 if waiting else 0)


main()
