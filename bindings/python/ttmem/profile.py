# SPDX-License-Identifier: Apache-2.0
"""A profile: everything ttmem knows of one run, as tables."""

import collections
import ctypes
import json
import keyword
import weakref

from . import _arrow, _native


def read(path, threads=0, progress=None):
    """Reads a runtime log (plain, .gz or .zst), a ttnn graph capture or a recording, and returns its Profile.

    progress(read_bytes, total_bytes, operations) is called about ten times a second; total_bytes is 0 when nothing tells it. What it
    raises ends the reading. Raises TtmemError when the input cannot be read or holds nothing."""
    raised = []

    def report(_, now):
        try:
            progress(now.contents.read_bytes, now.contents.total_bytes, now.contents.operations)
        except BaseException as error:
            raised.append(error)
        return len(raised)

    options = _native.ReadOptions(size=ctypes.sizeof(_native.ReadOptions), threads=threads, keep_ir=False)
    if progress:
        options.on_progress = _native.ON_PROGRESS(report)
    raw = ctypes.c_void_p()
    try:
        _native.call("ttm_profile_read_opts", ctypes.byref(raw), _native.text(path), ctypes.byref(options))
    except _native.TtmemError:
        if raised:
            raise raised[0] from None
        raise
    try:
        return Profile(_Findings(raw, threads))
    finally:
        _native.lib.ttm_profile_free(raw)  # the findings keep it


class _Findings:
    """The findings of libttmem, freed when the last table of them is gone. Goes as it is into calls of ctypes."""

    def __init__(self, profile, threads):
        self._as_parameter_ = ctypes.c_void_p()
        _native.call("ttm_findings_make", ctypes.byref(self._as_parameter_), profile, threads)
        weakref.finalize(self, _native.lib.ttm_findings_free, self._as_parameter_)


class Table:
    """One table of a profile. Whatever reads Arrow streams opens it: pyarrow.table(t), polars.DataFrame(t), duckdb.sql("from t").

    len(t) rows; t.columns names the columns; iterating gives a named tuple for each row. What is unknown is null, None here."""

    def __init__(self, findings, number):
        self._findings = findings
        self._number = number
        self.name = _native.lib.ttm_table_name(number).decode()

    def _fill(self, stream):
        _native.call("ttm_table_stream", self._findings, self._number, stream)

    @property
    def columns(self):
        return _arrow.Reader(self._fill).names

    def __len__(self):
        return _native.lib.ttm_table_rows(self._findings, self._number)

    def __iter__(self):
        reader = _arrow.Reader(self._fill)
        fields = [name + "_" if keyword.iskeyword(name) else name for name in reader.names]
        row = collections.namedtuple(fields[0], fields)  # the first column numbers the rows: "tensor" of tensors
        return map(row._make, reader.rows())

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule interface. Each call gives a stream of its own; a requested schema is not followed."""
        return _arrow.capsule(self._fill)

    def __repr__(self):
        return f"<ttmem {self.name}: {len(self)} rows of {', '.join(self.columns)}>"


class Findings(Table):
    """The conclusions: a table with a row for each statement, what to change as a second one, and all of it as a dictionary."""

    def __init__(self, findings):
        super().__init__(findings, 4)

    @property
    def fixes(self):
        """What to change; `rank` 0 is the best, `statement` the conclusion it belongs to."""
        return Table(self._findings, 5)

    @property
    def json(self):
        """The dictionary that `ttmem analyze` writes as NAME_findings.json (docs/outputs.md)."""
        text, n = ctypes.c_void_p(), ctypes.c_size_t()
        _native.call("ttm_findings_json", self._findings, ctypes.byref(text), ctypes.byref(n))
        try:
            return json.loads(ctypes.string_at(text, n.value))
        finally:
            _native.lib.ttm_text_free(text)


class Profile:
    """What read() returns."""

    def __init__(self, findings):
        self._findings = findings

    @property
    def operations(self):
        """The executed operations, deallocations included; `index` is the number that reports print."""
        return Table(self._findings, 0)

    @property
    def states(self):
        """The memory states; a log prints one before each operation. Bytes are of one bank."""
        return Table(self._findings, 1)

    @property
    def tensors(self):
        """Results of operations, then the arguments that are alive at a peak. birth, last_use and freed_by are rows of operations."""
        return Table(self._findings, 2)

    @property
    def incidents(self):
        """The failures."""
        return Table(self._findings, 3)

    @property
    def findings(self):
        """The conclusions, in the sentences of the reports."""
        return Findings(self._findings)
