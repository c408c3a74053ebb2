"""Text is generated, and models are trained, on the simulated device as on the CPU."""

import pytest
import torch

LAYERS = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {**LAYERS, "vocab_size": 99, "max_position_embeddings": 64, "num_key_value_heads": 2, "head_dim": 8}
IMAGE, START, END = 90, 91, 92
PATCHES = {"patch_size": 4, "num_position_embeddings": 16, "deepstack_visual_indexes": [0, 1]}

# A decoder, an encoder with a decoder, and one that sees.
MODELS = {
    "LlamaForCausalLM": TEXT,
    "T5ForConditionalGeneration": {
        "vocab_size": 99,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "decoder_start_token_id": 0,
    },
    "Qwen3VLForConditionalGeneration": {
        "text_config": {**TEXT, "rope_parameters": {"rope_type": "default", "mrope_section": [2, 1, 1]}},
        "vision_config": {
            **PATCHES,
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 4,
            "out_hidden_size": 32,
        },
        "image_token_id": IMAGE,
        "vision_start_token_id": START,
        "vision_end_token_id": END,
    },
}


@pytest.fixture
def inputs():
    """A sentence around an image of 4 x 4 patches, four of which make a token."""
    tokens = torch.tensor([[5, 6, START, *[IMAGE] * 4, END, 7]])
    return {
        "input_ids": tokens,
        "attention_mask": torch.ones_like(tokens),
        "mm_token_type_ids": (tokens == IMAGE).int(),
        "pixel_values": torch.randn(16, 3 * 2 * 4 * 4, generator=torch.Generator().manual_seed(0)),
        "image_grid_thw": torch.tensor([[1, 4, 4]]),
    }


def greedily(model, inputs):
    return model.generate(**inputs, max_new_tokens=5, min_new_tokens=5, do_sample=False)


def by_sampling(model, inputs):
    return model.generate(**inputs, max_new_tokens=5, min_new_tokens=5, do_sample=True, top_k=20, top_p=0.9)


def by_beams(model, inputs):
    return model.generate(**inputs, max_new_tokens=5, min_new_tokens=5, num_beams=3)


@pytest.mark.filterwarnings("ignore:.*pad token:UserWarning")
@pytest.mark.parametrize("generate", [greedily, by_sampling, by_beams])
@pytest.mark.parametrize("name", MODELS)
def test_generation(name, generate, inputs, on_both):
    on_both(name, MODELS[name], inputs, generate).check()


def step(model, inputs):
    """One step of training; what it returns are the new weights and the loss."""
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loss = model(**inputs, labels=inputs["input_ids"]).loss
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return [loss, norm, *model.parameters()]


@pytest.mark.parametrize("name", MODELS)
def test_a_training_step(name, inputs, on_both):
    on_both(name, MODELS[name], inputs, step).check()
