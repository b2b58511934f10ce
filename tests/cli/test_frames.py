#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A .zst file of many frames, whatever their shape, is read as the log itself on any number of threads; a damaged one ends at the same byte on all of them."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

TTMEM, GEN_LOG = os.environ["TTMEM"], os.environ["GEN_LOG"]
if not shutil.which("zstd"):
    print("skipped: no zstd")
    sys.exit(77)
THREADS = ("1", "2", "8")
LIMIT = ("--max-memory", "100MB")  # frames above 6 MB on two threads, above 1.5 MB on eight, are not decompressed apart
FRAME = bytes.fromhex("28b52ffd")
random.seed(7)


def zstd(text, *options, sized=True):
    """One frame. zstd knows the size of what comes through a pipe, and writes it, when it is told."""
    size = ["--stream-size", str(len(text))] if sized else []
    return subprocess.run(["zstd", "-qc", *size, *options], input=text, check=True, stdout=subprocess.PIPE).stdout


def raw(text):
    """A frame of plain blocks, without a size."""
    blocks = [text[at:at + 100000] for at in range(0, len(text), 100000)] or [b""]
    heads = [(len(block) << 3 | (i == len(blocks) - 1)).to_bytes(3, "little") for i, block in enumerate(blocks)]
    return FRAME + bytes([0x00, 0x70]) + b"".join(head + block for head, block in zip(heads, blocks))


def tiny(text, size=None):
    return FRAME + bytes([0x20, len(text) if size is None else size]) + (len(text) << 3 | 1).to_bytes(3, "little") + text


def skipped(n):
    return bytes([0x50 + n % 16, 0x2a, 0x4d, 0x18]) + n.to_bytes(4, "little") + bytes(n)


def cut(text, *sizes):
    """Pieces of these sizes in turn; frames then end inside lines."""
    at = 0
    while at < len(text):
        for size in sizes:
            yield text[at:at + size]
            at += size


def put(stored, name="x.log.zst"):
    with open(name, "wb") as file:
        file.write(stored)


def read(name, *words, threads, status=0):
    run = subprocess.run([TTMEM, *words, name, "--threads", threads, *LIMIT], capture_output=True)
    assert run.returncode == status, (name, words, threads, run.returncode, run.stderr)
    return run.stdout + run.stderr


def llm(name, threads):
    return read(name, "--llm", "--logfile", threads=threads).replace(b".log.zst", b".log")


def piped(stored, threads):
    return subprocess.run([TTMEM, "--llm", "--logfile", "-", "--threads", threads, *LIMIT], input=stored, capture_output=True, check=True).stdout


def check_shapes(text):
    wanted = llm("x.log", "1")
    shapes = {
        "as pzstd writes": b"".join(skipped(4) + zstd(piece, sized=False) for piece in cut(text, 1 << 20)),
        "with sizes": b"".join(zstd(piece) for piece in cut(text, 1 << 20)),
        "without checksums": b"".join(zstd(piece, "--no-check") for piece in cut(text, 700001, 300)),
        "a byte each": b"".join(tiny(piece) for piece in cut(text[:30000], 1)) + zstd(text[30000:60000]) + zstd(text[60000:]),
        "small ones": b"".join(tiny(piece) for piece in cut(text, 255, 1, 0)),
        "seekable": b"".join(zstd(piece) for piece in cut(text, 1 << 18)) + skipped(2000),
        "empty ones": zstd(b"") + b"".join(zstd(b"") + raw(piece) + skipped(0) + zstd(b"", sized=False) for piece in cut(text, 900000)) + zstd(b""),
        "plain blocks": b"".join(raw(piece) for piece in cut(text, 130000, 5)),
        "a large one behind": zstd(text[:500000]) + zstd(text[500000:600000]) + zstd(text[600000:], "--long=27"),
        "a large one before": zstd(text[:-600000]) + zstd(text[-600000:-100]) + zstd(text[-100:]),
        "a large one between": zstd(text[:99]) + zstd(text[99:1000]) + zstd(text[1000:-2000000]) + b"".join(zstd(piece) for piece in cut(text[-2000000:], 400000)),
        "of many levels": b"".join(zstd(piece, f"-{random.randint(1, 19)}", sized=random.random() < 0.5) for piece in cut(text, 333333, 1000000)),
        "one": zstd(text),
    }
    for shape, stored in shapes.items():
        put(stored)
        for threads in THREADS:
            assert llm("x.log.zst", threads) == wanted, (shape, threads)
            read("x.log.zst", "analyze", "--check", "-q", "--no-json", threads=threads)
        through = [piped(stored, threads) for threads in THREADS]
        assert through.count(through[0]) == len(THREADS), (shape, "through a pipe")
        print("ok", shape, flush=True)


def check_ends(text):
    """A last line without its end."""
    put(text, "x.log")
    wanted = llm("x.log", "1")
    for end in (b"", zstd(b""), skipped(9)):
        put(b"".join(zstd(piece) for piece in cut(text, 1 << 20)) + end)
        for threads in THREADS:
            assert llm("x.log.zst", threads) == wanted, (end, threads)


def check_damage(pieces, wanted):
    """The same answers on any number of threads, up to the damaged block, and no verdict."""
    def changed(at, bits=0x55):
        middle = bytearray(pieces[4])
        middle[at] ^= bits
        return b"".join([*pieces[:4], bytes(middle), *pieces[5:]])

    whole = b"".join(pieces)
    damaged = {
        "a block": changed(len(pieces[4]) // 2), "a checksum": changed(-1), "a magic number": changed(0), "a size": changed(6),
        "a head": changed(4, 0x08), "a block's head": changed(10, 0x06),
        "a dictionary": b"".join(pieces[:4]) + FRAME + bytes([0x21, 7, 8]) + tiny(b"abcdefgh")[6:] + b"".join(pieces[4:]),
        "cut": whole[:-1000], "cut in a head": whole + pieces[-1][:3], "cut before a checksum": whole[:-4],
        "text behind": whole + b"nonsense behind the last frame",
        "a wide window": whole + FRAME + bytes([0x00, 0xa8]) + pieces[0][6:],
        "the first": pieces[0][:-50] + bytes(40) + pieces[0][-10:] + b"".join(pieces[1:]),
        "a size that lies": b"".join(pieces[:2]) + tiny(b"abcdefgh", size=2) + b"".join(pieces[2:]),
    }
    for kind, stored in damaged.items():
        put(stored)
        said = [read("x.log.zst", "analyze", "--check", "-q", "--no-json", threads=threads, status=2) for threads in THREADS]
        word = b"ends early" if kind.startswith("cut") else b"window is larger" if "window" in kind else b"damaged"
        assert word in said[0] and said.count(said[0]) == len(THREADS), (kind, said)
        answers = [llm("x.log.zst", threads) for threads in THREADS]
        assert answers.count(answers[0]) == len(THREADS) and answers[0] != wanted, kind
        print("ok", kind, flush=True)


def main():
    subprocess.run([GEN_LOG, "--runs", "24", "--modules", "--out", "x.log"], check=True)
    with open("x.log", "rb") as file:
        text = file.read()
    assert len(text) > 7e6, len(text)
    check_shapes(text)
    check_damage([zstd(piece) for piece in cut(text, 1 << 20)], llm("x.log", "1"))
    check_ends(text.rstrip(b"\n"))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["TTMEM_HOME"] = folder + "/home"
    main()
