#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server as clients and attackers see it: routes, headers, links, tokens, many clients at once, a clean end."""
import base64
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import zlib

TTMEM = os.environ["TTMEM"]
LOG = os.path.join(os.environ["TTMEM_SOURCE"], "tests/cli/data/two_runs_oom_profile.log")
work = tempfile.mkdtemp()
FEWER = os.path.join(work, "fewer_profile.log")
os.environ["TTMEM_HOME"] = os.path.join(work, "home")
reports = os.path.join(work, "home", "reports")
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)
        print("FAIL:", what, file=sys.stderr)


class Server:
    def __init__(self, *args, token=False):
        args = args if token else ("--no-token", *args)
        self.process = subprocess.Popen([TTMEM, "serve", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0]) if self.url else 0
        self.path = "/" + self.url.split("/", 3)[3] if self.url else ""

    def stop(self, how=signal.SIGINT):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def get(port, path, method="GET", headers=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(method, path, skip_host=headers is not None and "Host" in headers, skip_accept_encoding=True)
    for key, value in (headers or {}).items():
        if value is not None:
            connection.putheader(key, value)
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, answer.headers, data


def raw(port, text, timeout=60):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        s.sendall(text)
        s.shutdown(socket.SHUT_WR)
        parts = []
        while chunk := s.recv(65536):
            parts.append(chunk)
    return b"".join(parts)


def prepare():
    for name in ("two-runs-oom", "with page"):
        subprocess.run([TTMEM, "analyze", LOG, "-q", "--no-html", "--name", name], check=True)
    with open(LOG) as log, open(FEWER, "w") as fewer:
        fewer.writelines(log.readlines()[:113])
    subprocess.run([TTMEM, "analyze", FEWER, "-q", "--no-html", "--name", "cmp <a>"], check=True)
    subprocess.run([TTMEM, "analyze", LOG, "-q", "--no-html", "--name", "cmp-b"], check=True)
    with open(os.path.join(reports, "with page", "with page_report.html"), "w") as page:
        page.write("<!doctype html><title>own page</title>" + "x" * 4000)
    secret = os.path.join(work, "secret_memory.json")
    with open(secret, "w") as f:
        f.write('"secret"')
    os.symlink(secret, os.path.join(reports, "two-runs-oom", "link_memory.json"))
    os.symlink(work, os.path.join(reports, "linked"))
    os.mkfifo(os.path.join(reports, "two-runs-oom", "pipe_memory.json"))
    os.makedirs(os.path.join(reports, "two-runs-oom", "dir_memory.json"))
    for name in ("notes.txt", ".hidden_memory.json", "two-runs-oom_profile.log"):
        with open(os.path.join(reports, "two-runs-oom", name), "w") as f:
            f.write("private")


def test_pages(server):
    check(server.url == "http://localhost:%d/" % server.port and server.port >= 8000, "address: " + server.url)
    status, headers, body = get(server.port, "/reports")
    check(status == 200 and headers["Content-Type"] == "text/html; charset=utf-8", "index")
    check(b'href="two-runs-oom/"' in body and b'href="with%20page/"' in body, "index lists reports")
    check(b"1006.34 MB/bank (98.5%)" in body and b"Out of memory in DRAM: insufficient memory, short by 8.50 MB per bank" in body, "index has the facts")
    check(b"linked" not in body and b"private" not in body, "index shows no links")
    status, headers, _ = get(server.port, "/two-runs-oom")
    check(status == 302 and headers["Location"] == "./two-runs-oom/", "slash added")
    status, _, body = get(server.port, "/two-runs-oom/")
    check(status == 200 and b"two-runs-oom_memory.json" in body and b"notes.txt" not in body, "report without a page")
    status, headers, body = get(server.port, "/with%20page/")
    check(status == 200 and b"own page" in body and "script-src 'unsafe-inline'" in headers["Content-Security-Policy"], "own page")
    status, headers, body = get(server.port, "/two-runs-oom/two-runs-oom_findings.json")
    check(status == 200 and headers["Content-Type"].startswith("application/json"), "JSON type")
    status, report, text = get(server.port, "/two-runs-oom/two-runs-oom_report.md")
    check(status == 200 and text.startswith(b"#") and report["Content-Type"] == "text/plain; charset=utf-8", "markdown type")
    with open(os.path.join(reports, "two-runs-oom", "two-runs-oom_findings.json"), "rb") as f:
        check(body == f.read(), "JSON bytes")


def test_headers(server):
    path = "/two-runs-oom/two-runs-oom_memory.json"
    _, headers, body = get(server.port, path)
    check(headers["X-Content-Type-Options"] == "nosniff", "nosniff")
    check("default-src 'none'" in headers["Content-Security-Policy"], "policy")
    check("unsafe-inline'; img" not in headers["Content-Security-Policy"], "JSON needs no script")
    check(headers["Content-Encoding"] is None, "plain when not asked")
    plain_tag = headers["ETag"]
    status, headers, rest = get(server.port, path, headers={"If-None-Match": plain_tag})
    check(status == 304 and rest == b"", "304")
    status, headers, packed = get(server.port, path, headers={"Accept-Encoding": "br, gzip"})
    check(headers["Content-Encoding"] == "gzip" and gzip.decompress(packed) == body, "gzip")
    check(len(packed) < len(body) / 3 and headers["ETag"] != plain_tag, "gzip has a tag of its own")
    check(get(server.port, path, headers={"Accept-Encoding": "gzip", "If-None-Match": headers["ETag"]})[0] == 304, "304 gzip")
    check(get(server.port, path, headers={"Accept-Encoding": "gzip;q=0"})[1]["Content-Encoding"] is None, "gzip refused")
    status, headers, rest = get(server.port, path, "HEAD")
    check(status == 200 and rest == b"" and int(headers["Content-Length"]) == len(body), "HEAD")
    _, headers, _ = get(server.port, "/reports")
    check(get(server.port, "/reports", headers={"If-None-Match": headers["ETag"]})[0] == 304, "304 of the index")
    os.utime(os.path.join(reports, "two-runs-oom", "two-runs-oom_memory.json"), (1, 1))
    check(get(server.port, path, headers={"If-None-Match": plain_tag})[0] == 200, "a new file has a new tag")


def data_of(page, name):
    """A data element of a page."""
    return zlib.decompress(base64.b64decode(re.search(b'id="data.%s">([^<]*)<' % name, page).group(1)))


def test_compare(server):
    status, _, body = get(server.port, "/reports")
    check(b'<form action="compare">' in body and b"Before <select" in body and b'<option value="cmp &lt;a&gt;">cmp &lt;a&gt;</option>' in body, "index offers to compare")
    check("form-action 'self'" in get(server.port, "/")[1]["Content-Security-Policy"], "the form may be sent here")
    path = "/compare?a=cmp+%3Ca%3E&b=cmp-b"
    status, headers, page = get(server.port, path)
    check(status == 200 and headers["Content-Type"] == "text/html; charset=utf-8", "comparison gives %d" % status)
    check("script-src 'unsafe-inline'" in headers["Content-Security-Policy"] and "form-action 'none'" in headers["Content-Security-Policy"], "its policy")
    check(page.startswith(b"<!doctype html>") and b"<title>cmp &lt;a&gt; \xe2\x86\x92 cmp-b" in page and page.rstrip().endswith(b"</html>"), "a whole page")
    wanted = json.loads(subprocess.run([TTMEM, "diff", FEWER, LOG, "--json", "-q"], check=True, capture_output=True).stdout)
    found = json.loads(data_of(page, b"diff"))
    check(found["statements"] == wanted["statements"] and found["peak"] == wanted["peak"], "it says what diff says")
    check(get(server.port, path, headers={"If-None-Match": headers["ETag"]})[0] == 304, "304 of a comparison")
    status, packed, body = get(server.port, path, headers={"Accept-Encoding": "gzip"})
    check(packed["Content-Encoding"] == "gzip" and gzip.decompress(body) == page, "the kept page, packed")
    status, _, other = get(server.port, "/compare?a=cmp-b&b=cmp+%3Ca%3E")
    check(status == 200 and json.loads(data_of(other, b"diff"))["statements"] != wanted["statements"], "the other way round")
    # Without its log a report is compared by its JSON files, and a changed log makes another page.
    os.rename(FEWER, FEWER + ".away")
    status, headers2, rebuilt = get(server.port, path)
    check(status == 200 and headers2["ETag"] != headers["ETag"], "made of the JSON files")
    check(json.loads(data_of(rebuilt, b"diff"))["before"]["operations"] == wanted["before"]["operations"], "with the same operations")
    os.rename(FEWER + ".away", FEWER)
    for query in ("", "?a=cmp-b", "?b=cmp-b", "?a=cmp-b&b=nowhere", "?a=..&b=cmp-b", "?a=%2e%2e%2freports&b=cmp-b", "?a=linked&b=cmp-b", "?a=.&b=.",
                  "?a=cmp-b%00&b=cmp-b", "?a=" + "x" * 300 + "&b=cmp-b", "?a=/etc&b=cmp-b"):
        status, _, body = get(server.port, "/compare" + query)
        check(status == 404 and b"secret" not in body, "/compare%s gives %d" % (query[:60], status))
    status, _, body = get(server.port, "/compare?a=two-runs-oom&b=cmp-b")
    check(status == 503 and b"links or pipes" in body and b"secret" not in body, "a report with links gives %d" % status)
    check(get(server.port, path, headers={"Host": "evil.com"})[0] == 403, "only for localhost")


def test_compare_at_once(server):
    """Many ask for different pages at once: each gets its whole page or is told to wait."""
    wrong, done = [], []

    def client(number):
        path = "/compare?a=cmp-b&b=cmp+%3Ca%3E" if number % 2 else "/compare?b=cmp-b&a=cmp+%3Ca%3E"
        for _ in range(400):
            status, _, body = get(server.port, path)
            if status == 503 and b"Reload this page" in body:
                threading.Event().wait(0.05)
                continue
            title = b"<title>cmp-b" if number % 2 else b"<title>cmp &lt;a&gt;"
            if status != 200 or title not in body or not body.rstrip().endswith(b"</html>"):
                wrong.append((number, status))
            done.append(number)
            return

    threads = [threading.Thread(target=client, args=(i,)) for i in range(12)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong and len(done) == 12, "12 comparisons at once: %s, %d done" % (wrong[:2], len(done)))


def test_attacks(server):
    for path in ("/../secret_memory.json", "/%2e%2e/secret_memory.json", "/..%2fsecret_memory.json",
                 "/two-runs-oom/../../../secret_memory.json", "/two-runs-oom/%2e%2e/%2e%2e/%2e%2e/secret_memory.json",
                 "/two-runs-oom/..%2f..%2f..%2fsecret_memory.json", "/two-runs-oom/link_memory.json",
                 "/linked/secret_memory.json", "/linked/", "/two-runs-oom/pipe_memory.json", "/two-runs-oom/dir_memory.json",
                 "/two-runs-oom/notes.txt", "/two-runs-oom/.hidden_memory.json", "/two-runs-oom/two-runs-oom_profile.log",
                 "/etc/passwd", "//etc/passwd", "/two-runs-oom/x_memory.json", "/nowhere/", "/two-runs-oom/%00_memory.json",
                 "/%5c..%5csecret_memory.json", "/.", "/..", "/two-runs-oom/two-runs-oom_memory.json%00.txt/"):
        status, _, body = get(server.port, path)
        check(status in (400, 404) and b"secret\"" not in body and b"private" not in body, "%s gives %d" % (path, status))
    for host in ("evil.com", "evil.com:%d" % server.port, "localhost.evil.com", "127.0.0.1.nip.io", "", None):
        status, _, body = get(server.port, "/", headers={"Host": host})
        check(status in (400, 403) and b"two-runs-oom" not in body, "Host %r gives %d" % (host, status))
    check(b" 403 " in raw(server.port, b"GET / HTTP/1.0\r\n\r\n").split(b"\r\n")[0], "no Host at all")
    check(get(server.port, "/", headers={"Host": "localhost:9"})[0] == 200, "a forwarded port")
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        status, headers, _ = get(server.port, "/two-runs-oom/", method, body=b"x=1")
        check(status == 405 and headers["Allow"] == "GET, HEAD", method)
    for junk in (b"\0" * 5000, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20000 + b"\r\n"):
        try:
            raw(server.port, junk, 2)  # no answer is as good as a refusal
        except OSError:
            pass
    check(get(server.port, "/")[0] == 200, "alive after junk")


def test_many_clients(server):
    """200 connections at once, each asking several times on its own connection."""
    path = "/two-runs-oom/two-runs-oom_memory.json"
    wanted = get(server.port, path)[2]
    start = threading.Barrier(200)
    wrong = []

    def client(number):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
            connection.connect()
            start.wait(120)
            for turn in range(5):
                packed = (number + turn) % 2
                connection.request("GET", path, headers={"Accept-Encoding": "gzip" if packed else "identity"})
                answer = connection.getresponse()
                data = answer.read()
                if answer.status != 200 or (gzip.decompress(data) if packed else data) != wanted:
                    wrong.append("client %d: %d" % (number, answer.status))
            connection.close()
        except Exception as e:
            wrong.append("client %d: %r" % (number, e))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(200)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not wrong, "200 clients: %d wrong, first %s" % (len(wrong), wrong[:1]))


def cpu_ticks(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_idle(server):
    """Asleep: no processor time passes while nobody asks."""
    before = cpu_ticks(server.process.pid)
    threading.Event().wait(1.5)
    check(cpu_ticks(server.process.pid) - before <= 1, "idle server used %d ticks" % (cpu_ticks(server.process.pid) - before))


def test_ports(first):
    second = Server()
    check(second.port > first.port, "the next free port: %d after %d" % (second.port, first.port))
    check(second.stop(signal.SIGTERM)[0] == 0, "SIGTERM ends it cleanly")
    taken = subprocess.run([TTMEM, "serve", "--port", str(first.port)], capture_output=True, text=True)
    check(taken.returncode == 2 and "without --port" in taken.stderr, "taken port: " + taken.stderr)
    third = Server("--port", "0")
    check(third.port > 0 and get(third.port, "/")[0] == 200, "--port 0")
    third.stop()
    for args in (["--port", "x"], ["--port", "65536"], ["--host", "nonsense"], ["nowhere"], [LOG], [work + "/none"]):
        wrong = subprocess.run([TTMEM, "serve", *args], capture_output=True, text=True)
        check(wrong.returncode == 2 and wrong.stderr.startswith("ttmem: error: ") and not wrong.stdout, "serve %s" % args)


def test_single_report():
    for given in ("two-runs-oom", os.path.join(reports, "two-runs-oom"), os.path.join(reports, "two-runs-oom/.")):
        server = Server(given)
        check(server.path == "/two-runs-oom/", "%s is shown at %s" % (given, server.url))
        check(get(server.port, server.path)[0] == 200, "single report")
        status, headers, _ = get(server.port, "/")
        check(status == 302 and headers["Location"] == "./two-runs-oom/", "index of a single report")
        check(get(server.port, "/with%20page/")[0] == 404, "its neighbours are not served")
        check(get(server.port, "/compare?a=two-runs-oom&b=cmp-b")[0] == 404, "nor compared")
        server.stop()


def test_token():
    server = Server("--host", "0.0.0.0", token=True)
    token = server.path.strip("/")
    check(server.url.startswith("http://localhost:") and len(token) == 32, "token URL: " + server.url)
    check(get(server.port, server.path)[0] == 200, "with the token")
    check(get(server.port, server.path, headers={"Host": "some.machine:8000"})[0] == 200, "any name with the token")
    check(get(server.port, server.path + "two-runs-oom/two-runs-oom_memory.json")[0] == 200, "a file with the token")
    status, _, page = get(server.port, server.path + "compare?a=cmp+%3Ca%3E&b=cmp-b")
    check(status == 200 and json.loads(data_of(page, b"diff"))["freed_elsewhere"] == [], "compared by what the folders hold")
    status, headers, _ = get(server.port, "/" + token)
    check(status == 302 and headers["Location"] == "./%s/" % token, "slash after the token")
    for path in ("/", "/two-runs-oom/", "/two-runs-oom/two-runs-oom_memory.json", "/" + "0" * 32 + "/", "/" + token[:-1] + "/",
                 "/" + token.upper() + "x/", "/?token=" + token, "/compare?a=cmp-b&b=cmp-b"):
        status, _, body = get(server.port, path)
        check(status == 403 and b"two-runs-oom" not in body and token.encode() not in body, "%s without the token" % path)
    other = server.process.stdout.readline()
    code, _, _ = server.stop()
    check(code == 0 and token in other, "the other address has the token too")


BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def test_default_token():
    """On loopback other users of the machine are kept out."""
    server = Server(token=True)
    port, token = server.port, server.path.strip("/")
    check(re.fullmatch("[0-9a-f]{32}", token), "a random token: " + server.url)
    status, headers, body = get(port, "/", headers=BROWSER)
    check(status == 403 and token.encode() not in body, "nothing without the token")
    for path, target in (("", "./"), ("/", "../"), ("/two-runs-oom/", "../../two-runs-oom/"), ("/cmp%20%3Ca%3E/x_report.html", "../../cmp%20%3Ca%3E/x_report.html"),
                         ("/trend?model=a%26b&board=", "../trend?model=a%26b&board=")):
        status, headers, _ = get(port, "/" + token + path, headers=BROWSER)
        check(status == 302 and headers["Location"] == target, "a browser is led from /TOKEN%s to %s" % (path, headers["Location"]))
    cookie = headers["Set-Cookie"]
    check(re.fullmatch("ttmem-%d=%s; Path=/; HttpOnly; SameSite=Strict" % (port, token), cookie), "cookie: " + cookie)
    cookie = cookie.split(";")[0]
    for brings in ({"Cookie": cookie}, {"Cookie": "other=1; " + cookie}, {"Authorization": "Bearer " + token}, {"Authorization": "bearer  " + token}):
        check(get(port, "/two-runs-oom/", headers={**BROWSER, **brings})[0] == 200, "with %s" % brings)
    for wrong in ({"Cookie": cookie[:-1]}, {"Cookie": cookie + "0"}, {"Cookie": cookie.replace(str(port), "1")}, {"Authorization": "Bearer"},
                  {"Authorization": "Bearer " + token[1:]}, {"Authorization": "Basic " + token}, {"Cookie": "ttmem-%d=" % port}, {"Referer": server.url}):
        check(get(port, "/two-runs-oom/", headers=wrong)[0] == 403, "with %s" % wrong)
    check(get(port, server.path + "two-runs-oom/")[0] == 200, "scripts go on with the token in the path")
    check(get(port, "/", headers={"Host": "evil.com", "Cookie": cookie})[0] == 403, "another name, though with the cookie")
    server.stop()
    other = Server(token=True)
    check(other.path != server.path, "another token each time")
    other.stop()
    for args in (["--no-token", "--host", "0.0.0.0"], ["--no-token", "--token", "0123456789abcdef"]):
        wrong = subprocess.run([TTMEM, "serve", *args], capture_output=True, text=True)
        check(wrong.returncode == 2 and "--no-token is for 127.0.0.1 alone" in wrong.stderr, "serve %s: %s" % (args, wrong.stderr))


def test_sandbox():
    """Reports are of no origin; a page that the browser kept stays so when it is not modified."""
    server = Server()
    for path, boxed in (("/with%20page/", True), ("/compare?a=cmp+%3Ca%3E&b=cmp-b", True), ("/two-runs-oom/", False), ("/reports", False), ("/two-runs-oom/two-runs-oom_memory.json", False)):
        status, headers, _ = get(server.port, path)
        check(status == 200 and ("sandbox allow-scripts" in headers["Content-Security-Policy"]) == boxed, "sandbox of " + path)
        check("allow-same-origin" not in headers["Content-Security-Policy"], "origin of " + path)
        status, later, _ = get(server.port, path, headers={"If-None-Match": headers["ETag"]})
        check(status == 304 and (later["Content-Security-Policy"] == headers["Content-Security-Policy"] or path.endswith(".json")), "policy of %s, not modified" % path)
    server.stop()


def reads_of(pid):
    with open("/proc/%d/io" % pid) as f:
        return int(re.search(r"syscr: (\d+)", f.read())[1])


def test_index():
    """The list of reports is kept, and is right after whatever happened to them."""
    folder = os.path.join(work, "listed")
    os.mkdir(folder)
    names = ["r%03d" % i for i in range(300)]
    for name in names:
        os.mkdir(os.path.join(folder, name))
        for file in ("memory.json", "findings.json"):
            os.link(os.path.join(reports, "cmp-b", "cmp-b_" + file), os.path.join(folder, name, name + "_" + file))
    findings = os.path.join(reports, "cmp-b", "cmp-b_findings.json")
    with open(findings) as f:
        text = f.read()
    server = Server(folder)

    def index():
        status, headers, body = get(server.port, "/", headers={"Accept-Encoding": "gzip"})
        check(status == 200 and headers["Content-Encoding"] == "gzip", "a compressed index")
        plain = get(server.port, "/")[2]
        check(gzip.decompress(body) == plain, "compressed and plain are the same")
        return re.findall(rb'<tr><td><a href="([^"]*)/">', plain), plain

    check(sorted(index()[0]) == [name.encode() for name in names], "all are listed")
    threading.Event().wait(4)  # what was written just now is read again
    index()
    before = reads_of(server.process.pid)
    index()
    check(reads_of(server.process.pid) - before < 100, "%d reads for a list that is known" % (reads_of(server.process.pid) - before))
    shutil.rmtree(os.path.join(folder, "r000"))
    check(b"r000" not in index()[0], "removed by hand")
    shutil.copytree(os.path.join(reports, "two-runs-oom"), os.path.join(folder, "new one"), ignore=lambda *_: ["pipe_memory.json", "link_memory.json", "dir_memory.json"])
    check(b"new%20one" in index()[0], "added by hand")
    os.rename(os.path.join(folder, "r001"), os.path.join(folder, "renamed"))
    check({b"renamed", b"r001"} & set(index()[0]) == {b"renamed"}, "renamed by hand")
    path = os.path.join(folder, "r002", "r002_findings.json")
    for way in ("replaced", "in place"):
        st = os.stat(path)
        peak = "%.2f" % (500.25 if way == "replaced" else 700.75)
        changed = re.sub(r'("allocated_per_bank_MB": ?)[\d.]+', r"\g<1>" + peak, text, count=1)
        if way == "replaced":
            os.unlink(path)
        with open(path, "w") as f:
            f.write(changed)
        os.utime(path, ns=(st.st_atime_ns, st.st_mtime_ns))  # as cp -p does
        check(peak.encode() in index()[1], way)
        threading.Event().wait(3)
        check(peak.encode() in index()[1], way + ", later")
    code, _, _ = server.stop()
    check(code == 0, "index: clean end")


def test_slow_clients():
    """A request that comes byte by byte is ended by the clock, as a whole; others are answered meanwhile."""
    server = Server()
    slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(3)]
    slow[1].sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
    ended = {}
    for second in range(60):
        for i, s in enumerate(slow):
            if i in ended:
                continue
            try:
                s.send((b"GET /" + b"x" * 100)[second:second + 1] if i != 1 else b"x")
                s.settimeout(0.01)
                if s.recv(1000) == b"":
                    ended[i] = second
            except socket.timeout:
                pass
            except OSError:
                ended[i] = second
        if len(ended) == len(slow):
            break
        threading.Event().wait(1)
    check(len(ended) == 3 and min(ended.values()) > 10, "slow clients ended after %s s" % ended)
    check(get(server.port, "/")[0] == 200, "others are answered")
    server.stop()


def test_one_address():
    """Beyond loopback one address has a hundred connections at most; others are answered meanwhile."""
    server = Server("--host", "0.0.0.0", token=True)
    many = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(150)]
    ended = 0
    for s in many:
        s.settimeout(0.05)
        try:
            ended += s.recv(1) == b""
        except socket.timeout:
            pass
        except OSError:
            ended += 1
    check(ended == 50, "%d of 150 connections of one address were ended" % ended)
    with socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.9", 0), timeout=60) as other:
        other.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % server.path.encode())
        check(other.recv(12) == b"HTTP/1.1 200", "another address is answered")
    for s in many:
        s.close()
    server.stop()


def test_other_loopback():
    server = Server("--host", "127.0.0.2")
    check(server.url == "http://127.0.0.2:%d/" % server.port, "address: " + server.url)
    for host, wanted in (("127.0.0.2:%d" % server.port, 200), ("localhost", 200), ("127.0.0.3", 403), ("evil.com", 403)):
        connection = http.client.HTTPConnection("127.0.0.2", server.port, timeout=60)
        connection.request("GET", "/", headers={"Host": host})
        check(connection.getresponse().status == wanted, "--host 127.0.0.2, asked for " + host)
        connection.close()
    server.stop()


def listen_on_v6(port):
    """As another user would; None when the port is not to be had."""
    s = socket.socket(socket.AF_INET6)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        s.bind(("::1", port))
        s.listen()
        return s
    except OSError:
        s.close()
        return None


def test_localhost():
    """A browser that opens http://localhost:8000/TOKEN/ asks ::1 first: nobody else may be there to be told the token."""
    there = listen_on_v6(0)
    if not there:
        print("SKIP: this machine has no ::1")
        return
    for host in ((), ("--host", "0.0.0.0")):
        server = Server(*host, token=True)
        check(server.url.startswith("http://localhost:"), "localhost: " + server.url)
        check(listen_on_v6(server.port) is None, "another program took the port of ::1 %s" % (host,))
        try:
            socket.create_connection(("::1", server.port), timeout=60).close()
            check(False, "::1 must refuse, so that a browser goes on to 127.0.0.1")
        except ConnectionRefusedError:
            pass
        server.stop()
        port = there.getsockname()[1]
        server = Server("--port", str(port), *host, token=True)
        check(server.url.startswith("http://127.0.0.1:%d/" % port), "somebody is on ::1, so it is no localhost: " + server.url)
        check(get(port, server.path)[0] == 200, "served beside another program on ::1")
        server.stop()
    there.close()


def main():
    prepare()
    server = Server()
    test_pages(server)
    test_headers(server)
    test_compare(server)
    test_compare_at_once(server)
    test_attacks(server)
    test_many_clients(server)
    test_idle(server)
    test_ports(server)
    code, out, err = server.stop()
    check(code == 0 and out == "" and "Ctrl-C stops" in err, "clean end: %d %r %r" % (code, out, err))
    test_single_report()
    test_token()
    test_default_token()
    test_sandbox()
    test_index()
    test_slow_clients()
    test_one_address()
    test_other_loopback()
    test_localhost()
    shutil.rmtree(os.environ["TTMEM_HOME"])
    empty = subprocess.run([TTMEM, "serve"], capture_output=True, text=True)
    check(empty.returncode == 2 and "ttmem analyze LOG" in empty.stderr, "no reports yet")


try:
    main()
finally:
    shutil.rmtree(work, ignore_errors=True)
sys.exit(1 if failures else 0)
