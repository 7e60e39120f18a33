"""Numbers and names as people read them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traceview import units

ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)
COPY = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}, "
    "std::array<char*, 2ul>, 4>(int)"
)
CPP = st.text(alphabet="ab:<>(){}[],& *-0123456789_#", max_size=80)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (1_240_000, "1.24 ms"),
        (12_340, "12.3 µs"),
        (123_400, "123 µs"),
        (999_600, "1.00 ms"),
        (123_400_000_000, "123.4 s"),
        (-1_500, "-1.50 µs"),
        (0.25, "0.25 ns"),
    ],
)
def test_a_duration_has_three_digits_and_the_unit_that_fits(ns: float, text: str) -> None:
    assert units.duration(ns) == text


@given(st.integers(0, 10**15))
def test_a_duration_is_right_to_half_a_percent(ns: int) -> None:
    number, unit = units.duration(ns).split()
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number.replace(",", "")) * scale == pytest.approx(ns, rel=0.005)


@pytest.mark.parametrize(
    ("part", "text"),
    [(0, "0.0 %"), (0.0001, "< 0.1 %"), (0.526, "52.6 %"), (0.99999, "> 99.9 %"), (1, "100.0 %")],
)
def test_a_share_that_is_not_zero_or_whole_never_looks_so(part: float, text: str) -> None:
    assert units.share(part) == text


def test_counts_and_sizes_have_separators_and_units() -> None:
    assert units.count(1234567) == "1,234,567"
    assert units.plural(1, "kernel") == "1 kernel"
    assert units.plural(2, "copy", "copies") == "2 copies"
    assert units.data_size(1536) == "1.5 KiB"
    assert units.data_size(12) == "12 B"


def test_invisible_characters_are_shown_as_text() -> None:
    assert units.safe("a\u202eb\n\x1b[0m\u200b\ud800") == "a\\u202eb\\u000a\\u001b[0m\\u200b\\ud800"
    assert units.safe("\U000e0041") == "\\U000e0041"


def test_letters_of_any_script_and_wide_spaces_stay() -> None:
    assert units.safe("größe 核 µs\u00a0x") == "größe 核 µs\u00a0x"


@given(st.text())
def test_what_is_shown_can_be_seen_and_written(text: str) -> None:
    shown = units.safe(text)
    assert all(c.isprintable() or c.isspace() for c in shown)
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/home/alice/run/train.py(3): step", "~/run/train.py(3): step"),
        ("/Users/alice/run/train.py(3): step", "~/run/train.py(3): step"),
        ("/mnt/nfs/home/alice/train.py(3): step", "~/train.py(3): step"),
        ("/root/train.py(3): step", "~/train.py(3): step"),
        (r"C:\Users\Alice Doe\run\train.py(3): step", r"~\run\train.py(3): step"),
        ("/opt/env/lib/python3.11/site-packages/torch/nn/a.py(1): f", "torch/nn/a.py(1): f"),
        ("aten::add", "aten::add"),
        ("a/home/b", "a/home/b"),
    ],
)
def test_home_directories_are_not_shown(name: str, shown: str) -> None:
    assert units.hide_home(name) == shown


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (ADD, "vectorized_elementwise ‹CUDAFunctor_add, f32›"),
        (COPY, "unrolled_elementwise ‹direct_copy, f32›"),
        ("void ex::gemm_kernel<float, (ex::Mode)1>(float*)", "gemm ‹f32›"),
        ("std::enable_if<((8)>(0)), void>::type ex::norm_kernel<c10::BFloat16, 8>(int)", "norm ‹bf16›"),
        ("_ZN2ex6kernelIfEEvPT_", "kernel"),
        ("Cijk_Ailk_Bljk_BBS_BH_MT128x64x32_MI16x16_SN", "Cijk_Ailk_Bljk_BBS_MT128x64x32"),
        ("autograd::engine::evaluate_function: MulBackward0", "autograd: MulBackward0"),
        ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)"),
        ("torch/nn/module.py(1501): _call_impl", "torch/nn/module.py(1501): _call_impl"),
        ("aten::add_", "aten::add_"),
        ("</script><img src=x onerror=alert(1)>", "</script><img src=x onerror=alert(1)>"),
        ("", ""),
    ],
)
def test_a_short_name_keeps_what_tells_a_kernel_apart(name: str, label: str) -> None:
    assert units.short_name(name) == label


@given(CPP)
def test_a_short_name_is_never_empty_or_long(name: str) -> None:
    assert len(units.short_name(name)) <= units.LABEL_LIMIT
    assert bool(units.short_name(name)) == bool(name.strip())


@given(st.lists(CPP, max_size=12))
def test_short_names_of_different_kernels_differ(names: list[str]) -> None:
    labels = units.short_unique(names)
    assert labels.keys() == set(names)
    assert len(set(labels.values())) == len(labels)


def test_names_that_differ_in_one_template_value_show_it() -> None:
    names = [f"void k<float, {n}, 7>(float*)" for n in (64, 128)]
    assert sorted(units.short_unique(names).values()) == ["k ‹f32› [128]", "k ‹f32› [64]"]


def test_labels_do_not_depend_on_the_order_of_names() -> None:
    names = ["void f<A<1>>()", "void f<A<2>>()", "f", "g(int)"]
    assert units.short_unique(names) == units.short_unique(reversed(names))


MANY = 200_000
HOSTILE_NAMES = [
    "<" * 8000,
    "(" * 4000 + ")" * 4000,
    ",<" * 4000,
    "/a" * 4000,
    "a::" * 3000,
    "f<" + "1" * MANY + "+>",
    "x<" + "&" * MANY + "b>",
    "f<x(1){lambda(" + "a" * MANY + ">(int)",
    "f" + " " * MANY + "x::y<int>",
    "f<int>" + "[clone " * (MANY // 7),
    " /a" * (MANY // 3),
    " /a" * (MANY // 3) + "/site-packages/x",
    "/home/" * (MANY // 6),
    "f<" + "a," * (MANY // 2) + ">",
    "_ZN" + "1a" * (MANY // 2),
    "Memcpy" + "\u202e" * MANY,
]


@pytest.mark.parametrize("bound", [units._LONGEST, 2 * MANY])
@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
def test_a_hostile_name_costs_no_more_than_its_length(
    name: str, bound: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "_LONGEST", bound)  # patterns are linear even where names are not cut before
    before = time.process_time()
    assert units.hide_home(units.safe(name))
    assert len(units.short_name.__wrapped__(name)) <= units.LABEL_LIMIT
    units.short_unique([name, f"{name}1"])
    assert time.process_time() - before < 3  # three questions; where it is quadratic, minutes


def test_real_names_are_taken_apart_in_full() -> None:
    filler = ", ".join(["std::array<char*, 2ul>"] * 230)
    name = f"void k<{filler}, float>(int)"
    assert 5_160 < len(name) <= units._LONGEST
    assert units.short_name(name) == "k ‹f32›"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("f(/a b/site-packages/c/dist-packages/d.py)", "f(d.py)"),
        ("x C:\\env\\site-packages\\t.py(3)", "x t.py(3)"),
        ("abC:/env/site-packages/t.py", "abC:t.py"),
        ("/site-packages/dist-packages/home/a", "home/a"),
        ("a/site-packages", "a/site-packages"),
        ("/site-packages/a", "/site-packages/a"),
    ],
)
def test_what_lies_before_packages_is_dropped(name: str, shown: str) -> None:
    assert units.hide_home(name) == shown


def test_clones_are_dropped_wherever_they_stand() -> None:
    assert units.short_name("void f<float>(int) [clone .constprop.0] [clone .isra.1]") == "f ‹f32›"


def test_a_stretch_has_two_ends_that_differ() -> None:
    assert units.stretch(1_000_000, 2_500_000) == "1.00 ms to 2.50 ms"
    assert units.stretch(469_012_000, 469_361_000) == "469.012 ms to 469.361 ms"
    assert units.stretch(469_012_001, 469_012_013) == "469,012,001 ns to 469,012,013 ns"
