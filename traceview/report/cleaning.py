"""Clean the texts that leave a machine in a saved run: no absolute path, no address, no account.

What is cleaned depends on the text alone, never on its neighbours: equal texts stay equal in every
saved run, which is how a later comparison finds them. An absolute path becomes its base name, so a
function of two checkouts is one and the same; whoever saves rows adds up those that become equal.

Slashes are no paths where something stands before them that a path would not follow: `aten/add`,
`jit(f)/dot`, `A>/B`. Only a home folder is found behind anything, `_/home/…`.
"""

from __future__ import annotations

import re

from traceview.units import hide_home, safe

ADDRESS, ACCOUNT = "(address)", "(account)"
_URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'<>()|]*")
_FILE_URL = re.compile(r"(?<![A-Za-z0-9+.-])file://(?:localhost(?=/))?", re.IGNORECASE)
# versions of symbols and ranges of Ascend are no accounts: memcpy@GLIBC_2.14, memcpy@plt, GE@Infer
_ACCOUNT = re.compile(
    r"(?<![\w.+@-])[\w.+-]{1,64}@(?!GLIBC|CXXABI|plt\b|@)(?:[a-z]|(?=[A-Za-z]{0,64}[0-9.-])[A-Za-z0-9])[\w.-]{0,252}"
)

# a segment of a path may hold spaces between words, and what stands in round brackets
_SEGMENT = r"(?:[^\\/:()\"'<>|\s*?]|\([^\\/()]{0,80}\)|[ ](?=[^\s\\/:()\"'<>|*?]))+"
_BEFORE = r"(?<![\w.~+@*%)\]}>\\/-])"
_ROOTS = (
    "home|homes|users|root|mnt|media|data|tmp|var|opt|usr|srv|scratch|workspace|workspaces|lustre|gpfs|nfs|efs|fsx|"
    "export|project|projects|private|volumes"
)
_PATH = re.compile(
    rf"(?:{_BEFORE}(?:[A-Za-z]:|~[\w.-]*)?|(?<=_)(?=[\\/](?:{_ROOTS})[\\/])|(?:(?<![\w.~])(?:\.\.?[\\/]+)*\.\.?)?(?=[\\/](?:home|homes|users)[\\/]+[^\s\\/:<>()]))"
    rf"[\\/]+(?:{_SEGMENT}[\\/]+)+",
    re.IGNORECASE,
)
_DRIVE = re.compile(r"(?<![\w.~+@-])(?:[A-Za-z]:|~[\w.-]*)[\\/]+(?=[^\\/\s])")

_PORT = r":\d{2,5}(?!\w)"
_SOURCES = (
    r"py|pyx|pyi|cu|cuh|c|cc|cpp|cxx|h|hh|hpp|hxx|so|rs|go|js|ts|ipynb|mlir|ll|ptx|cubin|hip|inc|inl|txt|json"
)
_HOST = re.compile(
    r"(?<![\w.:-])(?:"
    r"\d{1,3}(?:\.\d{1,3}){3}(?:" + _PORT + r")?(?![\w.])"
    r"|localhost" + _PORT + r"|(?:[\w-]{1,63}\.){1,8}(?!(?:" + _SOURCES + r"):)[A-Za-z]{2,24}:\d{4,5}(?!\w)"
    r"|[A-Za-z][A-Za-z0-9]{0,62}(?:-[A-Za-z0-9]{1,63}){0,8}-[A-Za-z]{0,20}\d{1,6}:\d{4,5}(?!\w)"
    r"|(?:[\w-]{1,63}\.){2,8}(?:com|org|edu|gov|internal|intranet|corp|lan)(?:" + _PORT + r")?(?![\w.(:])"
    r"|(?:[0-9a-f]{1,4}:){5,7}[0-9a-f]{1,4}(?![\w:])"
    r")",
    re.IGNORECASE,
)
_NUMBERS = r"\d{1,8}(?:\.\d{1,8})+(?:(?:a|b|rc|\.dev|\.post)\d{1,8})*"
_BUILD = r"(?:[+-](?:cu|cpu|rocm|xpu|git|g|nv)?[0-9a-f]{0,40}(?:\.(?:nv)?[0-9a-f]{1,40}){0,4}(?!\w))?"
_VERSION = re.compile(rf"(?<![\w.])v?({_NUMBERS}{_BUILD})")
_WHOLE = re.compile(r"v?(\d{1,12})")


def cleaned(text: str) -> str:
    """Return a text without absolute paths (their base names stay), addresses and accounts, in visible characters."""
    if "/" in text or "\\" in text:
        text = _FILE_URL.sub("", text)
        text = _URL.sub(ADDRESS, text)
        text = _DRIVE.sub("", _PATH.sub(_without_folder, hide_home(text)))
    if "@" in text:
        text = _ACCOUNT.sub(ACCOUNT, text)
    return safe(_HOST.sub(ADDRESS, text) if "." in text or ":" in text else text)


def _without_folder(path: re.Match[str]) -> str:
    """Return nothing where a base name follows; of a folder its own name."""
    if re.match(r"[\w.~+@-]", path.string[path.end() : path.end() + 1]):
        return ""
    return re.split(r"[\\/]+", path[0].rstrip("\\/"))[-1]


def version(text: str) -> str | None:
    """Return what looks like a version in a text, such as 2.5.1+cu124; None where nothing does."""
    whole = _WHOLE.fullmatch(text.strip())
    found = whole or _VERSION.search(text)
    return found[1] if found else None
