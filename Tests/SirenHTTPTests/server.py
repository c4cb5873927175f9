"""A server for the tests of SirenHTTP: says its port, and behaves as the path says."""
import gzip, hashlib, http.server, json, os, ssl, sys, threading, time, zlib

SIREN = "application/vnd.siren+json"
seen = []
# More than is taken, in few bytes.
bomb = gzip.compress(bytes(8 << 20))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle(self):
        first = self.rfile.peek(1)[:1]
        if first == b"\x05":
            self.answer_socks()
        if first == b"\x16":
            # TLS, which is not spoken here.
            self.wfile.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        else:
            super().handle()

    def answer_socks(self):
        # As a proxy (RFC 1928) whose way leads to itself.
        methods = self.rfile.read(2)[1]
        self.rfile.read(methods)
        self.wfile.write(b"\x05\x00")
        host = self.rfile.read(self.rfile.read(5)[4]).decode()
        port = int.from_bytes(self.rfile.read(2), "big")
        seen.append({
            "method": "SOCKS", "path": f"{host}:{port}", "length": 0, "sha256": "", "client": self.client_address[1],
            "headers": {},
        })
        self.wfile.write(b"\x05\x00\x00\x01" + bytes(6))

    def handle_any(self):
        length = int(self.headers.get("Content-Length", 0))
        if self.path == "/early":
            self.answer(b"", status=413)
        if self.path.startswith("/resize?"):
            # Far more is to come than what is on its way.
            path, size = self.path.partition("?")[2].split(",")
            os.truncate(path, int(size))
        body = self.rfile.read(length)
        path = self.path.split("?")[0]
        request = {
            "method": self.command, "path": self.path, "length": length, "sha256": hashlib.sha256(body).hexdigest(),
            "headers": {name.lower(): value for name, value in self.headers.items()}, "client": self.client_address[1],
        }
        seen.append(request)
        answer = getattr(self, "on_" + path.strip("/").replace("-", "_"), None)
        if answer:
            return answer()
        self.answer(json.dumps(request).encode(), "application/json")

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = handle_any

    def do_CONNECT(self):
        # As a proxy whose way leads to itself.
        seen.append({
            "method": self.command, "path": self.path, "length": 0, "sha256": "", "client": self.client_address[1],
            "headers": {name.lower(): value for name, value in self.headers.items()},
        })
        self.send_response(200)
        self.end_headers()

    def answer(self, body, type=SIREN, status=200, **headers):
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def on_(self):
        self.answer(json.dumps({
            "class": ["members"],
            "links": [{"rel": ["self"], "href": ""}, {"rel": ["search"], "href": "members{?card}"}],
        }).encode())

    def on_members(self):
        card = self.path.partition("card=")[2]
        self.answer(json.dumps({
            "class": ["member"], "properties": {"card": card, "visits": 1},
            "links": [{"rel": ["self"], "href": "members/" + card}],
            "actions": [{
                "name": "check-in", "method": "POST", "href": "visits",
                "fields": [{"name": "card", "type": "hidden", "value": card}],
            }],
        }).encode())

    def on_visits(self):
        self.answer(b"", status=201, Location="visits/1")

    def on_seen(self):
        self.answer(json.dumps(seen).encode(), "application/json")

    def on_folded(self):
        head = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nLink: <a>;\r\n  title="x: y"\r\n\r\n'
        self.wfile.write(head + b"{}")

    def on_gzip(self):
        self.answer(gzip.compress(json.dumps({"title": "x" * 1000}).encode()), Content_Encoding="gzip")

    def on_bomb(self):
        self.answer(bomb, Content_Encoding="gzip")

    def on_broken_gzip(self):
        self.answer(b"no gzip at all", Content_Encoding="gzip")

    def on_chunked(self):
        self.send_response(200)
        self.send_header("Content-Type", SIREN)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (b'{"ti', b'tle":"in ', b'parts"}'):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def on_endless(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            self.wfile.write(b"1;a=b\r\n \r\n" * 1000)

    def on_endless_bomb(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n")
        pack = zlib.compressobj(wbits=31)
        while True:
            part = pack.compress(bytes(1 << 20))
            if part:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def on_endless_head(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            self.wfile.write(b"X-More: more\r\n" * 1000)

    def on_endless_field(self):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-More: ")
        while True:
            self.wfile.write(b"more" * 1000)

    def on_endless_heads(self):
        while True:
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            time.sleep(0.001)

    def on_cookie(self):
        self.answer(b"{}", Set_Cookie="session=geheim")

    def on_big(self):
        self.answer(bytes(3 << 20), "application/octet-stream")

    def on_cut(self):
        self.send_response(200)
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"{")
        self.close_connection = True

    def on_none(self):
        self.close_connection = True

    def on_early(self):
        pass

    def on_broken_tls(self):
        # Beside TLS.
        os.write(self.connection.fileno(), b"no TLS at all")
        self.close_connection = True

    def on_silent(self):
        time.sleep(600)

    def on_drip(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        while True:
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.05)

    def on_away(self):
        self.send_response(307)
        self.send_header("Location", self.path.partition("?")[2])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    if "certificates" in sys.argv:
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
# It ends with the process that started it.
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
