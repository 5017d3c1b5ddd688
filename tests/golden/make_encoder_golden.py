#!/usr/bin/env python3
"""Makes the cases of tests/golden/cases that are encoders: the rows that they must give are those of
transformers' last hidden state.  As make_golden.py, which see:

    python3 tests/golden/make_encoder_golden.py PEER_LLAMA_CPP_FOLDER [CASE ...]
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import make_golden as golden

SIZES = dict(vocab_size=golden.VOCAB_SIZE, hidden_size=48, intermediate_size=88, num_hidden_layers=3,
             num_attention_heads=4, layer_norm_eps=0.02, type_vocab_size=2)
BERT = dict(SIZES, max_position_embeddings=128, hidden_act="gelu")
NOMIC = dict(SIZES, hidden_act="silu", rope_parameters=dict(rope_type="default", rope_theta=700.0))

BERT_PARTS = {
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
}
NOMIC_PARTS = {
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "attn_output_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "post_mlp_layernorm": "layer_output_norm",
}
# The names of nomic's own code, which the converter reads, for those of GGUF.
NOMIC_CODE = {
    "attn_qkv": "attn.Wqkv", "attn_output": "attn.out_proj", "attn_output_norm": "norm1",
    "ffn_up": "mlp.fc11", "ffn_gate": "mlp.fc12", "ffn_down": "mlp.fc2", "layer_output_norm": "norm2",
}
EMBEDDINGS = {
    "embeddings.word_embeddings": "token_embd", "embeddings.token_type_embeddings": "token_types",
    "embeddings.position_embeddings": "position_embd", "embeddings.LayerNorm": "token_embd_norm",
}
ROBERTA = {f"roberta.{hf}": gguf for hf, gguf in EMBEDDINGS.items()} | {
    "classifier.dense": "cls", "classifier.out_proj": "cls.output"}
QKV = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]


def gguf_name(hf_name, layers, parts):
    """(name, which third of it or None)."""
    part, kind = hf_name.rsplit(".", 1)
    if not part.startswith(layers):
        return f"{(EMBEDDINGS | ROBERTA)[part]}.{kind}", None
    layer, part = part.removeprefix(layers).split(".", 1)
    if part in QKV:
        return f"blk.{layer}.attn_qkv.{kind}", QKV.index(part)
    return f"blk.{layer}.{parts[part]}.{kind}", None


def fill(model, case, layers, parts, first_position=0):
    """Generated weights; {name in GGUF: values}."""
    import torch
    values = {}
    with torch.no_grad():
        for hf_name, parameter in model.named_parameters():
            name, third = gguf_name(hf_name, layers, parts)
            if name == "position_embd.weight":  # the converter leaves out what is before the first
                parameter[:first_position] = 0
                parameter = parameter[first_position:]
            shape = list(parameter.shape)
            if third is not None:
                shape[0] *= 3
            if name not in values:
                values[name] = golden.weight(case, name, tuple(shape))
            whole = values[name]
            n_rows = len(whole) // 3
            part = whole if third is None else whole[third * n_rows:(third + 1) * n_rows]
            parameter.copy_(torch.from_numpy(part.copy()))
    return values


def write_vocabulary(folder):
    letters = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = letters + [f"t{i}" for i in range(golden.VOCAB_SIZE - len(letters))]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n")
    from transformers import BertTokenizerFast
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)


def make_bert(case, settings, folder):
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(**{**BERT, **settings}), add_pooling_layer=False)
    fill(model, case, "encoder.layer.", BERT_PARTS)
    model.save_pretrained(folder)
    return model


def make_classes(case, settings, folder):
    from transformers import RobertaConfig, RobertaForSequenceClassification
    model = RobertaForSequenceClassification(RobertaConfig(**{
        **BERT, "type_vocab_size": 1, "pad_token_id": 1, "max_position_embeddings": 130, **settings}))
    fill(model, case, "roberta.encoder.layer.", BERT_PARTS, first_position=2)
    model.save_pretrained(folder)
    return model


def make_nomic(case, settings, folder):
    """The model of transformers; in the folder, the same as nomic's own code stores it."""
    import torch
    from safetensors.torch import save_file
    from transformers import NomicBertConfig, NomicBertModel
    config = NomicBertConfig(**{**NOMIC, **settings})
    model = NomicBertModel(config, add_pooling_layer=False)
    tensors = {}
    for name, values in fill(model, case, "layers.", NOMIC_PARTS).items():
        part, kind = name.rsplit(".", 1)
        if part.startswith("blk."):
            _, layer, part = part.split(".")
            part = f"encoder.layers.{layer}.{NOMIC_CODE[part]}"
        else:
            part = {"token_embd_norm": "emb_ln"}.get(part) or \
                {gguf: hf for hf, gguf in EMBEDDINGS.items()}[part]
        tensors[f"{part}.{kind}"] = torch.from_numpy(values)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(dict(
        architectures=["NomicBertModel"], vocab_size=config.vocab_size, n_embd=config.hidden_size,
        n_layer=config.num_hidden_layers, n_head=config.num_attention_heads,
        n_inner=config.intermediate_size, n_positions=8192, max_trained_positions=2048,
        layer_norm_epsilon=config.layer_norm_eps, type_vocab_size=config.type_vocab_size,
        activation_function="swiglu", causal=False, qkv_proj_bias=False, mlp_fc1_bias=False,
        mlp_fc2_bias=False, prenorm=False, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
        rotary_emb_scale_base=None, rotary_emb_base=config.rope_parameters["rope_theta"])))
    return model


# The vocabulary is home-made, so the converter is told which it is like.
CONVERT = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from conversion.base import TextModel
TextModel.get_vocab_base_pre = lambda self, tokenizer: "default"
import convert_hf_to_gguf
convert_hf_to_gguf.main()
"""


def convert(peer, folder, case):
    out = folder / "model.gguf"
    subprocess.run([sys.executable, "-c", CONVERT, str(peer), str(folder), "--outfile", str(out),
                    "--outtype", "f32", "--model-name", case], check=True, capture_output=True)
    sys.path.insert(0, str(peer / "gguf-py"))
    from gguf import GGUFReader
    return GGUFReader(out)


def rows_of(model, tokens):
    """The last hidden state, or a classifier's one row."""
    import torch
    model = model.eval().double()
    with torch.no_grad():
        if not hasattr(model, "classifier"):
            return model(torch.tensor([tokens])).last_hidden_state[0].numpy()[golden.LOGIT_ROWS]
        positions = torch.arange(2, 2 + len(tokens))[None]
        return model(torch.tensor([tokens]), position_ids=positions).logits.numpy()


CASES = {"bert": (make_bert, {}),
         "bert_one_head": (make_bert, dict(num_attention_heads=1, hidden_size=24)),
         "bert_classes": (make_classes, dict(num_labels=7)), "nomic_bert": (make_nomic, {})}


def make_case(peer, case):
    import transformers
    make, settings = CASES[case]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = make(case, settings, folder)
        write_vocabulary(folder)
        reader = convert(peer, folder, case)
        description = dict(
            case=case, made_with=f"transformers {transformers.__version__}, float64",
            n_prompt_tokens=golden.N_PROMPT_TOKENS, vocab_size=golden.VOCAB_SIZE,
            logit_rows=[0] if case == "bert_classes" else golden.LOGIT_ROWS,
            metadata=golden.metadata_of(reader), tensors=golden.tensors_of(reader, case))
    description["logits"] = rows_of(model, golden.prompt(case))
    path = pathlib.Path(__file__).parent / "cases" / f"{case}.json"
    golden.write_case(path, description)
    print(f"{case}: {len(description['tensors'])} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    for chosen in sys.argv[2:] or CASES:
        make_case(pathlib.Path(sys.argv[1]), chosen)
