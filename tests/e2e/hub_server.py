"""A hub on this machine that lies, cuts, stalls and refuses as it is told."""
import contextlib
import hashlib
import http.server
import json
import re
import socket
import threading
import time


def tiny_model(n_floats=4096, filling=b"\x01\x02\x03\x3f"):
    """A whole GGUF file with one tensor."""
    def number(value, n_bytes):
        return value.to_bytes(n_bytes, "little")
    file = b"GGUF" + number(3, 4) + number(1, 8) + number(0, 8)
    file += number(1, 8) + b"t" + number(1, 4) + number(n_floats, 8) + number(0, 4) + number(0, 8)
    return file + bytes(-len(file) % 32) + filling * n_floats


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):  # noqa: N802: the library's name
        hub = self.server.hub
        with hub.lock:
            hub.requests.append((self.path, dict(self.headers)))
        listing = re.fullmatch(r"/api/models/([\w.-]+/[\w.-]+)/tree/[^?]+\?recursive=true", self.path)
        scope = re.fullmatch(r"/api/v1/models/([\w.-]+/[\w.-]+)/repo/files\?Revision=\w+&Recursive=true",
                             self.path)
        if listing:
            self.answer_json(hub.hugging_face_listing(listing[1]))
        elif scope:
            self.answer_json(hub.model_scope_listing(scope[1]))
        else:
            self.answer_file(self.path.partition("?")[0])

    def answer_json(self, document):
        deed = self.server.hub.next_deed("listing")
        text = json.dumps(document).encode() if document is not None else b"{}"
        self.give(deed, deed.get("status", 200 if document is not None else 404), {}, deed.get("body", text))

    def answer_file(self, path):
        hub = self.server.hub
        deed = hub.next_deed("file")
        if "redirect" in deed:
            self.give({}, 302, {"Location": deed["redirect"]}, b"moved")
            return
        data = deed.get("body", hub.file_of(path))
        if data is None:
            self.give({}, 404, {}, b"Entry not found")
            return
        fields, status = {}, 200
        etag = deed.get("etag", f'"{sha256(data)}"')
        if etag:
            fields["ETag"] = etag
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if wanted and not deed.get("ignores_range") and self.headers.get("If-Range", etag) == etag:
            first = int(wanted[1])
            status = 206 if first < len(data) else 416
            fields["Content-Range"] = (f"bytes {first}-{len(data) - 1}/{len(data)}" if status == 206
                                       else f"bytes */{len(data)}")
            data = data[first:]
        fields |= deed.get("fields", {})
        self.give(deed, deed.get("status", status), fields, data)

    def give(self, deed, status, fields, body):
        """Head and body, and what the deed does to them; the connection ends where either is wrong."""
        length = deed.get("length", len(body))
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        if length != len(body) or "cut" in deed or "stall" in deed:
            self.close_connection = True
            self.send_header("Connection", "close")
        with contextlib.suppress(OSError):
            self.end_headers()
            if "stall" in deed:
                self.wfile.write(body[:deed["stall"]])
                self.wfile.flush()
                self.server.hub.ended.wait(deed.get("seconds", 60))
                return
            body = body[:deed.get("cut", len(body))]
            if "bytes_per_s" in deed:
                self.give_slowly(body, deed["bytes_per_s"])
            else:
                self.wfile.write(body)
            self.wfile.flush()
            if "cut" in deed and deed.get("reset"):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def give_slowly(self, body, bytes_per_s):
        piece = max(1, bytes_per_s // 50)
        for at in range(0, len(body), piece):
            self.wfile.write(body[at:at + piece])
            self.wfile.flush()
            if self.server.hub.ended.wait(piece / bytes_per_s):
                return


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # a client that goes is part of the tests


class Hub:
    """`with Hub({"owner/repo": {"x.gguf": bytes}}) as hub: hub.address`; deeds are taken in turn."""

    def __init__(self, repositories, tls=None):
        self.repositories = repositories
        self.lock = threading.Lock()
        self.requests = []
        self.deeds = {"file": [], "listing": []}
        self.always = {}  # for each file request after those
        self.ended = threading.Event()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.hub = self
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.address = f"http{'s' if tls else ''}://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05},
                                       daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def next_deed(self, kind):
        with self.lock:
            if self.deeds[kind]:
                return self.deeds[kind].pop(0)
        return self.always if kind == "file" else {}

    def file_of(self, path):
        found = re.fullmatch(r"/(?:models/)?([\w.-]+/[\w.-]+)/resolve/[\w%.]+/(.+)", path)
        if found:
            return self.repositories.get(found[1], {}).get(found[2])
        return self.repositories.get("", {}).get(path[1:])  # files at plain addresses

    def hugging_face_listing(self, name):
        files = self.repositories.get(name)
        return files if files is None else [
            {"type": "file", "path": path, "size": len(data), "oid": "0" * 40,
             "lfs": {"oid": sha256(data), "size": len(data), "pointerSize": 134}}
            for path, data in files.items()]

    def model_scope_listing(self, name):
        files = self.repositories.get(name)
        return files if files is None else {"Code": 200, "Success": True, "Data": {"Files": [
            {"Type": "blob", "Path": path, "Name": path.rpartition("/")[2], "Size": len(data),
             "Sha256": sha256(data)} for path, data in files.items()]}}

    def file_requests(self):
        with self.lock:
            return [(path, headers) for path, headers in self.requests if not path.startswith("/api/")]

    def wait_for_request(self, seconds=30):
        end = time.monotonic() + seconds
        while not self.file_requests() and time.monotonic() < end:
            time.sleep(0.02)
