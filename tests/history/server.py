# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of one test: a socket in a temporary folder, no network."""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile


def can_be(user):
    """Whether that user can run a program here: a root folder may be its owner's alone."""
    words = ["setpriv", "--reuid=%s" % user, "--clear-groups", "true"]
    return bool(shutil.which("setpriv")) and subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0


def programs():
    """The folder of the server's programs; empty where there is none, or none that could run (it refuses to run as root)."""
    if os.geteuid() == 0 and not can_be("postgres"):
        return ""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    return found[-1] if found else os.path.dirname(shutil.which("initdb") or "")


class Server:
    def __init__(self):
        self.bin = programs()
        self.dir = tempfile.mkdtemp(prefix="ttmem-pg-", dir="/tmp")
        self.data = self.dir + "/data"
        if os.geteuid() == 0:  # the server refuses to run as root
            user = pwd.getpwnam("postgres")
            os.chown(self.dir, user.pw_uid, user.pw_gid)
        os.chmod(self.dir, 0o755)
        self.call("initdb", "-D", self.data, "-U", "owner", "-A", "trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
        options = "-c listen_addresses='' -c unix_socket_directories=%s -c fsync=off" % self.dir
        self.call("pg_ctl", "-D", self.data, "-w", "-s", "-o", options, "-l", self.dir + "/log", "start")
        self.sql("CREATE DATABASE history", database="postgres")

    def call(self, program, *words):
        words = [os.path.join(self.bin, program), *words]
        if os.geteuid() == 0:
            words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=self.dir)

    def url(self, user="owner", password=""):
        return "postgres://%s%s@/history?host=%s" % (user, ":" + password if password else "", self.dir)

    def sql(self, text, user="owner", database="history"):
        words = [os.path.join(self.bin, "psql"), "-X", "-A", "-t", "-F", "|", "-v", "ON_ERROR_STOP=1", "-h", self.dir, "-U", user, "-d", database, "-c", text]
        return subprocess.run(words, check=True, capture_output=True, text=True, cwd="/").stdout.strip()

    def stop(self):
        self.call("pg_ctl", "-D", self.data, "-m", "immediate", "-s", "stop")
        shutil.rmtree(self.dir, ignore_errors=True)
