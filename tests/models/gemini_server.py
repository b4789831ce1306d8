"""A Gemini server on loopback that gives prepared HTTP answers in order and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.genai import types

from adk_nb.models import Gemini


def candidate(text: str | None = None, finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """Return a whole answer with one candidate, without content when there is no text."""
    first: dict[str, Any] = {"finishReason": finish, **more}
    if text is not None:
        first["content"] = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}
    return {"candidates": [first], "usageMetadata": usage, "modelVersion": "gemini-test-001"}


def failure(code: int, status: str = "", headers: dict[str, str] | None = None, **detail: Any) -> dict[str, Any]:
    """Return an HTTP error in the form of Google's APIs."""
    body = {"error": {"code": code, "message": f"simulated {code}", "status": status, **detail}}
    return {"$code": code, "$body": json.dumps(body), "$headers": headers or {}}


def raw(body: str, content_type: str = "application/json") -> dict[str, Any]:
    """Return a successful answer with exactly this body."""
    return {"$code": 200, "$body": body, "$headers": {"Content-Type": content_type}}


CUT = {"$cut": True}
"""The connection ends in the middle of the answer."""


def piece(*parts: dict[str, Any] | str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk of a stream with these parts, texts given as they are."""
    said = [{"text": part} if isinstance(part, str) else part for part in parts]
    first: dict[str, Any] = {"content": {"role": "model", "parts": said}} if said else {}
    if finish:
        first["finishReason"] = finish
    return {"candidates": [first], **more}


def broken(*chunks: dict[str, Any], then: str = "cut") -> dict[str, Any]:
    """Return a stream that sends these chunks one by one, and then doesn't come to its end.

    Args:
        chunks: What comes before.
        then: `cut` closes the connection, `hang` says nothing until the server stops, anything else is sent as it is
            and ends the stream in order.
    """
    return {"$chunks": list(chunks), "$then": then}


class GeminiServer:
    """What was asked of the server, and where it listens."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = list(answers)
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self.is_over = threading.Event()

    @property
    def calls(self) -> int:
        """How many requests came in."""
        return len(self.requests)

    def gemini(self, **fields: Any) -> Gemini:
        """Return a real Gemini model that asks this server."""
        fields = {"model": "gemini-test", "client_kwargs": {"api_key": "test-key"}, **fields}
        return Gemini(base_url=self.url, **fields)


@contextmanager
def serving(*answers: Any) -> Iterator[GeminiServer]:
    """Serve these answers, one a request; a list is streamed as chunks."""
    script = GeminiServer(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.paths.append(self.path)
            script.headers.append({name.lower(): value for name, value in self.headers.items()})
            script.requests.append(json.loads(body))
            answer: Any = script.answers.pop(0) if script.answers else failure(418, "SCRIPT_IS_OVER")
            if isinstance(answer, dict) and "$whole" in answer:
                answer = answer["$stream" if "streamGenerateContent" in self.path else "$whole"]
            if answer is CUT:
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"candidates": [')
                self.close_connection = True
                return
            if isinstance(answer, dict) and "$chunks" in answer:
                self._send_broken(answer["$chunks"], answer["$then"])
                return
            self._send(answer)

        def _send_broken(self, chunks: list[Any], then: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            texts = [f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks]
            for text in texts if then in ("cut", "hang") else [*texts, then]:
                self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
                self.wfile.flush()
            if then == "hang":
                script.is_over.wait()
            if then in ("cut", "hang"):
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def _send(self, answer: Any) -> None:
            if isinstance(answer, list):
                text = "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in answer)
                answer = raw(text, "text/event-stream")
            elif "$code" not in answer:
                answer = raw(json.dumps(answer))
            data = answer["$body"].encode()
            self.send_response(answer["$code"])
            for name, value in {"Content-Type": "application/json", **answer["$headers"]}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        script.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def quick(attempts: int = 4, **fields: Any) -> types.HttpRetryOptions:
    """Return retry options without noticeable delays."""
    return types.HttpRetryOptions(**{"attempts": attempts, "initial_delay": 0.0, "jitter": 0.0, **fields})
