"""Say numbers and names for people: durations, shares, counts, sizes, short kernel names.

The only rounding in the house; everything that calculates keeps integers of nanoseconds and bytes.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

LABEL_LIMIT = 64
TEXT_LIMIT = 160  # of a text that is no name: a category, a device, a version
_TIME_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "µs"), (1, "ns"))
_SIZE_UNITS = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def duration(ns: float) -> str:
    """Say a duration with three significant digits or more: 1.24 ms, 312 ns, 1,234.5 s."""
    return " ".join(duration_parts(ns))


def duration_parts(ns: float) -> tuple[str, str]:
    """Return number and unit of `duration` apart."""
    # 999.95 µs would print as 1000 µs: the next unit begins where rounding reaches it
    scale, unit = next((u for u in _TIME_UNITS if abs(ns) >= u[0] * 0.9995), _TIME_UNITS[-1])
    value = ns / scale
    if scale == 1 and float(value).is_integer():
        return f"{int(value):,}", unit
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    if unit == "s" and abs(value) >= 99.95:
        digits = 1
    return f"{value:,.{digits}f}", unit


def milliseconds(ns: float) -> str:
    """Say a duration in full, in the unit and with the digits of the tables: 1,234.567 ms."""
    return f"{ns / 1e6:,.3f} ms"


def stretch(begin: int, end: int) -> str:
    """Say where a stretch of time lies; both ends with digits enough to tell them apart."""
    for say in (duration, milliseconds):
        if say(begin) != say(end):
            return f"{say(begin)} to {say(end)}"
    return f"{begin:,} ns to {end:,} ns"


def share(part: float) -> str:
    """Say a share of 0..1 in percent; what is not zero is never said to be 0.0 %."""
    percent = 100 * part
    if 0 < percent < 0.05:
        return "< 0.1 %"
    if 99.95 <= percent < 100:
        return "> 99.9 %"
    return f"{percent:.1f} %"


def count(number: int) -> str:
    """Say a whole number with thousands apart."""
    return f"{number:,}"


def plural(number: int, noun: str, many: str = "") -> str:
    """Say a count with its noun: 1 kernel, 2,000 kernels."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def data_size(size: float) -> str:
    """Say a number of bytes in binary units: 1.5 MiB."""
    scale, unit = next((u for u in _SIZE_UNITS if abs(size) >= u[0]), _SIZE_UNITS[-1])
    return f"{size:,.0f} B" if scale == 1 else f"{size / scale:,.1f} {unit}"


def significant(number: float) -> str:
    """Say a number with three significant digits or all before the point: 0.0123, 1.50, 1,234."""
    if not number:
        return "0"
    digits = 2 - math.floor(math.log10(abs(number)))
    return f"{number:,.{min(max(digits, 0), 9)}f}"


def safe(text: str) -> str:
    r"""Show control, bidirectional and other invisible characters as text such as \u202e."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _visible(c) for c in text)


def _visible(char: str) -> str:
    point = ord(char)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


# a path is only looked for where one begins, so that a hostile name costs linear time
_PATH_START = r"(?<![\w.+@~\\/-])(?:[A-Za-z]:)?"
_HOME = re.compile(
    _PATH_START + r"(?:[\\/]+[\w.+@~-]+)*?[\\/]+(?:home|homes|users)[\\/]+[^\\/:()\"'<>|]+(?=[\\/]|$)"
    r"|(?<![\w./])/root(?=/|$)",
    re.IGNORECASE,
)
_BESIDE_PATHS = re.compile(r"([:()\"'<>|])")
_PACKAGES = re.compile(r"[\\/](?:site|dist)-packages(?=[\\/])")
_SLASH = re.compile(r"(?<![\w.+@~\\/-])[\\/]")
_DRIVE = re.compile(r"(?<![\w.+@~\\/-])[A-Za-z]$")


def hide_home(text: str) -> str:
    """Replace home directories, and what lies before site-packages, in the paths of a name."""
    if "/" not in text and "\\" not in text:
        return text
    return _HOME.sub("~", _without_packages(text) if "-packages" in text else text)


def _without_packages(text: str) -> str:
    """Drop what lies before site-packages, stretch by stretch, so that no text is looked at again and again."""
    parts = _BESIDE_PATHS.split(text)
    for i in range(0, len(parts), 2):
        found, begin = [m.span() for m in _PACKAGES.finditer(parts[i])], _SLASH.search(parts[i])
        if not found or begin is None or begin.start() >= found[-1][0]:
            continue
        parts[i] = parts[i][: begin.start()] + parts[i][found[-1][1] + 1 :]
        if i and not begin.start() and parts[i - 1] == ":" and _DRIVE.search(parts[i - 2][-2:]):
            parts[i - 2], parts[i - 1] = parts[i - 2][:-1], ""
    return "".join(parts)


def middle(text: str, limit: int) -> str:
    """Cut a text in the middle, where names differ least."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return text[: limit - 1 - tail] + "…" + text[len(text) - tail :]


def shown(text: str, limit: int = TEXT_LIMIT, paths: bool = False) -> str:
    """Make a text of a trace fit to show: nothing invisible, no home folder unless `paths`, cut to a length.

    Homes go first: a path may begin after a line break. It is cut last: characters made visible are longer.
    """
    return middle(safe(text if paths else hide_home(text)), limit)


# torch.profiler.tensorboard_trace_handler names a worker HOST_PID unless told otherwise
_HOST_AND_PID = re.compile(r"^.+_([1-9]\d*)\.\d{10,}$")
_STAMP = re.compile(r"\.\d{10,}$")


def public_label(label: str, show_paths: bool = False) -> str:
    """Return the label of a trace file without the host's name, its stamp and its folder."""
    if show_paths:
        return shown(label, 120, True)
    name = label.replace("\\", "/").rstrip("/").rpartition("/")[2] or label
    worker = _HOST_AND_PID.match(name)
    return shown(f"process {worker.group(1)}" if worker else _STAMP.sub("", name), 120)


# Short kernel names. The full name stays the key everywhere; a short one is only a label.
_DTYPES = {
    **dict.fromkeys(
        ("c10::BFloat16", "BFloat16", "__nv_bfloat16", "bfloat16_t", "hip_bfloat16"),
        "bf16",
    ),
    **dict.fromkeys(("cutlass::bfloat16_t", "__hip_bfloat16"), "bf16"),
    **dict.fromkeys(("c10::Half", "Half", "__half", "half_t", "half", "cutlass::half_t"), "f16"),
    **dict.fromkeys(
        ("float8_e4m3_t", "Float8_e4m3fn", "c10::Float8_e4m3fn", "__nv_fp8_e4m3"),
        "f8e4m3",
    ),
    **dict.fromkeys(("float8_e5m2_t", "Float8_e5m2", "c10::Float8_e5m2", "__nv_fp8_e5m2"), "f8e5m2"),
    "float": "f32",
    "double": "f64",
    "long": "i64",
    "int": "i32",
    "bool": "bool",
    "unsigned char": "u8",
    "signed char": "i8",
    "short": "i16",
}
_WRAPPER = re.compile(  # names that say nothing: the first template word takes their place
    r"^(Kernel2?|device_kernel|kernel|elementwise_kernel_with_index|CUDAFunctor\w*|[AB]UnaryFunctor"
    r"|BinaryFunctor|ReduceOp|func_wrapper_t)$"
)
_SEE_THROUGH = {
    "ReduceOp",
    "func_wrapper_t",
    "BinaryFunctor",
    "AUnaryFunctor",
    "BUnaryFunctor",
}
_NOISE = re.compile(
    r"^(std::)?([Aa]rray|tuple|integer_sequence|index_sequence|(Trivial)?OffsetCalculator|(Load|Store)With\w+"
    r"|Params|(FusedOptimizer)?TensorList(Scalar(List)?)?Metadata|true_type|false_type)\b"
)
_NUMBER = re.compile(r"-?\d\w*|true|false|\(.*\)\s*-?\d+|char|void|unsigned int")
_FRAME_OR_OP = re.compile(r"[\w./~-]+\.py\(\d+\)|(aten|c10d|prims|torch|nn\.Module|ProfilerStep)\b")
_LAMBDA_TYPE = re.compile(r"\{lambda\(([\w:]+)(?![\w:])[^{}]*\)#\d+\}$")
_AUTOGRAD = "autograd::engine::evaluate_function: "
_OPEN, _CLOSE = "<({[", {")": "(", "}": "{", "]": "["}
_DEEPEST = 4
_LONGEST = 8_192  # characters of a name that is taken apart: real ones have up to 5,160


def _depths(text: str) -> list[int]:
    """Return how many brackets are open before each character; > closes only where < is the last open one."""
    depths: list[int] = []
    stack: list[str] = []
    for i, char in enumerate(text):
        depths.append(len(stack))
        if char in _OPEN:
            stack.append(char)
        elif char == ">":
            if stack and stack[-1] == "<" and text[i - 1] != "-":
                stack.pop()
        elif char in _CLOSE:
            while stack and stack.pop() != _CLOSE[char]:
                pass
    return depths


def _without_clones(text: str) -> str:
    head, *marked = text.split("[clone ")
    kept = [head]
    for part in marked:
        name, closed, rest = part.partition("]")
        kept[-1:] = [kept[-1].rstrip(), rest] if closed else [kept[-1], "[clone ", name]
    return "".join(kept)


def _without_parameters(text: str) -> str:
    """Drop the trailing parameter list, `const` and `[clone …]` of a demangled name."""
    text = re.sub(r"\)\s*const$", ")", _without_clones(text.strip()))
    if not text.endswith(")"):
        return text
    depth = 0
    for i in range(len(text) - 1, -1, -1):
        depth += (text[i] == ")") - (text[i] == "(")
        if depth == 0:
            head = text[:i].rstrip()
            return text if not head or head.endswith(("::", "operator")) else head
    return text


def _without_type(text: str) -> str:
    """Drop the return type: what stands before the last space outside brackets."""
    depths = _depths(text)
    spaces = [i for i, char in enumerate(text) if char == " " and depths[i] == 0]
    tail = text[spaces[-1] + 1 :] if spaces else ""
    return tail if tail[:1].isalpha() or tail[:1] in ("_", "(") else text


def _split(text: str) -> list[str]:
    """Split template arguments at the commas outside all brackets."""
    depths = _depths(text)
    cuts = [-1, *(i for i, char in enumerate(text) if char == "," and depths[i] == 0), len(text)]
    parts = [text[a + 1 : b].strip() for a, b in pairwise(cuts)]
    return parts if parts[-1] else parts[:-1]


def _base_and_arguments(text: str) -> tuple[str, list[str]]:
    """Turn `ns::f<A, B>` into `f` and its arguments."""
    depths = _depths(text)
    cuts = [m.end() for m in re.finditer("::", text) if depths[m.start()] == 0]
    tail = text[cuts[-1] :] if cuts else text
    angle = tail.find("<")
    if angle > 0 and tail.endswith(">"):
        return tail[:angle], _split(tail[angle + 1 : -1])
    return tail, []


def _before_call(text: str) -> str:
    """Return what stands before the first parameter list outside brackets."""
    depths = _depths(text)
    for i, char in enumerate(text):
        if char == "(" and depths[i] == 0 and not text.startswith("(anonymous", i):
            return text[:i]
    return text


def _tidy(base: str) -> str:
    return re.sub(r"(_kernel)?(_cuda)?(_impl)?$", "", base) or base


def _words(argument: str, depth: int = 0) -> list[str]:
    """Return the telling words of one template argument, the operation before the number type."""
    text = re.sub(r"\b(?:const|volatile)\b", "", argument).strip().rstrip("&*").strip()
    if text in _DTYPES:
        return [_DTYPES[text]]
    if not text or depth > _DEEPEST or _NUMBER.fullmatch(text):
        return []
    if "{lambda" in text and (head := _before_call(text)) != text:
        return _lambda_words(text, head, depth)
    base, arguments = _base_and_arguments(text)
    if _NOISE.match(base):
        return []
    if base.lower().endswith("traits"):
        sizes = "×".join([a for a in arguments if a.isdigit()][:3])
        return [w for w in (sizes, *[_DTYPES[a] for a in arguments if a in _DTYPES][:1]) if w]
    inner = [w for a in arguments for w in _words(a, depth + 1)]
    if base in _SEE_THROUGH and inner:
        return sorted(dict.fromkeys(inner), key=lambda w: w in _DTYPES.values())[:2]
    if base.startswith(("operator()", "{lambda")):
        return inner
    return [_tidy(base), *inner[: 1 if depth else 2]]


def _lambda_words(text: str, head: str, depth: int) -> list[str]:
    """Name a lambda by the function that holds it: f<T>(args)::{lambda(float)#1} gives f, f32."""
    found = _LAMBDA_TYPE.findall(text)
    types = [_DTYPES[t] for t in found if t in _DTYPES]
    base, arguments = _base_and_arguments(re.sub(r"::operator$", "", head))
    inner = [w for a in arguments for w in _words(a, depth + 1)]
    return (inner if re.match(r"gpu_(kernel|index)", base) else [_tidy(base), *inner[:1]]) + types


def _last_mangled(text: str) -> str:
    """Return the last identifier of an Itanium name; the standard library has no demangler."""
    found, i = "", len("_Z") + (text[2:3] == "N")
    part = re.compile(r"St|K|(\d+)")
    while match := part.match(text, i):
        i = match.end()
        if match.group(1):
            i += int(match.group(1)[:6])
            found = text[match.end() : i] or found
    return found if found and not found.startswith("_GLOBAL__N_") else text


def _short_cpp(text: str) -> str:
    base, arguments = _base_and_arguments(_without_type(_without_parameters(text)))
    words = list(dict.fromkeys(w for a in arguments for w in _words(a)))
    if _WRAPPER.match(base) and words:
        base, words = words[0], words[1:]
    return _tidy(base) + (f" ‹{', '.join(words[:3])}›" if words else "")


@lru_cache(maxsize=100_000)
def short_name(name: str, limit: int = LABEL_LIMIT) -> str:
    """Shorten a demangled kernel name to what tells it apart; other names stay, cut in the middle."""
    text = name.strip()
    if text.startswith(("Memcpy", "Memset")) or len(text) > _LONGEST:
        return middle(text, limit)
    if text.startswith("_Z"):
        text = _last_mangled(text)
    if re.match(r"(Custom_)?C[a-z]{3}_A[a-z]{3}_B", text):  # Tensile and hipBLASLt
        tile = re.search(r"MT\d+x\d+x\d+", text)
        text = "_".join(text.split("_")[:4]) + (f"_{tile.group(0)}" if tile else "")
    elif text.startswith(_AUTOGRAD):
        text = "autograd: " + text.removeprefix(_AUTOGRAD)
    elif ("::" in text or "<" in text or text.endswith(")")) and (
        "<" in text or not _FRAME_OR_OP.match(text)
    ):
        text = _short_cpp(text) or text
    return middle(text, limit)


def _leaves(name: str) -> list[str]:
    if len(name) > _LONGEST:
        return []
    arguments = _base_and_arguments(_without_type(_without_parameters(name)))[1]
    return [w for a in arguments for w in re.findall(r"[\w.]+", a.rsplit("::", 1)[-1])]


def _tags(names: list[str]) -> list[str]:
    """Tell names with one label apart: by the template values that differ, else by number."""
    leaves = [_leaves(n) for n in names]
    width = min(map(len, leaves))
    differ = [i for i in range(width) if len({leaf[i] for leaf in leaves}) > 1][:4]
    tags = ["·".join(leaf[i] for i in differ) for leaf in leaves]
    if differ and len(set(tags)) == len(tags) and max(map(len, tags)) <= 28:
        return [f" [{tag}]" for tag in tags]
    return [f" #{i}" for i in range(1, len(names) + 1)]


def short_unique(names: Iterable[str], limit: int = LABEL_LIMIT) -> dict[str, str]:
    """Return one label per distinct full name, no two alike; the same set gives the same labels."""
    return distinct({name: name for name in names}, lambda text: short_name(text, limit))


def distinct(texts: Mapping[str, str], shorten: Callable[[str], str]) -> dict[str, str]:
    """Return one label per key: its text shortened, with a tag where several would look alike."""
    groups: dict[str, list[str]] = {}
    for name in sorted(texts):
        groups.setdefault(shorten(texts[name]), []).append(name)
    labels: dict[str, str] = {}
    taken = {label for label, members in groups.items() if len(members) == 1}
    for label, members in groups.items():
        tags = _tags([texts[m] for m in members]) if len(members) > 1 else [""]
        for name, tag in zip(members, tags, strict=True):
            text, turn = label + tag, 1
            while tag and text in taken:
                text, turn = f"{label}{tag}~{turn}", turn + 1
            taken.add(text)
            labels[name] = text
    return labels
