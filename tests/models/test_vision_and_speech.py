"""Models that see or hear run forward on the simulated device as on the CPU."""

import pytest
import torch

LAYERS = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
IMAGE = {**LAYERS, "image_size": 16, "patch_size": 8}
TEXT = {**LAYERS, "vocab_size": 99, "max_position_embeddings": 64}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BOTH_SIDES = {
    **{f"{side}_layers": 2 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 4 for side in ("encoder", "decoder")},
    **{f"{side}_ffn_dim": 48 for side in ("encoder", "decoder")},
    "d_model": 32,
}
WAVES = {
    **TEXT,
    "conv_dim": [16] * 3,
    "conv_kernel": [10, 3, 2],
    "conv_stride": [5, 2, 2],
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
}

SEEING = {
    "ConvNextForImageClassification": {"depths": [1, 1], "hidden_sizes": [8, 16], "num_stages": 2},
    "DetrForObjectDetection": {
        **BOTH_SIDES,
        "num_queries": 5,
        "backbone_config": {
            "model_type": "resnet",
            "embedding_size": 8,
            "hidden_sizes": [8, 8],
            "depths": [1, 1],
            "out_features": ["stage2"],
        },
    },
    "Dinov2ForImageClassification": IMAGE,
    "SwinForImageClassification": {
        "image_size": 16,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [1, 1],
        "num_heads": [2, 2],
        "window_size": 2,
    },
    "ViTForImageClassification": IMAGE,
    "YolosForObjectDetection": {**IMAGE, "image_size": [16, 16], "num_detection_tokens": 5},
}
SEEING_AND_READING = {
    "BlipForConditionalGeneration": {
        "text_config": {**TEXT, "encoder_hidden_size": 32},
        "vision_config": IMAGE,
    },
    "CLIPModel": {"text_config": {**TEXT, **TOKENS}, "vision_config": IMAGE, "projection_dim": 16},
    "SiglipModel": {"text_config": {**TEXT, "projection_size": 32}, "vision_config": IMAGE},
}
HEARING = {
    "HubertForCTC": WAVES,
    "Wav2Vec2ForCTC": WAVES,
    "WhisperForConditionalGeneration": {
        **BOTH_SIDES,
        **TOKENS,
        "vocab_size": 99,
        "num_mel_bins": 8,
        "max_source_positions": 20,
        "max_target_positions": 20,
        "decoder_start_token_id": 1,
    },
}


@pytest.fixture
def inputs():
    """Two of each: texts, images, waves and spectrograms; a model is given those that it takes."""
    made = torch.Generator().manual_seed(0)
    tokens = torch.arange(3, 17).reshape(2, 7)
    return {
        "input_ids": tokens,
        "decoder_input_ids": tokens,
        "pixel_values": torch.randn(2, 3, 16, 16, generator=made),
        "input_values": torch.randn(2, 400, generator=made),
        "input_features": torch.randn(2, 8, 40, generator=made),
    }


@pytest.mark.parametrize("name", [*SEEING, *SEEING_AND_READING, *HEARING])
def test_forward(name, inputs, on_both):
    on_both(name, {**SEEING, **SEEING_AND_READING, **HEARING}[name], inputs).check()
