"""Kernels by name and stream, copies and fills, categories."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyses.making import analysed, copy, fill, kernel
from traceview.analyses.rules import CATEGORIES, load_rules
from traceview.errors import UsageError


def test_a_kernel_is_described_by_its_single_durations() -> None:
    table = analysed(*[kernel("k", 10 * i, d) for i, d in enumerate((1, 2, 3, 9))]).kernels
    row = table.frame.iloc[0]
    # linear between neighbours: the median of 1 2 3 9 is 2.5; 95 % of the way is at place 2.85 = 3 + 0.85 * 6
    expected = {"calls": 4, "sum": 15000, "mean": 3750, "median": 2500, "p95": 8100, "min": 1000, "max": 9000}
    assert {k: row[k] for k in expected} == expected
    assert row["share"] == 1


def test_kernels_come_largest_first_and_share_the_sum_of_kernels() -> None:
    table = analysed(kernel("a", 0, 10), kernel("b", 20, 30), copy(60, 100)).kernels
    assert table.name.tolist() == ["b", "a"]
    assert table.share.tolist() == [0.75, 0.25]


def test_a_record_without_time_counts_as_a_call_and_nowhere_else() -> None:
    analysis = analysed(kernel("k", 0, 0), kernel("k", 100, 10), kernel("k", 200, 20))
    table = analysis.kernels
    assert (table.calls[0], table.untimed[0], table.sum[0], table.min[0]) == (3, 1, 30_000, 10_000)
    assert analysis.facts["kernels"] == {"k": [3, 30]}
    assert analysis.facts["timed_kernels"] == {"k": [2, 30]}
    assert analysis.facts["untimed_kernels"] == 1


def test_a_kernel_whose_records_all_lack_a_time_has_no_statistics() -> None:
    facts = analysed(kernel("lost", 0, 0), kernel("k", 100, 10)).facts
    assert facts["kernels"]["lost"] == [1, 0]
    assert set(facts["kernel_stats"]) == {"k"}
    assert facts["timed_kernels"] == {"k": [1, 10]}


def test_the_same_record_twice_is_one_call() -> None:
    facts = analysed(kernel("k", 0, 10, 1), kernel("k", 0, 10, 1), kernel("k", 20, 5, 2)).facts
    assert facts["kernels"] == {"k": [2, 15]}
    assert facts["deduplicated_kernel_sum_us"] == 15


def test_a_name_has_one_row_per_device_and_stream() -> None:
    table = analysed(
        kernel("k", 0, 10), kernel("k", 20, 5), kernel("k", 0, 7, stream=20), kernel("k", 0, 3, device=1)
    ).kernels_by_stream
    rows = list(
        zip(
            table.device.tolist(),
            table.stream.tolist(),
            table.calls.tolist(),
            table.sum.tolist(),
            strict=True,
        )
    )
    assert rows == [("0", "7", 2, 15_000), ("0", "20", 1, 7_000), ("1", "7", 1, 3_000)]


def test_copies_and_fills_are_no_kernels_and_know_direction_memory_and_size() -> None:
    analysis = analysed(copy(0, 4, bytes=4096), copy(10, 6, bytes="1024"), fill(20, 1), kernel("k", 30, 1))
    table = analysis.copies
    assert table.kind.tolist() == ["copy", "fill"]
    assert table.direction.tolist() == ["HtoD", ""]
    assert table.memory.tolist() == ["Pageable -> Device", "Device"]
    assert table.bytes.tolist() == [5120, -1]
    assert table.sum.tolist() == [10_000, 1_000]
    assert analysis.facts["kernel_count"] == 1


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective"),
        ("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(x)", "collective"),
        ("void vllm::cross_device_reduce_1stage<half, 8>(x)", "collective"),
        ("two_shot_all_reduce_", "collective"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "GEMM / conv"),
        ("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64", "GEMM / conv"),
        ("nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT", "GEMM / conv"),
        ("void cudnn::ops::nchwToNhwcKernel<float, float>(x)", "elementwise"),
        ("void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128>>(x)", "attention"),
        ("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausal", "attention"),
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(x)",
            "normalisation / reduction",
        ),
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(x)",
            "normalisation / reduction",
        ),
        ("triton_red_fused_add_mean_mul_pow_rsqrt_0", "normalisation / reduction"),
        ("triton_poi_fused_add_cos_0", "elementwise"),
        ("void at::native::vectorized_elementwise_kernel<4, gemm_looking_functor>(x)", "elementwise"),
        ("fbgemm_gpu::bounds_check", "other"),
        ("normal_name", "other"),
    ],
)
def test_a_kernel_name_has_the_category_an_expert_gives_it(name: str, category: str) -> None:
    assert load_rules().category(name) == category


def test_a_line_of_the_user_adds_a_rule_before_the_shipped_ones(tmp_path: Path) -> None:
    rules = tmp_path / "my.rules"
    rules.write_text(
        "# ours\ncollective = ^ring_exchange\nmy physics = stencil|gemm_of_ours\n", encoding="utf-8"
    )
    analysis = analysed(
        kernel("ring_exchange_f32", 0, 10), kernel("gemm_of_ours", 5, 10), rules=load_rules(rules)
    )
    assert dict(zip(analysis.kernels.name, analysis.kernels.category, strict=True)) == {
        "ring_exchange_f32": "collective",
        "gemm_of_ours": "my physics",
    }
    assert analysis.facts["comm_kernel_us"] == 10
    assert analysis.facts["comm_exposed_us"] == 5
    assert analysis.rules.categories == (*CATEGORIES[:-1], "my physics", "other")


@pytest.mark.parametrize(
    ("line", "reason"),
    [("just words", "line 1 is no rule"), ("other = [", "regular expression"), ("= x", "no rule")],
)
def test_a_line_that_is_no_rule_is_refused_with_its_number(line: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(UsageError, match=reason):
        load_rules(path)


def test_a_rules_file_that_is_not_there_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.rules"):
        load_rules(tmp_path / "none.rules")


def test_shipped_rules_are_written_in_small_letters_as_names_are_compared() -> None:
    assert all(p.expression.pattern == p.expression.pattern.lower() for _, p in load_rules().rules)
    assert load_rules().category("NCCLDevKernel") == "collective"


def test_known_categories_may_be_spelt_in_any_case() -> None:
    assert {c for c, _ in load_rules().rules} <= set(CATEGORIES)


def test_a_record_with_collective_arguments_is_a_collective_whatever_its_name() -> None:
    args = {"Collective name": "allreduce", "In msg nelems": 1024, "Group size": 8}
    analysis = analysed(kernel("opaque_kernel", 0, 10, **args), kernel("k", 5, 10))
    assert analysis.facts["comm_kernel_us"] == 10
    assert analysis.facts["comm_exposed_us"] == 5
    assert "collective" in analysis.kernels.category.tolist()


def test_categories_share_all_device_work() -> None:
    table = analysed(kernel("x_gemm", 0, 60), copy(100, 30), fill(140, 10)).categories
    assert list(zip(table.category, table.calls, table.sum, table.share, strict=True)) == [
        ("GEMM / conv", 1, 60_000, 0.6),
        ("copy / fill", 2, 40_000, 0.4),
    ]


def test_the_top_kernel_is_not_a_broken_record() -> None:
    events = [kernel("broken", 0, 1000), *[kernel("real", 10 + 20 * i, 15) for i in range(5)]]
    facts = analysed(*events).facts
    assert facts["top_kernel"] == "real"  # 5 * 15 against 10, where the next kernel starts
    assert facts["kernels"]["broken"] == [1, 1000]


def test_a_kernel_that_outlasts_two_later_ones_is_believed() -> None:
    events = [kernel("long", 0, 100), *[kernel("short", 10 + 20 * i, 15) for i in range(2)]]
    analysis = analysed(*events)
    assert analysis.facts["top_kernel"] == "long"
    assert not {w.code for w in analysis.warnings} & {"suspicious_duration"}


def test_kernels_on_other_streams_make_no_record_suspicious() -> None:
    events = [kernel("long", 0, 100), *[kernel("short", 10 + 20 * i, 15, stream=8) for i in range(4)]]
    assert analysed(*events).facts["top_kernel"] == "long"
