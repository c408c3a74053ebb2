"""Vision-language models run forward on the simulated device as on the CPU, and their waits have lines."""

import pytest
import torch

IMAGE_TOKEN, START, END, VIDEO_TOKEN = 90, 91, 92, 93

LAYERS = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
IMAGE = {**LAYERS, "image_size": 16, "patch_size": 8}
TEXT = {**LAYERS, "vocab_size": 99, "max_position_embeddings": 64, "num_key_value_heads": 2}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
EXPERTS = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2}
PATCHES = {"depth": 2, "hidden_size": 32, "intermediate_size": 48, "num_heads": 4, "patch_size": 4}
MARKERS = {
    "image_token_id": IMAGE_TOKEN,
    "video_token_id": VIDEO_TOKEN,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
}


def rotary(*sections):
    return {"rope_parameters": {"rope_type": "default", "mrope_section": list(sections)}}


QWEN3_VISION = {
    **PATCHES,
    "out_hidden_size": 32,
    "num_position_embeddings": 16,
    "deepstack_visual_indexes": [0, 1],
}

# Images of any size: their patches in one row, and a grid that says which belong to which.
OF_A_GRID = {
    "Qwen2VLForConditionalGeneration": {
        "text_config": {**TEXT, **rotary(1, 1, 2)},
        "vision_config": {**PATCHES, "embed_dim": 32},
    },
    "Qwen2_5_VLForConditionalGeneration": {
        "text_config": {**TEXT, **rotary(1, 1, 2)},
        "vision_config": {
            **PATCHES,
            "out_hidden_size": 32,
            "window_size": 16,
            "fullatt_block_indexes": [1],
        },
    },
    "Qwen3VLForConditionalGeneration": {
        "text_config": {**TEXT, "head_dim": 8, **rotary(2, 1, 1)},
        "vision_config": QWEN3_VISION,
    },
    "Qwen3VLMoeForConditionalGeneration": {
        "text_config": {**TEXT, "head_dim": 8, **EXPERTS, **rotary(2, 1, 1)},
        "vision_config": QWEN3_VISION,
    },
}

# Images of one size: each takes the place of four tokens, or of one.
OF_ONE_SIZE = {
    "Gemma3ForConditionalGeneration": {
        "text_config": {**TEXT, "head_dim": 8},
        "vision_config": IMAGE,
        "mm_tokens_per_image": 4,
    },
    "Idefics3ForConditionalGeneration": {
        "text_config": {"model_type": "llama", **TEXT, **TOKENS},
        "vision_config": IMAGE,
        "scale_factor": 2,
    },
    "InternVLForConditionalGeneration": {
        "text_config": {"model_type": "qwen2", **TEXT},
        "vision_config": {**IMAGE, "image_size": [16, 16], "patch_size": [4, 4]},
    },
    "LlavaForConditionalGeneration": {
        "text_config": {"model_type": "llama", **TEXT},
        "vision_config": {"model_type": "clip_vision_model", **IMAGE},
    },
    "PaliGemmaForConditionalGeneration": {
        "text_config": {"model_type": "gemma", **TEXT, "head_dim": 8},
        "vision_config": {"model_type": "siglip_vision_model", **IMAGE},
        "projection_dim": 32,
    },
}


def pixels(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def text(*tokens):
    tokens = torch.tensor(tokens)
    pictures = tokens == IMAGE_TOKEN
    return {
        "input_ids": tokens,
        "attention_mask": torch.ones_like(tokens),
        "token_type_ids": pictures.long(),
        "mm_token_type_ids": pictures.int(),
    }


def images_of_a_grid():
    """A sentence around two images, of 4 x 4 and of 4 x 2 patches; four patches make a token."""
    first, second = [START, *[IMAGE_TOKEN] * 4, END], [START, *[IMAGE_TOKEN] * 2, END]
    return {
        **text([5, *first, 6, *second, 7]),
        "pixel_values": pixels(16 + 8, 3 * 2 * 4 * 4),
        "image_grid_thw": torch.tensor([[1, 4, 4], [1, 4, 2]]),
    }


def images_of_one_size(name):
    """Two sentences with an image each."""
    merged = name.startswith("Idefics3")
    image = [IMAGE_TOKEN] * (1 if merged else 4)
    shape = (2, 1, 3, 16, 16) if merged else (2, 3, 16, 16)
    return {**text([5, *image, 6, 7], [8, *image, 9, 10]), "pixel_values": pixels(*shape)}


@pytest.mark.parametrize("name", OF_ONE_SIZE)
def test_forward_with_images_of_one_size(name, on_both):
    settings = {**OF_ONE_SIZE[name], "image_token_id": IMAGE_TOKEN}
    on_both(name, settings, images_of_one_size(name)).check()


@pytest.mark.parametrize("name", OF_A_GRID)
def test_forward_with_images_of_a_grid(name, on_both):
    both = on_both(name, {**OF_A_GRID[name], **MARKERS}, images_of_a_grid())
    both.check()
    assert both.waits_at("grid_thw.tolist()") > 0


def test_qwen3_vl_waits_for_its_grid_its_lengths_and_its_masks(on_both):
    name = "Qwen3VLForConditionalGeneration"
    both = on_both(name, {**OF_A_GRID[name], **MARKERS}, images_of_a_grid())
    layers = 2
    assert both.waits_at("grid_thw.tolist()") == 2  # and the merge sizes beside it
    assert both.waits_at("lengths.tolist()") == 3 * layers  # for queries, keys and values
    assert both.waits_at("hidden_states[visual_pos_masks, :] + ") == layers
    assert both.waits_at("hidden_states[visual_pos_masks, :] = ") == layers
    assert both.waits_at("torch.arange(counts.sum()") == 1
