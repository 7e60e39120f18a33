"""What is kept of an event, as data: the fields, the argument spellings, and which category has which.

Spellings drift between profiler versions ("External id" and "external id"), so one argument has
several. To keep an argument more, add a line to ARGUMENTS and its name to the groups that carry it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any, NamedTuple

import msgspec
import numpy as np

# what decoding raises for text that is not what its schema says; nesting without end is a RecursionError
UNDECODABLE: tuple[type[Exception], ...] = (msgspec.MsgspecError, RecursionError, OverflowError)
ABSENT = int(np.iinfo(np.int64).min)
EMPTY = msgspec.Raw(b"")


class Event(msgspec.Struct, gc=False):
    """Hold one event as written; loosely typed, so that odd fields do not cost the event."""

    ph: object = None
    cat: object = None
    name: object = None
    pid: object = None
    tid: object = None
    ts: msgspec.Raw = EMPTY
    dur: msgspec.Raw = EMPTY
    id: object = None
    args: msgspec.Raw = EMPTY


class Form(IntEnum):
    """Say how an argument is stored: opaque id, integer, float, or interned JSON text."""

    ID = 0
    INT = 1
    FLOAT = 2
    TEXT = 3


class Argument(NamedTuple):
    """Name an argument in the house, its form, and its spellings in files."""

    name: str
    form: Form
    spellings: tuple[str, ...]


def _argument(name: str, form: Form, *spellings: str) -> tuple[str, Argument]:
    return name, Argument(name, form, spellings)


ARGUMENTS: dict[str, Argument] = dict(
    (
        _argument("correlation", Form.ID, "correlation", "correlation_id"),
        _argument("external_id", Form.ID, "External id", "external id"),
        _argument("device", Form.ID, "device", "device_id"),
        _argument("stream", Form.ID, "stream", "stream_id"),
        _argument("context", Form.ID, "context"),
        _argument("grid", Form.TEXT, "grid"),
        _argument("block", Form.TEXT, "block"),
        _argument("registers", Form.INT, "registers per thread"),
        _argument("shared_memory", Form.INT, "shared memory"),
        _argument("occupancy", Form.FLOAT, "est. achieved occupancy %", "occupancy"),
        _argument("blocks_per_sm", Form.FLOAT, "blocks per SM"),
        _argument("warps_per_sm", Form.FLOAT, "warps per SM"),
        _argument("bytes", Form.INT, "bytes", "size(Byte)"),
        _argument("bandwidth", Form.FLOAT, "memory bandwidth (GB/s)", "bandwidth(GB/s)"),
        _argument("graph_id", Form.ID, "graph id"),
        _argument("graph_node", Form.ID, "graph node id"),
        _argument("sync_kind", Form.TEXT, "cuda_sync_kind"),
        _argument("wait_on_stream", Form.ID, "wait_on_stream"),
        _argument("wait_on_event", Form.ID, "wait_on_cuda_event_record_corr_id"),
        _argument("input_dims", Form.TEXT, "Input Dims", "Input dims"),
        _argument("input_type", Form.TEXT, "Input type"),
        _argument("input_strides", Form.TEXT, "Input Strides"),
        _argument("concrete_inputs", Form.TEXT, "Concrete Inputs"),
        _argument("sequence", Form.ID, "Sequence number"),
        _argument("fwd_thread", Form.ID, "Fwd thread id"),
        _argument("collective", Form.TEXT, "Collective name"),
        _argument("in_elements", Form.INT, "In msg nelems"),
        _argument("out_elements", Form.INT, "Out msg nelems"),
        _argument("dtype", Form.TEXT, "dtype"),
        _argument("group_size", Form.INT, "Group size"),
        _argument("group_name", Form.TEXT, "Process Group Name"),
        _argument("group_description", Form.TEXT, "Process Group Description"),
        _argument("group_ranks", Form.TEXT, "Process Group Ranks"),
        _argument("rank", Form.ID, "Rank"),
        _argument("collective_sequence", Form.ID, "Seq"),
        _argument("python_id", Form.ID, "Python id"),
        _argument("python_parent", Form.ID, "Python parent id"),
        _argument("python_module", Form.ID, "Python module id"),
        _argument("finished", Form.TEXT, "finished"),
        _argument("copy_kind", Form.TEXT, "kind"),
        _argument("memory_details", Form.TEXT, "memcpy_details"),
        _argument("hlo_op", Form.TEXT, "hlo_op"),
        _argument("hlo_module", Form.TEXT, "hlo_module"),
        _argument("op_name", Form.TEXT, "op_name", "op"),
        _argument("provider", Form.TEXT, "provider"),
        _argument("task_type", Form.TEXT, "Task Type", "task type"),
        _argument("task_stream", Form.ID, "Stream Id", "stream id"),
        _argument("memory_device_type", Form.INT, "Device Type"),
        _argument("memory_device", Form.ID, "Device Id"),
        _argument("memory_address", Form.ID, "Addr"),
        _argument("memory_bytes", Form.INT, "Bytes"),
        _argument("memory_allocated", Form.INT, "Total Allocated"),
        _argument("memory_reserved", Form.INT, "Total Reserved"),
    )
)

_SHAPES = ("input_dims", "input_type", "input_strides", "concrete_inputs")
_COLLECTIVE = (
    *("collective", "in_elements", "out_elements", "dtype", "group_size", "group_name"),
    *("group_description", "group_ranks", "rank", "collective_sequence"),
)
_DEVICE = (
    *("correlation", "external_id", "device", "stream", "context", "grid", "block", "registers"),
    *("shared_memory", "occupancy", "blocks_per_sm", "warps_per_sm", "bytes", "bandwidth"),
    *("graph_id", "graph_node", "copy_kind"),
)
MEMORY_FIELDS = (
    *("memory_device_type", "memory_device", "memory_address", "memory_bytes"),
    *("memory_allocated", "memory_reserved"),
)

GROUPS: dict[str, tuple[str, ...]] = {
    "python": ("python_id", "python_parent", "python_module", "finished"),
    "op": ("external_id", *_SHAPES, "sequence", "fwd_thread", *_COLLECTIVE, "finished"),
    "device": (*_DEVICE, *_COLLECTIVE, "finished"),
    "sync": (
        "correlation",
        "external_id",
        "device",
        "stream",
        "context",
        "sync_kind",
        "wait_on_stream",
        "wait_on_event",
    ),
    "call": ("correlation", "external_id", "bytes", "finished"),
    "memory": MEMORY_FIELDS,
    "wide": tuple(ARGUMENTS),
}

GROUP_OF_CATEGORY: dict[str, str] = {
    "python_function": "python",
    "cpu_op": "op",
    "operator": "op",
    "user_annotation": "op",
    "kernel": "device",
    "gpu_memcpy": "device",
    "gpu_memset": "device",
    "memcpy": "device",
    "memset": "device",
    "gpu_user_annotation": "device",
    "cuda_sync": "sync",
    "cuda_runtime": "call",
    "cuda_driver": "call",
    "runtime": "call",
    "cpu_instant_event": "memory",
}


_STRICT: dict[Form, tuple[Any, object]] = {
    Form.ID: (int, ABSENT),
    Form.INT: (int, ABSENT),
    Form.FLOAT: (float, math.nan),
    Form.TEXT: (msgspec.Raw, EMPTY),
}
_LOOSE: dict[Form, tuple[Any, object]] = {
    Form.ID: (object, None),
    Form.INT: (object, None),
    Form.FLOAT: (object, None),
    Form.TEXT: (msgspec.Raw, EMPTY),
}


class GroupSchema(NamedTuple):
    """Bind a group to its decoders: strict ones for what profilers write, loose ones for the rest.

    `arguments` has one entry per field of a decoded struct: an argument of two spellings has two.
    """

    arguments: tuple[Argument, ...]
    strict: Callable[[bytes], list[Any]]
    loose: Callable[[bytes], list[Any]]
    loose_one: Callable[[bytes | msgspec.Raw], Any]


def group_schema(group: str) -> GroupSchema:
    """Return the decoders of a group's arguments."""
    pairs = [(ARGUMENTS[name], s) for name in GROUPS[group] for s in ARGUMENTS[name].spellings]
    structs = []
    for types in (_STRICT, _LOOSE):
        fields = [
            (f"field_{i}", types[a.form][0], msgspec.field(name=s, default=types[a.form][1]))
            for i, (a, s) in enumerate(pairs)
        ]
        structs.append(msgspec.defstruct(f"{group.title()}Args", fields, gc=False))
    strict, loose = structs
    return GroupSchema(
        tuple(a for a, _ in pairs),
        msgspec.json.Decoder(list[strict]).decode,  # type: ignore[valid-type]
        msgspec.json.Decoder(list[loose]).decode,  # type: ignore[valid-type]
        msgspec.json.Decoder(loose).decode,
    )
