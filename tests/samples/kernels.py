"""The kernels of the invented training: names as PyTorch and its libraries spell them, times in microseconds."""

from __future__ import annotations

from tests.samples.machine import Kernel

_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, {0}, std::array<char*, {1}ul> >(int, {0}, std::array<char*, {1}ul>)"


def _elementwise(functor: str, operands: int, fastest: float, slowest: float) -> Kernel:
    return Kernel(_ELEMENTWISE.format(functor, operands), fastest, slowest, 26, 0, 8192, 128)


def _gemm(tile: str, form: str, fastest: float, slowest: float) -> Kernel:
    name = f"sm90_xmma_gemm_bf16bf16_bf16f32_f32_{form}_n_tilesize{tile}_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas"
    return Kernel(name, fastest, slowest, 168, 213_504, 132, 384)


_FLASH = "void pytorch_flash::flash_{0}_kernel<Flash_{0}_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_{0}_params)"
ADD = _elementwise("at::native::CUDAFunctor_add<c10::BFloat16>", 3, 9.1, 10.4)
GELU_BACKWARD = _elementwise(
    "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}",
    3,
    31,
    34,
)
SCALE = _elementwise(
    "at::native::BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
    2,
    1.3,
    1.9,
)
CAST = _elementwise(
    "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}", 2, 6.2, 7.1
)
QKV, PROJECTION = _gemm("128x256x64", "tn", 88, 93), _gemm("128x128x64", "tn", 31, 34)
UP, DOWN, HEAD = (
    _gemm("128x256x64", "tn", 112, 118),
    _gemm("128x256x64", "tn", 114, 121),
    _gemm("256x128x64", "tn", 221, 232),
)
INPUT_GRADIENT, WEIGHT_GRADIENT = _gemm("128x256x64", "nn", 96, 119), _gemm("256x128x64", "nt", 101, 126)
NORM = Kernel(
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)",
    12.6,
    14.2,
    32,
    24,
    8192,
    128,
)
NORM_BACKWARD = Kernel(
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float, false>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)",
    23,
    26,
    40,
    16,
    8192,
    256,
)
ATTENTION = Kernel(_FLASH.format("fwd"), 44, 47.5, 255, 81_920, 1024, 128)
ATTENTION_BACKWARD = Kernel(
    _FLASH.format("bwd_dq_dk_dv_loop_seqk_parallel"), 131, 138, 254, 147_456, 1024, 256
)
TRITON_GELU = Kernel("triton_poi_fused_gelu_0", 33, 35.5, 30, 0, 32_768, 128)
EMBEDDING = Kernel(
    "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, at::cuda::detail::TensorInfo<c10::BFloat16, unsigned int>, at::cuda::detail::TensorInfo<long, unsigned int>, int, int, unsigned int, unsigned int, long)",
    10.5,
    12,
    32,
    0,
    1056,
    128,
)
EMBEDDING_BACKWARD = Kernel(
    "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>(long const*, c10::BFloat16 const*, c10::BFloat16*, int, long, int)",
    81,
    88,
    34,
    4096,
    1024,
    256,
)
SOFTMAX = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, c10::BFloat16 const*, int)",
    96,
    101,
    28,
    32,
    8192,
    1024,
)
SOFTMAX_BACKWARD = Kernel(
    "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(c10::BFloat16*, float const*, float const*, long)",
    118,
    124,
    30,
    32,
    8192,
    1024,
)
LOSS = Kernel(
    "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(float*, float*, float*, float*, long*, long, bool, long, long, long, long)",
    7.5,
    8.6,
    24,
    4096,
    1,
    1024,
)
NORM_OF_GRADIENTS = Kernel(
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float, float, float, float>, unsigned int, float, 4, 4> >(at::native::ReduceOp<float, at::native::NormTwoOps<float, float, float, float>, unsigned int, float, 4, 4>)",
    14,
    16,
    32,
    16,
    528,
    512,
)
ADAMW = Kernel(
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float*, float*>(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)1, false>, float const*, double, double, double, double, double, bool, float*, float*)",
    148,
    157,
    48,
    0,
    320,
    512,
)
ALL_REDUCE = Kernel(
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    188,
    236,
    96,
    103_808,
    24,
    512,
)
ALL_GATHER = Kernel(
    "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 21, 29, 96, 103_808, 16, 512
)
GRAPHED = (
    Kernel("triton_per_fused_native_layer_norm_1", 6.1, 6.6, 40, 1024, 1024, 256),
    _gemm("64x128x64", "tn", 11.5, 12.3),
    _elementwise(
        "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}",
        2,
        4.2,
        4.8,
    ),
    _gemm("64x64x64", "tn", 9.3, 9.9),
    ADD,
)
