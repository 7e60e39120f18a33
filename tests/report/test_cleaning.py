"""Texts of a saved run: paths become base names, addresses and accounts go, and the names of kernels stay."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview.report.cleaning import ACCOUNT, ADDRESS, cleaned, version

NAMES = [
    "void at::native::(anonymous namespace)::foo<float, (int)4>(at::Tensor const&, int)",
    "void f<A/B, c::D<(x)/y>>(int)",
    "void k</*T=*/float, 3/4>",
    "cutlass::gemm<64x64/8>",
    "a::b<c>::operator/=",
    "operator/(a, b)",
    "aten::add",
    "aten::div / aten::mul",
    "nccl:all_reduce",
    "autograd::engine::evaluate_function: MmBackward0",
    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    "Memcpy HtoD (Pageable -> Device)",
    "ProfilerStep#3",
    "triton_poi_fused_add_0",
    "torch/nn/modules/module.py(1501): _call_impl",
    "torch/utils/data/dataloader.py(733): __next__",
    "torch/nn/module.py:1501 f",
    "train.py:1501",
    "./run/x.py(3): f",
    "model.layers.0.attn:64",
    "jit(f)/jit(main)/dot_general",
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "Conv/relu",
    "tokens /s",
    '[[1,2],["a/b"]]',
    "memcpy@plt",
    "GE@Infer",
    "memcpy@GLIBC_2.14",
    "x::1:2:3",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_without_an_absolute_path_stays(name: str) -> None:
    assert cleaned(name) == name


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/data/teams/secret/train.py(3): f", "train.py(3): f"),
        ("/home/alice/train.py(3): f", "train.py(3): f"),
        ("~/secret/train.py", "train.py"),
        ("_/home/alice/x.py", "_x.py"),
        ("triton_/home/alice/p/k.cu", "triton_k.cu"),
        ("fused_/scratch/alice/k.cu", "fused_k.cu"),
        ("../../home/alice/x.py", "x.py"),
        ("k</data/a/b.cu>(x)", "k<b.cu>(x)"),
        ("k (/data/a b/c.cu:33)", "k (c.cu:33)"),
        ("x\n/data/y/z.py", "x\\u000az.py"),
        ("PATH=/a/b:/c/d", "PATH=b:d"),
        ("/lustre/proj(1)/a/x.py(3)", "x.py(3)"),
        ("/data/secret/", "secret"),
        ("C:\\Users\\John Doe\\x y.py(3): f", "x y.py(3): f"),
        ("D:/work/secret/x.py", "x.py"),
        ("C:\\x.py", "x.py"),
        ("\\\\server\\share\\secret\\k.cu", "k.cu"),
        ("//server/share/k.cu", "k.cu"),
        ("file:///home/alice/x.py(3)", "x.py(3)"),
        ("/usr/lib/python3.11/site-packages/torch/nn/m.py(2): f", "torch/nn/m.py(2): f"),
    ],
)
def test_an_absolute_path_becomes_its_base_name(text: str, left: str) -> None:
    assert cleaned(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("fetch http://h.example/y?token=z k", f"fetch {ADDRESS} k"),
        ("s3://bucket/secret/k", ADDRESS),
        ("gpu17.cluster.example.com:29500", ADDRESS),
        ("gpu17.cluster.example.com", ADDRESS),
        ("store node-17:29500 up", f"store {ADDRESS} up"),
        ("localhost:8080", ADDRESS),
        ("10.1.2.3:80 x", f"{ADDRESS} x"),
        ("10.1.2.3", ADDRESS),
        ("2001:db8:0:0:0:0:2:1", ADDRESS),
        ("alice@gpu17", ACCOUNT),
        ("Alice@DESKTOP-17", ACCOUNT),
        ("root@worker", ACCOUNT),
        ("alice@gpu17.lan:/data/x.py", f"{ACCOUNT}:x.py"),
        ("git@github.com:team/repo.git", f"{ACCOUNT}:team/repo.git"),
    ],
)
def test_addresses_and_accounts_are_hidden(text: str, left: str) -> None:
    assert cleaned(text) == left


PARTS = st.text("abcxyz019_-.", min_size=1, max_size=8).filter(lambda s: set(s) - {"."})


@given(st.lists(PARTS, min_size=1, max_size=5), PARTS, st.sampled_from(["/", "C:\\", "\\\\"]))
def test_no_folder_of_an_absolute_path_is_left(folders: list[str], name: str, root: str) -> None:
    mark = "/" if root == "/" else "\\"
    marked = [f"secret{folder}" for folder in folders]
    found = cleaned(f"k({root}{mark.join([*marked, 'dir', name])}): f")
    assert "secret" not in found
    assert found == f"k({name}): f"


def test_a_text_is_cleaned_in_time_that_grows_with_its_length() -> None:
    begun = time.perf_counter()
    for piece in (
        "/a ",
        "/",
        "(",
        "/(",
        "a@",
        "a.",
        "a-",
        "/a(b",
        "_/home/",
        "a:",
        "1.1.",
        "~/a",
        "x://",
        "\\\\a",
    ):
        cleaned(piece * 20_000)
        version(piece * 20_000)
    assert time.perf_counter() - begun < 10  # quadratic would be minutes


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("12.4", "12.4"),
        ("12080", "12080"),
        ("v1.2", "1.2"),
        ("2.5.1+cu124", "2.5.1+cu124"),
        ("2.5.1+rocm6.2", "2.5.1+rocm6.2"),
        ("6.2.41134-65d174c3e", "6.2.41134-65d174c3e"),
        ("2.6.0a0+git1234abc", "2.6.0a0+git1234abc"),
        ("2.5.0a0+872d972e41.nv24.08", "2.5.0a0+872d972e41.nv24.08"),
        ("2.9.0.dev20250801+cu128", "2.9.0.dev20250801+cu128"),
        ("CUDA 12.4 on node17", "12.4"),
        ("/home/alice/torch-2.5.1/lib", "2.5.1"),
        ("2.5.1+alice", "2.5.1"),
        ("process 4711 of alice", None),
        ("built by alice@host", None),
        ("", None),
    ],
)
def test_of_a_version_only_what_looks_like_one_is_left(text: str, left: str | None) -> None:
    assert version(text) == left
