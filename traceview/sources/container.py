"""Open what a trace comes in and hand out its text as blocks of UTF-8 bytes.

Dark corners, all seen in real files: gzip under a .json name and plain text under .gz; several gzip
members; a gzip stream cut in the middle, or with foreign bytes after it; a member's magic that
straddles two reads; zip with one member; byte order marks; UTF-16; a git-LFS pointer in place of
the file; zero bytes; "-" for standard input. So the content decides, never the name.
"""

from __future__ import annotations

import codecs
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from isal import isal_zlib

from traceview.errors import InputError

READ = 1 << 16
BLOCK = 1 << 17  # text handed out at once: blocks of 32 to 128 KiB decode fastest
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_SQLITE = b"SQLite format 3\x00"
_BAD_GZIP = (cast(type[Exception], isal_zlib.error), zlib.error)
_LFS = b"version https://git-lfs"


class _Inflater(Protocol):
    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int = 0, /) -> bytes: ...


@dataclass
class Damage:
    """Say what the container did to the text: where it was cut, what follows it."""

    cut: str = ""
    trailing: str = ""
    recoded: str = ""
    place: dict[str, int] = field(default_factory=dict)


class Container:
    """Iterate over the text of a trace file; `damage` is complete after the last block.

    `name` is shown in messages. `read` counts bytes taken from the file, `size` is its length (0
    when unknown), both for progress. Raises InputError for what can never be a trace.
    """

    def __init__(self, path: str | Path) -> None:
        self.name = "standard input" if str(path) == "-" else Path(path).name
        self.damage = Damage()
        self.read = 0
        self.size = 0
        self._file = self._open(path)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.name != "standard input":
            self._file.close()

    def _open(self, path: str | Path) -> BinaryIO:
        if str(path) == "-":
            if sys.stdin is None or sys.stdin.closed:
                raise InputError("standard input: is closed", "name a trace file")
            return cast(BinaryIO, sys.stdin.buffer)
        try:
            handle = Path(path).open("rb")  # noqa: SIM115 - closed by close()
            self.size = os.fstat(handle.fileno()).st_size
        except IsADirectoryError:
            raise InputError(f"{self.name}: is a directory", "name a trace file inside it") from None
        except OSError as error:
            raise InputError(
                f"{self.name}: {error.strerror or error}", "check the path and its permissions"
            ) from None
        return handle

    def blocks(self) -> Iterator[bytes]:
        """Yield the text as UTF-8 bytes, without byte order mark."""
        first = self._take()
        while first and len(first) < len(_SQLITE) and (more := self._take()):
            first += more
        if not first:
            raise InputError(
                f"{self.name}: the file is empty (0 bytes)", "capture again, or copy the whole file"
            )
        if first.startswith(_LFS):
            raise InputError(f"{self.name}: is a git-LFS pointer, not the trace", "run `git lfs pull` first")
        if first.startswith(_SQLITE):
            raise InputError(
                f"{self.name}: is an SQLite file",
                "traceview reads Chrome trace JSON here, not Nsight exports",
            )
        if first.startswith(_GZIP):
            yield from self._recode(self._gunzip(first))
        elif first.startswith(_ZIP):
            yield from self._recode(self._unzip(first))
        else:
            yield from self._recode(self._rest(first))

    def _take(self) -> bytes:
        try:
            data = self._file.read(READ)
        except OSError as error:
            raise InputError(
                f"{self.name}: cannot be read at byte {self.read}: {error.strerror or error}"
            ) from None
        self.read += len(data)
        return data

    def _rest(self, first: bytes) -> Iterator[bytes]:
        while first:
            yield first
            first = self._take()

    def _gunzip(self, data: bytes) -> Iterator[bytes]:
        text = 0
        inflater = cast(_Inflater, isal_zlib.decompressobj(wbits=31))
        while True:
            try:
                block = inflater.decompress(data, BLOCK)
            except _BAD_GZIP as error:
                if not text:
                    raise InputError(
                        f"{self.name}: is damaged gzip from byte 0: {error}", "capture or copy again"
                    ) from None
                self.damage.cut = f"the gzip stream is damaged near byte {self.read} ({error})"
                return
            if block:
                text += len(block)
                yield block
            if inflater.eof:
                data = inflater.unused_data
                while len(data) < 2 and (more := self._take()):
                    data += more
                if not data.strip(b"\0"):
                    return
                if not data.startswith(_GZIP):
                    self.damage.trailing = (
                        f"bytes that are no gzip follow the gzip stream at byte {self.read - len(data)}"
                    )
                    return
                inflater = cast(_Inflater, isal_zlib.decompressobj(wbits=31))
                continue
            data = inflater.unconsumed_tail
            if not data and not block:
                data = self._take()
                if not data:
                    if not text:
                        raise InputError(
                            f"{self.name}: is a gzip stream without text, cut at byte {self.read}",
                            "copy the whole file",
                        )
                    self.damage.cut = f"the gzip stream ends in the middle, at byte {self.read}"
                    return

    def _unzip(self, first: bytes) -> Iterator[bytes]:
        source = self._file
        if not source.seekable():
            source = cast(BinaryIO, tempfile.SpooledTemporaryFile(max_size=1 << 26))  # noqa: SIM115 - closed with us
            for part in self._rest(first):
                source.write(part)
        source.seek(0)
        try:
            archive = zipfile.ZipFile(source)
            members = [m for m in archive.infolist() if not m.is_dir()]
            if len(members) != 1:
                raise InputError(
                    f"{self.name}: is a zip archive of {len(members)} files", "unpack it and name one of them"
                )
            with archive.open(members[0]) as member:
                while block := member.read(READ):
                    self.read = source.tell()
                    yield block
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError) as error:
            raise InputError(
                f"{self.name}: is a zip archive that cannot be read: {error}", "unpack it first"
            ) from None

    def _recode(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        first = b""
        for block in blocks:
            first += block
            if len(first) >= 4:
                break
        encoding = _encoding(first)
        if not encoding:
            yield first.removeprefix(codecs.BOM_UTF8)
            yield from blocks
            return
        self.damage.recoded = encoding
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        step = cast(Callable[..., str], decoder.decode)
        yield step(first).lstrip("\ufeff").encode("utf-8", "replace")
        for block in blocks:
            yield step(block).encode("utf-8", "replace")
        yield step(b"", True).encode("utf-8", "replace")


def _encoding(first: bytes) -> str:
    """Name the encoding when it is not UTF-8: by its mark, or by the zeros around the first bracket."""
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if first[1:2] == b"\0" and first[:1] in b"[{ \n\r\t":
        return "utf-16-le"
    if first[:1] == b"\0" and first[1:2] in b"[{ \n\r\t":
        return "utf-16-be"
    return ""
