"""Operators with a kernel of their own that only launch: they read nothing, copy nothing and don't wait.

Their CUDA code was looked at, one by one, as it is in PyTorch 2.13; for strided tensors. What is elementwise
by PyTorch's own tags, made of other operators or a view needs no name here. Any other operator without an
entry in the cost table is unknown.
"""

from __future__ import annotations

from syncscope.simcuda.operators import Operator

_FREE = frozenset(
    (
        "__irshift__", "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d",
        "_adaptive_avg_pool3d_backward", "_add_relu", "_add_relu_", "_addmm_activation", "_aminmax",
        "_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_", "_assert_async",
        "_batch_norm_with_update", "_cdist_backward", "_cdist_forward", "_coalesced_",
        "_compute_linear_combination", "_conv_depthwise2d", "_convert_indices_from_coo_to_csr",
        "_convert_indices_from_csr_to_coo", "_convert_weight_to_int4pack",
        "_convert_weight_to_int4pack_for_cpu", "_cslt_compress", "_cslt_sparse_mm", "_cummax_helper",
        "_cummin_helper", "_dimI", "_dimV", "_dirichlet_grad", "_efficientzerotensor", "_embedding_bag",
        "_embedding_bag_backward", "_embedding_bag_dense_backward", "_embedding_bag_forward_only",
        "_embedding_bag_per_sample_weights_backward", "_empty_affine_quantized",
        "_empty_per_channel_affine_quantized", "_fake_quantize_learnable_per_channel_affine_backward",
        "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "_fft_c2c", "_fft_r2c",
        "_fill_mem_eff_dropout_mask_", "_flash_attention_forward_no_dropout_inplace", "_foreach_mm",
        "_functional_assert_async", "_fused_adagrad_", "_fused_adam_", "_fused_adamw_", "_fused_dropout",
        "_fused_rms_norm_backward", "_fused_sdp_choice", "_fused_sgd_", "_int_mm",
        "_jagged_to_padded_dense_forward", "_log_softmax", "_log_softmax_backward_data", "_logcumsumexp",
        "_make_dep_token", "_make_per_channel_quantized_tensor", "_make_per_tensor_quantized_tensor",
        "_masked_scale", "_masked_softmax", "_masked_softmax_backward", "_mixed_dtypes_linear",
        "_nested_compute_contiguous_strides_offsets", "_nested_get_jagged_dummy", "_nested_get_lengths",
        "_nested_get_max_seqlen", "_nested_get_min_seqlen", "_nested_get_offsets",
        "_nested_get_ragged_idx", "_nested_select_backward", "_nested_sum_backward", "_nnz",
        "_pdist_backward", "_pdist_forward", "_philox_key_fold_in", "_philox_key_split",
        "_philox_normal_", "_philox_uniform_", "_prelu_kernel", "_prelu_kernel_backward",
        "_resize_output_", "_sample_dirichlet", "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_flash_attention_for_cpu_backward", "_scaled_grouped_mm",
        "_scaled_grouped_mm_v2", "_scaled_mm", "_scaled_mm_v2", "_segment_reduce_backward",
        "_slow_conv2d_backward", "_slow_conv2d_forward", "_softmax", "_softmax_backward_data",
        "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors",
        "_sparse_mask_projection", "_sparse_semi_structured_addmm", "_sparse_semi_structured_apply",
        "_sparse_semi_structured_apply_dense", "_sparse_semi_structured_linear",
        "_sparse_semi_structured_mm", "_sparse_semi_structured_tile", "_stack", "_standard_gamma",
        "_standard_gamma_grad", "_thnn_fused_gru_cell", "_thnn_fused_gru_cell_backward",
        "_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward_impl", "_to_sparse_semi_structured",
        "_upsample_nearest_exact1d", "_upsample_nearest_exact1d_backward", "_upsample_nearest_exact2d",
        "_upsample_nearest_exact2d_backward", "_upsample_nearest_exact3d",
        "_upsample_nearest_exact3d_backward", "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss",
        "_weight_int4pack_mm", "_weight_int4pack_mm_for_cpu", "_weight_int4pack_mm_with_scales_and_zeros",
        "_weight_int8pack_mm", "_weight_norm_interface", "_weight_norm_interface_backward",
        "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_avg_pool3d_backward",
        "adaptive_max_pool2d", "adaptive_max_pool2d_backward", "adaptive_max_pool3d",
        "adaptive_max_pool3d_backward", "addbmm_", "addmm_", "addmv_", "addr", "amax", "amin", "aminmax",
        "arange", "argmax", "argmin", "avg_pool2d", "avg_pool2d_backward", "baddbmm_",
        "batch_norm_backward", "batch_norm_backward_elemt", "batch_norm_backward_reduce",
        "batch_norm_elemt", "batch_norm_gather_stats", "batch_norm_gather_stats_with_counts",
        "batch_norm_stats", "batch_norm_update_stats", "bernoulli", "bernoulli_",
        "binary_cross_entropy_backward", "binomial", "bucketize", "cauchy_", "channel_shuffle", "col2im",
        "complex", "conv_depthwise3d", "copysign_", "count_nonzero", "cumprod_", "cumsum_", "dequantize",
        "elu", "elu_backward", "embedding_dense_backward", "empty", "empty_quantized", "empty_strided",
        "eq_", "exponential_", "eye", "fake_quantize_per_tensor_affine_cachemask", "fill_",
        "floor_divide", "floor_divide_", "fractional_max_pool2d", "fractional_max_pool2d_backward",
        "fractional_max_pool3d", "fractional_max_pool3d_backward", "from_file", "gather", "gcd_", "ge_",
        "gelu", "gelu_", "gelu_backward", "geometric_", "glu", "glu_backward", "glu_backward_jvp",
        "glu_jvp", "grid_sampler_2d", "grid_sampler_2d_backward", "grid_sampler_3d",
        "grid_sampler_3d_backward", "gt_", "hardshrink", "hardshrink_backward", "hardsigmoid",
        "hardsigmoid_backward", "hardswish", "hardswish_", "hardswish_backward", "hardtanh",
        "hardtanh_backward", "hash_tensor", "heaviside_", "huber_loss", "huber_loss_backward",
        "index_add_", "index_copy_", "index_fill_", "index_reduce_", "index_select", "int_repr", "isin",
        "lcm_", "le_", "leaky_relu", "leaky_relu_backward", "linalg__powsum", "linalg_cross",
        "linalg_vector_norm", "linear_backward", "linspace", "log_normal_", "log_sigmoid_backward",
        "log_sigmoid_forward", "logspace", "lt_", "lu_unpack", "masked_fill_", "matmul_backward", "max",
        "max_pool2d_backward", "max_pool2d_with_indices", "max_pool2d_with_indices_backward",
        "max_pool3d_with_indices", "max_pool3d_with_indices_backward", "max_unpool2d", "max_unpool3d",
        "mean", "min", "mish", "mish_", "mish_backward", "mse_loss", "mse_loss_backward", "nansum",
        "native_batch_norm_backward", "native_channel_shuffle", "native_dropout", "native_group_norm",
        "native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward", "native_norm",
        "ne_", "nll_loss2d_backward", "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward",
        "norm", "normal", "normal_", "pixel_shuffle", "pixel_unshuffle", "poisson", "polar", "prod",
        "put_", "q_per_channel_axis", "q_per_channel_scales", "q_per_channel_zero_points", "q_scale",
        "q_zero_point", "qscheme", "quantize_per_tensor", "random_", "randperm", "range", "record_stream",
        "reflection_pad1d", "reflection_pad1d_backward", "reflection_pad2d", "reflection_pad2d_backward",
        "reflection_pad3d", "reflection_pad3d_backward", "renorm", "renorm_", "replication_pad1d",
        "replication_pad1d_backward", "replication_pad2d", "replication_pad2d_backward",
        "replication_pad3d", "replication_pad3d_backward", "resize_", "resize_as_sparse_", "roll",
        "rrelu_with_noise", "rrelu_with_noise_", "rsub", "scatter_", "scatter_add_", "scatter_reduce_",
        "set_", "slow_conv3d_forward", "slow_conv_dilated2d", "slow_conv_dilated3d",
        "slow_conv_transpose2d", "slow_conv_transpose3d", "smooth_l1_loss", "smooth_l1_loss_backward",
        "softplus", "softplus_backward", "softshrink", "softshrink_backward", "sparse_resize_",
        "sparse_resize_and_clear_", "std", "std_mean", "sum", "take", "threshold", "threshold_",
        "threshold_backward", "topk", "trace", "tril", "tril_", "tril_indices", "triu", "triu_",
        "triu_indices", "unfold_backward", "uniform_", "upsample_bicubic2d",
        "upsample_bicubic2d_backward", "upsample_bilinear2d", "upsample_bilinear2d_backward",
        "upsample_linear1d", "upsample_linear1d_backward", "upsample_nearest1d",
        "upsample_nearest1d_backward", "upsample_nearest2d", "upsample_nearest2d_backward",
        "upsample_nearest3d", "upsample_nearest3d_backward", "upsample_trilinear3d",
        "upsample_trilinear3d_backward", "var", "var_mean", "zero_",
    )
)  # fmt: skip


_FREE_OF_SPARSE = frozenset(
    (
        "_coalesced_", "_dimI", "_dimV", "_nnz", "resize_as_sparse_", "sparse_resize_",
        "sparse_resize_and_clear_", "zero_",
    )
)  # fmt: skip
"""The kernels of sparse tensors are others: these were looked at."""


def is_free(op: Operator, of_sparse: bool = False) -> bool:
    """Whether ``op``, which has no entry, is known to do nothing on the host by itself."""
    if op.custom or op.explicit or op.implicit:
        return not op.custom
    if of_sparse:
        return op.view or op.name in _FREE_OF_SPARSE
    return not op.value_decides and (op.view or op.pointwise or op.name in _FREE)
