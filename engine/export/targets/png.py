"""The drawing as PNG, for software without SVG."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Final

from engine.export.graph.drawing import picture
from engine.export.provenance import provenance
from engine.export.target import Artifact, Check, ExportJob, MismatchError
from engine.export.target_bases import DrawingTarget, check_picture
from engine.source.catalogue import catalogue_text

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"


class PngTarget(DrawingTarget):
    """The PNG target; see `Target`."""

    name = "png"
    suffix = ".png"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        drawn, _, notes = picture(job, "png")
        text = b"Description\0" + json.dumps(provenance(job) | {"notes": notes}).encode("ascii")
        header = len(_SIGNATURE) + 25  # the header chunk comes first
        return Artifact((("automaton.png", drawn[:header] + _chunk(b"tEXt", text) + drawn[header:]),), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact: the file is decoded to its pixels, and the drawn text is walked."""
        width, height, rows = read_png(artifact.content)
        if rows < height:
            raise MismatchError("errors.export.png.rows", rows=rows, height=height)
        return check_picture(job, catalogue_text("export.scope.png", width=width, height=height))


def read_png(data: bytes) -> tuple[int, int, int]:
    """Return width, height, and the actual number of pixel rows (PNG, third edition, sections 5 and 11).

    Raises:
        MismatchError: it is not a complete PNG file.
    """
    chunks = list(_chunks(data))
    if not chunks or chunks[0][0] != b"IHDR" or chunks[-1][0] != b"IEND":
        raise MismatchError("errors.export.png.incomplete")
    width, height, depth, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    try:
        pixels = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    except zlib.error as error:
        raise MismatchError("errors.export.png.pixels", reason=str(error)) from error
    return width, height, len(pixels) // (1 + (width * samples * depth + 7) // 8)


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        raise MismatchError("errors.export.png.no_png")
    at = len(_SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, content = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        if _chunk(kind, content) != data[at : at + 12 + size]:
            raise MismatchError("errors.export.png.chunk", kind=repr(kind))
        yield kind, content
        at += 12 + size


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


TARGET = PngTarget()
