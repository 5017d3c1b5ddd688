#!/usr/bin/env python3
"""Makes tests/golden/cases/*.json: tiny models with the logits that they must give.

Needs torch, transformers, sentencepiece, protobuf and numpy, and the peer's source tree:

    python3 tests/golden/make_golden.py PEER_LLAMA_CPP_FOLDER [CASE ...]

For each case a Hugging Face model of the given configuration is filled with generated weights, run in
float64, saved, and converted to F32 by the peer's own convert_hf_to_gguf.py.  Committed are the
metadata that the converter wrote, the names and shapes of the tensors, and the logits.  Not committed
are the weights: both sides generate them (see Generator below and generator.h), and this script stops
unless every tensor of the converted file has exactly the generated bits.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

N_PROMPT_TOKENS = 100  # crosses kv_block edges at 32, 64 and 96, original contexts and windows
LOGIT_ROWS = [0, 1, 15, 31, 32, 33, 63, 64, 80, 99]
VOCAB_SIZE = 83

BASE = dict(vocab_size=VOCAB_SIZE, hidden_size=48, intermediate_size=88, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=128,
            rms_norm_eps=0.02, tie_word_embeddings=False,
            rope_parameters=dict(rope_type="default", rope_theta=25000.0))
# The families other than llama: two query heads for each of keys, and values no default has.
GROUPED = dict(num_key_value_heads=2, head_dim=20)
GEMMA = dict(GROUPED, tie_word_embeddings=True, hidden_activation="gelu_pytorch_tanh",
             query_pre_attn_scalar=20)
# Gated delta nets, and gated attention in every fourth layer: wide enough that each setting shows.
HYBRID = dict(GROUPED, num_hidden_layers=4, linear_num_key_heads=2, linear_num_value_heads=6,
              linear_key_head_dim=12, linear_value_head_dim=16, linear_conv_kernel_dim=4,
              rope_parameters=dict(rope_type="default", rope_theta=25000.0, partial_rotary_factor=0.4))


def rope(rope_type="default", theta=20000.0, **rest):
    return dict(rope_type=rope_type, rope_theta=theta, **rest)


def gemma3_rope(local_theta=3000.0, **rest):
    return dict(full_attention=rope(**rest), sliding_attention=rope("default", local_theta))


def longrope(n_pairs, original, trained):
    """A phi3 context: `original` tokens, stretched to `trained` by one divisor for each pair."""
    return dict(
        max_position_embeddings=trained, original_max_position_embeddings=original,
        rope_parameters=rope("longrope", original_max_position_embeddings=original,
                             long_factor=[1.5 + i for i in range(n_pairs)],
                             short_factor=[1.0 + i / 16 for i in range(n_pairs)]))


# Settings are far from every default, so that none can be ignored unseen.
LLAMA_CASES = {
    "mha_untied": dict(),
    "gqa_tied": dict(num_attention_heads=6, num_key_value_heads=2, tie_word_embeddings=True),
    "mqa_attention_bias": dict(num_key_value_heads=1, attention_bias=True),
    "mlp_bias": dict(num_key_value_heads=2, mlp_bias=True, num_hidden_layers=3),
    "head_dim_all_biases": dict(head_dim=20, num_key_value_heads=2, attention_bias=True,
                                mlp_bias=True, tie_word_embeddings=True),
    "rope_linear": dict(num_key_value_heads=2, rope_parameters=rope("linear", factor=4.0)),
    # Depends on the current length beyond the trained context only, and GGUF has no word for it.
    "rope_dynamic_within_context": dict(
        num_key_value_heads=2, rope_parameters=rope("dynamic", factor=2.0)),
    # YaRN rounds its corrections to whole pairs: wide heads, so that every setting moves one.
    "rope_yarn": dict(num_attention_heads=2, num_key_value_heads=1, head_dim=64,
                      rope_parameters=rope("yarn", factor=4.0,
                                           original_max_position_embeddings=32)),
    "rope_yarn_all_settings": dict(
        num_attention_heads=2, num_key_value_heads=2, head_dim=64, tie_word_embeddings=True,
        rope_parameters=rope("yarn", factor=3.0, original_max_position_embeddings=40,
                             attention_factor=1.45, beta_fast=3.0, beta_slow=0.25)),
    "rope_llama3": dict(
        num_key_value_heads=2, head_dim=16, tie_word_embeddings=True,
        rope_parameters=rope("llama3", 500000.0, factor=8.0, low_freq_factor=1.0,
                             high_freq_factor=4.0, original_max_position_embeddings=32)),
    "rope_llama3_head_dim": dict(
        num_key_value_heads=2, head_dim=24, attention_bias=True,
        rope_parameters=rope("llama3", 12000.0, factor=4.0, low_freq_factor=1.0,
                             high_freq_factor=2.0, original_max_position_embeddings=64)),
}

# name: (family, settings beside BASE).  The families are in FAMILIES.
CASES = {name: ("llama", settings) for name, settings in LLAMA_CASES.items()} | {
    "qwen2": ("qwen2", dict(num_key_value_heads=2)),
    "qwen2_tied": ("qwen2", dict(num_attention_heads=6, num_key_value_heads=3, num_hidden_layers=3,
                                 tie_word_embeddings=True)),
    "qwen3": ("qwen3", dict(GROUPED)),
    "qwen3_tied_bias": ("qwen3", dict(head_dim=32, num_key_value_heads=1, tie_word_embeddings=True,
                                      attention_bias=True)),
    "smollm3": ("smollm3", dict(num_key_value_heads=2, num_hidden_layers=5, pad_token_id=0)),
    "mistral3": ("mistral3", dict(
        num_attention_heads=2, num_key_value_heads=1, head_dim=64,
        rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32,
                             mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3))),
    # The converter writes no base: the family has always had this one.
    "gemma2": ("gemma2", dict(GEMMA, num_hidden_layers=4, sliding_window=24,
                              rope_parameters=rope("default", 10000.0),
                              attn_logit_softcapping=3.0, final_logit_softcapping=5.0)),
    "gemma3": ("gemma3", dict(GEMMA, num_hidden_layers=7, sliding_window=40,
                              rope_parameters=gemma3_rope())),
    "gemma3_linear_softcap": ("gemma3", dict(
        GEMMA, num_hidden_layers=6, sliding_window=33, num_key_value_heads=1,
        final_logit_softcapping=4.0,
        rope_parameters=gemma3_rope(700.0, rope_type="linear", factor=4.0))),
    "mixtral": ("mixtral", dict(num_key_value_heads=2, num_local_experts=6, num_experts_per_tok=2,
                                sliding_window=None)),
    "qwen2moe": ("qwen2moe", dict(num_key_value_heads=2, num_experts=8, num_experts_per_tok=3,
                                  moe_intermediate_size=40, shared_expert_intermediate_size=56)),
    "qwen3moe": ("qwen3moe", dict(GROUPED, num_experts=8, num_experts_per_tok=2,
                                  moe_intermediate_size=40, norm_topk_prob=True,
                                  num_hidden_layers=3, tie_word_embeddings=True)),
    "gpt_oss": ("gpt_oss", dict(
        num_attention_heads=4, num_key_value_heads=2, head_dim=64, num_hidden_layers=3,
        num_local_experts=6, num_experts_per_tok=2, sliding_window=24,
        rope_parameters=rope("yarn", factor=3.0, original_max_position_embeddings=40,
                             beta_fast=3.0, beta_slow=0.25, truncate=True))),
    # As the family is published: experts in blocks of 32.
    "gpt_oss_mxfp4": ("gpt_oss_mxfp4", dict(
        hidden_size=64, intermediate_size=96, num_key_value_heads=2, head_dim=32,
        num_local_experts=5, num_experts_per_tok=2, sliding_window=33,
        rope_parameters=rope("yarn", 11000.0, factor=2.0, original_max_position_embeddings=64,
                             beta_fast=3.0, beta_slow=0.25, truncate=True))),
    "qwen3next": ("qwen3next", dict(
        HYBRID, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=40,
        shared_expert_intermediate_size=56, norm_topk_prob=True, decoder_sparse_step=1)),
    "qwen35": ("qwen35", dict(HYBRID, linear_conv_kernel_dim=3, num_hidden_layers=5,
                              tie_word_embeddings=True)),
    "phi3_window": ("phi3", dict(num_key_value_heads=2, sliding_window=36, pad_token_id=0)),
    "phi3_longrope_long": ("phi3", dict(longrope(6, 64, 256), num_key_value_heads=2,
                                        pad_token_id=0)),
    "phi3_longrope_short": ("phi3", dict(longrope(6, 112, 256), num_key_value_heads=1,
                                         pad_token_id=0, tie_word_embeddings=True)),
}


class Generator:
    """splitmix64 [Steele et al. 2014], seeded with the FNV-1a hash of "case/tensor"; the upper 16
    bits of each output make one value, exact in F32."""

    def __init__(self, name):
        seed = 0xCBF29CE484222325
        for byte in name.encode():
            seed = ((seed ^ byte) * 0x100000001B3) & (2**64 - 1)
        self.seed = np.uint64(seed)

    def bits(self, n):
        with np.errstate(over="ignore"):
            z = self.seed + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            return z ^ (z >> np.uint64(31))

    def uniform(self, n):  # in [-1, 1), steps of 2^-15
        return ((self.bits(n) >> np.uint64(48)).astype(np.float64) - 32768) / 32768


def weight(case, name, shape):
    """Values of a tensor by its name in the GGUF file; shape with the contiguous dimension last."""
    uniform = Generator(f"{case}/{name}").uniform(int(np.prod(shape)))
    if name.endswith("norm.weight"):
        values = 1 + uniform * 0.25
    elif name.endswith("ssm_a"):  # its logarithm: the state fades within tokens, or hundreds of them
        values = uniform * 3 - 2
    elif name.endswith("ssm_conv1d.weight"):
        values = uniform
    elif name.endswith(".bias"):
        values = uniform * 0.5
    elif name == "token_embd.weight":
        values = uniform
    elif name.endswith(("attn_q.weight", "attn_k.weight")):
        values = uniform * 0.5
    elif name.endswith(("ffn_gate_inp.weight", "attn_sinks.weight")):
        values = uniform
    else:
        values = uniform * 0.25
    return values.astype(np.float32).reshape(shape)


def mxfp4_blocks(case, name, shape):
    """Blocks of a tensor, (..., n_in / 32, 17): an exponent, then 32 values as GGUF pairs them."""
    shape = (*shape[:-1], shape[-1] // 32, 17)
    values = (Generator(f"{case}/{name}").bits(int(np.prod(shape))) >> np.uint64(56)).astype(np.uint8)
    values = values.reshape(shape)
    values[..., 0] = 120 + values[..., 0] % 4
    return values


def prompt(case):
    return (Generator(f"{case}/prompt").bits(N_PROMPT_TOKENS) % np.uint64(VOCAB_SIZE)).tolist()


PARTS = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_up_proj": "ffn_up", "mlp.gate": "ffn_gate_inp",
    "mlp.shared_expert.gate_proj": "ffn_gate_shexp", "mlp.shared_expert.up_proj": "ffn_up_shexp",
    "mlp.shared_expert.down_proj": "ffn_down_shexp",
    "mlp.shared_expert_gate": "ffn_gate_inp_shexp",
}
HYBRID_PARTS = dict(PARTS, post_attention_layernorm="post_attention_norm") | {
    f"linear_attn.{part}": name for part, name in {
        "in_proj_ba": "ssm_ba", "in_proj_qkv": "attn_qkv", "in_proj_z": "attn_gate",
        "in_proj_b": "ssm_beta", "in_proj_a": "ssm_alpha", "conv1d": "ssm_conv1d",
        "norm": "ssm_norm", "out_proj": "ssm_out"}.items()}
GPT_OSS_PARTS = dict(PARTS, post_attention_layernorm="post_attention_norm")
GPT_OSS_PARTS["mlp.router"] = "ffn_gate_inp"
GEMMA_PARTS = dict(PARTS, post_attention_layernorm="post_attention_norm",
                   pre_feedforward_layernorm="ffn_norm", post_feedforward_layernorm="post_ffw_norm")


class Family:
    """A model class of transformers, and how its parameters differ from what GGUF stores."""
    options = ()  # of the converter
    least_gap = 2e-4  # between logits of a router: closer, float and double might choose differently

    def __init__(self, model, config, parts=PARTS, adjacent_pairs=False, norms_less_one=False,
                 interleaved=False):
        self.model = model
        self.config = config
        self.parts = parts
        self.adjacent_pairs = adjacent_pairs  # the converter reorders queries and keys
        self.norms_less_one = norms_less_one  # the converter adds 1 to the weights of norms
        # Experts' gates and ups alternate, and matrices lie transposed; or value heads do, by key heads.
        self.interleaved = interleaved

    def gguf_name(self, hf_name):
        name = hf_name.removeprefix("model.")
        if name.startswith("layers."):
            _, layer, rest = name.split(".", 2)
            part, kind = rest.rsplit(".", 1)
            return f"blk.{layer}.{self.parts[part]}.{kind}"
        return {"embed_tokens.weight": "token_embd.weight", "norm.weight": "output_norm.weight",
                "lm_head.weight": "output.weight"}[name]

    def experts(self, case, hf_name, shape):
        """A parameter of all experts of a layer, from the tensors that the GGUF file has instead."""
        layer, part = hf_name.split(".")[2], hf_name.rsplit(".", 1)[1]
        kind = "bias" if part.endswith("_bias") else "weight"
        n_experts, *rest = shape
        if self.interleaved and kind == "weight":
            rest = rest[::-1]

        def tensor(name, *shape):
            return weight(case, f"blk.{layer}.ffn_{name}_exps.{kind}", (n_experts, *shape))
        if part.startswith("down"):
            values = tensor("down", *rest)
        else:
            half = (rest[0] // 2, *rest[1:])
            values = np.stack([tensor("gate", *half), tensor("up", *half)], 2 if self.interleaved else 1)
            values = values.reshape(n_experts, *rest)
        return values.swapaxes(1, 2) if self.interleaved and kind == "weight" else values

    def values(self, case, hf_name, shape, config):
        if ".mlp.experts." in hf_name:
            return self.experts(case, hf_name, shape)
        if hf_name.endswith(".sinks"):
            return weight(case, f"blk.{hf_name.split('.')[2]}.attn_sinks.weight", shape)
        name = self.gguf_name(hf_name)
        return self.parameter(name, weight(case, name, shape), config)

    def parameter(self, name, values, config):
        """What transformers holds where the GGUF file holds `values`."""
        if self.adjacent_pairs and ".attn_q." in name:
            return to_halves(values, config.num_attention_heads)
        if self.adjacent_pairs and ".attn_k." in name:
            return to_halves(values, config.num_key_value_heads)
        if self.norms_less_one and name.endswith("norm.weight"):
            return values - 1
        return values


class HybridFamily(Family):
    """Layers of gated delta nets: the converter joins, splits and reorders what they read."""
    options = ("--no-mtp",)

    def values(self, case, hf_name, shape, config):
        layer = hf_name.split(".")[2] if ".linear_attn." in hf_name else ""
        n_groups = config.linear_num_key_heads
        shared = config.linear_num_value_heads // n_groups
        key_dim = n_groups * config.linear_key_head_dim
        value_dim = config.linear_num_value_heads * config.linear_value_head_dim

        def tensor(part, *shape):
            return weight(case, f"blk.{layer}.{part}", shape)

        def grouped(values, axis, width):
            """Value heads from the order of the GGUF file, where it has one of its own."""
            if not self.interleaved:
                return values
            shape = values.shape
            parts = (*shape[:axis], shared, n_groups, width, *shape[axis + 1:])
            return values.reshape(parts).swapaxes(axis, axis + 1).reshape(shape)

        def with_values(values):
            """Rows of queries and keys stay; those of values are grouped."""
            return np.concatenate([values[:2 * key_dim],
                                   grouped(values[2 * key_dim:], 0, config.linear_value_head_dim)])
        if not layer:
            return super().values(case, hf_name, shape, config)
        part = hf_name.split("linear_attn.")[1]
        if part == "in_proj_qkvz.weight":
            qkv = tensor("attn_qkv.weight", 2 * key_dim + value_dim, shape[1])
            z = tensor("attn_gate.weight", value_dim, shape[1])
            by_group = [values.reshape(n_groups, -1, shape[1]) for values in
                        (qkv[:key_dim], qkv[key_dim:2 * key_dim], qkv[2 * key_dim:], z)]
            return np.concatenate(by_group, 1).reshape(shape)
        if part in ("A_log", "dt_bias"):
            return grouped(tensor("ssm_a" if part == "A_log" else "ssm_dt.bias", *shape), 0, 1)
        if part == "conv1d.weight":
            return with_values(tensor("ssm_conv1d.weight", shape[0], shape[2])).reshape(shape)
        name = self.gguf_name(hf_name).split(".", 2)[2]
        values = tensor(name, *shape)
        if part == "in_proj_qkv.weight":
            return with_values(values)
        if part == "out_proj.weight":
            return grouped(values, 1, config.linear_value_head_dim)
        if part == "in_proj_z.weight":
            return grouped(values, 0, config.linear_value_head_dim)
        return grouped(values, 0, 1) if part in ("in_proj_a.weight", "in_proj_b.weight") else values


class Mxfp4Family(Family):
    """gpt-oss with its experts in MXFP4, as it is published."""
    least_gap = 0.02  # its products may round to 8 bits

    def packed(self, case, hf_name, shape):
        """What a published file has for a parameter of shape (n_experts, n_in, n_out)."""
        layer, part = hf_name.split(".")[2], hf_name.rsplit(".", 1)[1]
        n_experts, n_in, n_out = shape

        def blocks(name, n_out):
            return mxfp4_blocks(case, f"blk.{layer}.ffn_{name}_exps.weight", (n_experts, n_out, n_in))
        if part == "down_proj":
            values = blocks("down", n_out)
        else:
            values = np.stack([blocks("gate", n_out // 2), blocks("up", n_out // 2)], 2)
            values = values.reshape(n_experts, n_out, n_in // 32, 17)
        quants = np.concatenate([values[..., 1:] & 15, values[..., 1:] >> 4], -1)
        return dict(blocks=quants[..., 0::2] | quants[..., 1::2] << 4,
                    scales=np.ascontiguousarray(values[..., 0]))

    def experts(self, case, hf_name, shape):
        if hf_name.endswith("_bias"):
            return super().experts(case, hf_name, shape)
        import torch
        from transformers.integrations.mxfp4 import convert_moe_packed_tensors
        packed = self.packed(case, hf_name, shape)
        return convert_moe_packed_tensors(*map(torch.from_numpy, packed.values()),
                                          dtype=torch.float32).numpy()

    def pack(self, case, folder):
        """Puts the published form into a saved model."""
        from safetensors.numpy import load_file, save_file
        path = folder / "model.safetensors"
        tensors = load_file(path)
        for name in [n for n in tensors if n.endswith(("gate_up_proj", "down_proj"))]:
            packed = self.packed(case, name, tensors.pop(name).shape)
            tensors |= {f"{name}_{kind}": values for kind, values in packed.items()}
        save_file(tensors, path, {"format": "pt"})
        config = json.loads((folder / "config.json").read_text())
        config["quantization_config"] = dict(quant_method="mxfp4")
        (folder / "config.json").write_text(json.dumps(config))


FAMILIES = {
    "llama": Family("LlamaForCausalLM", "LlamaConfig", adjacent_pairs=True),
    "mistral3": Family("Ministral3ForCausalLM", "Ministral3Config", adjacent_pairs=True),
    "smollm3": Family("SmolLM3ForCausalLM", "SmolLM3Config", adjacent_pairs=True),
    "qwen2": Family("Qwen2ForCausalLM", "Qwen2Config"),
    "qwen3": Family("Qwen3ForCausalLM", "Qwen3Config"),
    "gemma2": Family("Gemma2ForCausalLM", "Gemma2Config", GEMMA_PARTS, norms_less_one=True),
    "gemma3": Family("Gemma3ForCausalLM", "Gemma3TextConfig", GEMMA_PARTS, norms_less_one=True),
    "phi3": Family("Phi3ForCausalLM", "Phi3Config"),
    "mixtral": Family("MixtralForCausalLM", "MixtralConfig", adjacent_pairs=True),
    "qwen2moe": Family("Qwen2MoeForCausalLM", "Qwen2MoeConfig"),
    "qwen3moe": Family("Qwen3MoeForCausalLM", "Qwen3MoeConfig"),
    "qwen3next": HybridFamily("Qwen3NextForCausalLM", "Qwen3NextConfig", HYBRID_PARTS,
                              norms_less_one=True),
    "qwen35": HybridFamily("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", HYBRID_PARTS,
                           norms_less_one=True, interleaved=True),
    "gpt_oss": Family("GptOssForCausalLM", "GptOssConfig", GPT_OSS_PARTS, interleaved=True),
    "gpt_oss_mxfp4": Mxfp4Family("GptOssForCausalLM", "GptOssConfig", GPT_OSS_PARTS, interleaved=True),
}


def to_halves(values, n_heads):
    """From GGUF's adjacent rotary pairs to Hugging Face's halves: undoes the converter's order."""
    shape = values.shape
    return values.reshape(n_heads, shape[0] // n_heads // 2, 2, -1).swapaxes(1, 2).reshape(shape)


def build_model(case, family, settings):
    import torch
    import transformers
    config = getattr(transformers, family.config)(**{**BASE, **settings})
    config._attn_implementation = "eager"  # the one that knows soft caps
    config._experts_implementation = "eager"  # the one that multiplies in float64
    model = getattr(transformers, family.model)(config)
    with torch.no_grad():
        for hf_name, parameter in model.named_parameters():
            values = family.values(case, hf_name, tuple(parameter.shape), config)
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(values)))
    return model.eval()


def watch_routers(model, n_used, least_gap):
    """Stops where a router's last chosen expert is no more than that ahead of the next."""
    def check(_module, _inputs, outputs):
        logits = (outputs[0] if isinstance(outputs, tuple) else outputs).double()
        best = logits.sort(-1, descending=True).values
        gap = float((best[..., n_used - 1] - best[..., n_used]).min())
        assert gap > least_gap, f"a router's choice hangs on {gap:.1e}: change the settings"
    for name, module in model.named_modules():
        if name.endswith((".mlp.gate", ".mlp.router")):
            module.register_forward_hook(check)


def write_tokenizer(folder):
    """The least that the converter accepts; it pads the list to the vocabulary's size."""
    from sentencepiece import sentencepiece_model_pb2 as spm
    proto = spm.ModelProto()
    Piece = spm.ModelProto.SentencePiece
    for piece, kind in [("<unk>", Piece.UNKNOWN), ("<s>", Piece.CONTROL), ("</s>", Piece.CONTROL)]:
        proto.pieces.add(piece=piece, score=0.0, type=kind)
    for i, letter in enumerate("▁abcdefghijklmnopqrstuvwxyz"):
        proto.pieces.add(piece=letter, score=-float(i), type=Piece.NORMAL)
    proto.trainer_spec.model_type = spm.TrainerSpec.BPE
    proto.trainer_spec.vocab_size = len(proto.pieces)
    (folder / "tokenizer.model").write_bytes(proto.SerializeToString())


TYPE_NAMES = ["u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64",
              "f64"]


def metadata_of(reader):
    entries = []
    for field in reader.fields.values():
        if field.name.startswith("GGUF."):
            continue
        kind = TYPE_NAMES[field.types[0]]
        entry = dict(key=field.name, type=kind)
        if kind == "array":
            entry.update(element_type=TYPE_NAMES[field.types[-1]], n_elements=len(field.data))
            if not field.name.startswith("tokenizer."):
                entry["values"] = field.contents()
        else:
            value = field.contents()
            entry["value"] = value
        entries.append(entry)
    return entries


# Some families have a byte-level vocabulary, which is not what is tried here.
CONVERT = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
from conversion.base import TextModel
TextModel._set_vocab_gpt2 = TextModel._set_vocab_sentencepiece
sys.argv[:2] = [sys.argv[1] + "/convert_hf_to_gguf.py"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def convert(peer, folder, case, options=()):
    out = folder / "model.gguf"
    subprocess.run([sys.executable, "-c", CONVERT, str(peer), folder, "--outfile", out, "--outtype", "f32",
                    "--model-name", case, *options], check=True, capture_output=True)
    sys.path.insert(0, str(peer / "gguf-py"))
    from gguf import GGUFReader
    return GGUFReader(out)


def tensors_of(reader, case):
    tensors = []
    for tensor in reader.tensors:
        values = np.array(tensor.data)
        entry = dict(name=tensor.name, shape=[int(n) for n in tensor.shape])
        if tensor.tensor_type.name == "MXFP4":
            entry["type"] = "MXFP4"
            expected = mxfp4_blocks(case, tensor.name, entry["shape"][::-1])
            assert values.tobytes() == expected.tobytes(), f"{tensor.name} came out changed"
            tensors.append(entry)
            continue
        assert values.dtype == np.float32, tensor.name
        # The converter computed it, or the settings have it.
        if tensor.name.startswith("rope_") or tensor.name.endswith("ssm_a"):
            entry["values"] = [float(v) for v in values]
        else:
            expected = weight(case, tensor.name, values.shape)
            assert values.tobytes() == expected.tobytes(), f"{tensor.name} came out changed"
        tensors.append(entry)
    return tensors


def logits_of(model, tokens):
    import torch
    with torch.no_grad():
        return model.double()(torch.tensor([tokens])).logits[0].numpy()


def write_case(path, description):
    """One line for each entry, tensor and row of logits."""
    def lines(entries, text):
        return "[\n" + ",\n".join(text(entry) for entry in entries) + "\n]"

    parts = []
    for key, value in description.items():
        if key == "logits":
            text = lines(value, row_text)
        elif key in ("metadata", "tensors"):
            text = lines(value, json.dumps)
        else:
            text = json.dumps(value)
        parts.append(f'"{key}": {text}')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def row_text(row):
    return "[" + ", ".join(f"{value:.8g}" for value in row) + "]"


def make_case(peer, case):
    import transformers
    family, settings = CASES[case]
    model = build_model(case, FAMILIES[family], settings)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model.save_pretrained(folder)
        if isinstance(FAMILIES[family], Mxfp4Family):
            FAMILIES[family].pack(case, folder)
        write_tokenizer(folder)
        reader = convert(peer, folder, case, FAMILIES[family].options)
        description = dict(
            case=case, made_with=f"transformers {transformers.__version__}, float64",
            n_prompt_tokens=N_PROMPT_TOKENS, vocab_size=VOCAB_SIZE, logit_rows=LOGIT_ROWS,
            metadata=metadata_of(reader), tensors=tensors_of(reader, case))
    watch_routers(model, settings.get("num_experts_per_tok", 1), FAMILIES[family].least_gap)
    description["logits"] = logits_of(model, prompt(case))[LOGIT_ROWS]
    path = pathlib.Path(__file__).parent / "cases" / f"{case}.json"
    path.parent.mkdir(exist_ok=True)
    write_case(path, description)
    print(f"{case}: {len(description['tensors'])} tensors, {path.stat().st_size} bytes")


def main():
    peer = pathlib.Path(sys.argv[1])
    for case in sys.argv[2:] or CASES:
        make_case(peer, case)


if __name__ == "__main__":
    main()
