"""Language models run forward on the simulated device as on the CPU."""

import pytest
import torch

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

SMALL = {
    "vocab_size": 99,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
EXPERTS = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LAYERS = {"encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48}
HEADS = {"encoder_attention_heads": 4, "decoder_attention_heads": 4}
SEQUENCES = {"vocab_size": 99, "d_model": 32, "max_position_embeddings": 64, **LAYERS, **HEADS, **TOKENS}

DECODERS = {
    "BloomForCausalLM": SMALL,
    "CohereForCausalLM": GROUPED,
    "DeepseekV3ForCausalLM": {
        **SMALL,
        "q_lora_rank": 16,
        "kv_lora_rank": 8,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 8,
        "v_head_dim": 8,
        "moe_intermediate_size": 16,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 2,
        "topk_group": 1,
        "first_k_dense_replace": 1,
    },
    "FalconForCausalLM": SMALL,
    "Gemma2ForCausalLM": GROUPED,
    "Gemma3ForCausalLM": GROUPED,
    "GPT2LMHeadModel": SMALL,
    "GPTNeoXForCausalLM": SMALL,
    "GptOssForCausalLM": {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    "LlamaForCausalLM": GROUPED,
    "Llama4ForCausalLM": {**GROUPED, "intermediate_size_mlp": 48, "num_local_experts": 4},
    "MambaForCausalLM": {**SMALL, "state_size": 8},
    "Mamba2ForCausalLM": {
        **SMALL,
        "state_size": 8,
        "num_heads": 8,
        "head_dim": 8,
        "n_groups": 2,
        "chunk_size": 8,
    },
    "MistralForCausalLM": GROUPED,
    "MixtralForCausalLM": {**GROUPED, "num_local_experts": 4},
    "Olmo2ForCausalLM": SMALL,
    "OPTForCausalLM": {**SMALL, "ffn_dim": 48, "word_embed_proj_dim": 32},
    "PhiForCausalLM": SMALL,
    "Phi3ForCausalLM": {**SMALL, **TOKENS},
    "Qwen2ForCausalLM": {**SMALL, "num_key_value_heads": 2},
    "Qwen3ForCausalLM": GROUPED,
    "Qwen3MoeForCausalLM": {**GROUPED, **EXPERTS},
    "Qwen3NextForCausalLM": {
        **GROUPED,
        **EXPERTS,
        "shared_expert_intermediate_size": 16,
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 8,
    },
    "RwkvForCausalLM": {**SMALL, "attention_hidden_size": 32},
}
ENCODERS = {
    "AlbertForMaskedLM": {**SMALL, "embedding_size": 16},
    "BertForMaskedLM": SMALL,
    "DebertaV2ForMaskedLM": {**SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "DistilBertForMaskedLM": {"vocab_size": 99, "dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4},
    "ElectraForMaskedLM": {**SMALL, "embedding_size": 16},
    "LongformerForMaskedLM": {**SMALL, "attention_window": 4},
    "ModernBertForMaskedLM": {**SMALL, **TOKENS},
    "RobertaForMaskedLM": SMALL,
}
ENCODER_DECODERS = {
    "BartForConditionalGeneration": SEQUENCES,
    "MarianMTModel": SEQUENCES,
    "T5ForConditionalGeneration": {
        "vocab_size": 99,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "decoder_start_token_id": 0,
    },
}


@pytest.fixture
def inputs():
    """Two sentences; the second is shorter, and padded on the left."""
    tokens = torch.arange(3, 17).reshape(2, 7)
    mask = torch.ones_like(tokens)
    mask[1, :2] = 0
    return {"input_ids": tokens, "attention_mask": mask, "decoder_input_ids": tokens[:, :4]}


@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS, *ENCODER_DECODERS])
def test_forward(name, inputs, on_both):
    on_both(name, {**DECODERS, **ENCODERS, **ENCODER_DECODERS}[name], inputs).check()


@pytest.mark.parametrize(
    "name, line",
    [("LlamaForCausalLM", "fast_all(padding_mask"), ("T5ForConditionalGeneration", "padding_mask.all()")],
)
def test_only_the_padding_mask_is_waited_for(name, line, inputs, on_both):
    both = on_both(name, {**DECODERS, **ENCODER_DECODERS}[name], inputs)
    assert both.scope.counts.waits > 0
    assert both.waits_at(line) == both.scope.counts.waits
