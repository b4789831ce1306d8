"""A server on loopback that speaks OpenAI's chat completions: prepared answers in order, and what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {
    "prompt_tokens": 30,
    "completion_tokens": 12,
    "total_tokens": 42,
    "prompt_tokens_details": {"cached_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 7},
}


def completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    """Return a whole answer with this message."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice], "usage": USAGE}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return one chunk of a stream."""
    choice = {"index": 0, "finish_reason": finish, "delta": delta}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}


def tool_call(index: int | None, call_id: str | None, name: str | None, arguments: str) -> dict[str, Any]:
    """Return a call, or with an index a piece of one."""
    function = {"arguments": arguments, **({"name": name} if name else {})}
    made: dict[str, Any] = {"type": "function", "function": function}
    return made | ({} if index is None else {"index": index}) | ({"id": call_id} if call_id else {})


class ChatServer:
    """What was asked, and where it listens."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        self.url = ""


@contextmanager
def chatting(*answers: Any) -> Iterator[ChatServer]:
    """Serve these answers, one a request: a list is streamed, a number is an HTTP error, `None` in a list a cut."""
    script = ChatServer(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_POST(self) -> None:
            script.requests.append(json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0)))))
            answer: Any = script.answers.pop(0) if script.answers else 418
            if isinstance(answer, dict) and "$whole" in answer:
                answer = answer["$stream" if script.requests[-1].get("stream") else "$whole"]
            if isinstance(answer, list):
                self._stream(answer)
                return
            is_error = isinstance(answer, int)
            body = {"error": {"message": "simulated", "type": "x", "code": None}} if is_error else answer
            data = json.dumps(body).encode()
            self.send_response(answer if is_error else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, chunks: list[Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for one in [*chunks, "[DONE]"]:
                if one is None:
                    self.close_connection = True
                    return
                text = f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n"
                self.wfile.write(f"{len(text.encode()):x}\r\n{text}\r\n".encode())
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
