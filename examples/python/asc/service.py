"""One session of a soma server."""

import http.client
import json
import os
import urllib.parse


class AscError(ValueError):
    """What the server refused, in its words. A ValueError, because pyasc raises that for some of it."""

    def __init__(self, error):
        detail = error["details"][0]
        super().__init__(f"{detail['reason']}: {error['message']}")
        self.http = error["code"]
        self.reason = detail["reason"]  # a stable word: test for this
        self.acl_error = detail["aclError"]


class Service:
    """A connection and a session on it."""

    def __init__(self):
        server = os.environ.get("SOMA_SERVER", "http://127.0.0.1:8080")
        url = urllib.parse.urlsplit(server)
        if url.scheme != "http" or url.hostname is None:
            raise ValueError(f"SOMA_SERVER is {server!r}; http://HOST:PORT is needed")
        self._connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=30)
        self._headers = {}
        if os.environ.get("SOMA_TOKEN"):
            self._headers["Authorization"] = "Bearer " + os.environ["SOMA_TOKEN"]
        self._session = self.call("POST", "/v1/sessions", {"label": "pyasc's names", "devices": 1})["session"]
        self._headers["Soma-Session"] = self._session

    def call(self, method, path, body=None, accept="application/json"):
        """One request; what is not JSON is answered as text."""
        headers = dict(self._headers, Accept=accept)
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = json.dumps(body)
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read().decode("utf-8")
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        answer = json.loads(content) if is_json and content else content
        if response.status >= 400:
            raise AscError(answer["error"])
        return answer

    def end(self):
        """End the session. A server that is gone has ended it already."""
        try:
            self.call("DELETE", f"/v1/sessions/{self._session}")
        except (AscError, OSError, http.client.HTTPException):
            pass
        finally:
            self._connection.close()
