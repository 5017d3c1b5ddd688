"""Tiny Hugging Face folders of every family that `hwtv convert` knows, from the standard library alone:
config.json, safetensors whole and in parts, tokenizers of both kinds, chat templates.  Whoever gives
the same case, seed and name gets the same bytes.

    python3 tests/transform/hf_folders.py FOLDER     writes every case below FOLDER
"""
import array
import json
import pathlib
import random
import struct
import sys

# --- Weights ---------------------------------------------------------------------------------------


def float_bytes(values, kind):
    """Floats as the elements of a safetensors file."""
    floats = array.array("f", values)
    if kind == "F32":
        return floats.tobytes()
    if kind == "F16":
        return struct.pack(f"<{len(floats)}e", *floats)
    halves = array.array("H", floats.tobytes())  # BF16 is the upper half of a float
    return halves[1::2].tobytes()


def write_safetensors(path, tensors, kind):
    """tensors: {name: (shape, values)}, in the file's order."""
    header, data = {"__metadata__": {"format": "pt"}}, []
    offset = 0
    for name, (shape, values) in tensors.items():
        data.append(float_bytes(values, kind))
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [offset, offset + len(data[-1])]}
        offset += len(data[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))


def generated(seed, name, shape):
    numbers = random.Random(f"{seed}/{name}")
    n = 1
    for size in shape:
        n *= size
    return shape, [numbers.uniform(-1, 1) for _ in range(n)]


# --- Vocabularies ----------------------------------------------------------------------------------

LETTERS = "▁etaoinshrdlucmfwypvbgkqjxz.,'0123456789"
PAIRS = ["▁t", "he", "in", "er", "▁a", "▁the", "on", "▁th", "at", "en", "nd", "▁and", "▁▁", "▁▁▁▁"]


def varint(n):
    out = b""
    while n > 0x7f:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def number_field(number, value):
    return varint(number << 3) + varint(value)


def pieces(has_bytes):
    """(text, score, kind) of a SentencePiece vocabulary."""
    out = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    if has_bytes:
        out += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    out += [(text, -float(i), 1) for i, text in enumerate(PAIRS + list(LETTERS))]
    return out + [("\n\n", -500.0, 4), ("<never>", -501.0, 5)]


def write_tokenizer_model(path, has_bytes):
    listed = pieces(has_bytes)
    data = b"".join(field(1, field(1, text.encode()) + varint(2 << 3 | 5) + struct.pack("<f", score) +
                          number_field(3, kind)) for text, score, kind in listed)
    trainer = number_field(3, 2) + number_field(4, len(listed)) + number_field(35, int(has_bytes))
    normalizer = field(1, b"identity") + number_field(3, 1) + number_field(4, 0)
    path.write_bytes(data + field(2, trainer) + field(3, normalizer))
    return len(listed)


def byte_letters():
    """The letter that stands for each byte in a byte-level vocabulary."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}


MERGES = [("Ġ", "t"), ("h", "e"), ("i", "n"), ("e", "r"), ("Ġ", "a"), ("Ġt", "he"), ("o", "n"), ("Ġ", "Ġ"),
          ("ĠĠ", "ĠĠ"), ("Ċ", "Ċ"), ("1", "2"), ("Ġt", "h")]

CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTION + "|" + WORD + r"|\p{N}{1,3}" + REST
QWEN2 = CONTRACTION + "|" + WORD + r"|\p{N}" + REST
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}


def split_by(expression, **more):
    split = {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [{**split, **more}, BYTE_LEVEL]}


def added(token_id, text, is_special, **more):
    return {"id": token_id, "content": text, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": is_special, **more}


def decoder_of(tokens):
    return {str(token["id"]): {key: value for key, value in token.items() if key != "id"}
            for token in tokens}


class ByteLevel:
    """A tokenizer.json of a byte-level vocabulary."""

    def __init__(self, pre_tokenizer, specials, post_processor=None, ignore_merges=False,
                 merges_are_pairs=True, normalizer=None, has_decoder=True, **config):
        letters = byte_letters()
        tokens = [letters[byte] for byte in range(256)] + [a + b for a, b in MERGES]
        self.added = [added(len(tokens) + i, text, is_special)
                      for i, (text, is_special) in enumerate(specials)]
        self.n_tokens = len(tokens) + len(self.added)
        merges = [[a, b] if merges_are_pairs else f"{a} {b}" for a, b in MERGES]
        self.document = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": self.added,
            "normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": post_processor,
            "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True,
                        "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                      "ignore_merges": ignore_merges,
                      "vocab": {text: i for i, text in enumerate(tokens)}, "merges": merges}}
        self.config = config | ({"added_tokens_decoder": decoder_of(self.added)} if has_decoder else {})

    def write(self, folder):
        write_json(folder / "tokenizer.json", self.document)
        write_json(folder / "tokenizer_config.json", self.config)


class SentencePieces:
    """A tokenizer.model, and around it what the model's authors added."""

    def __init__(self, has_bytes=True, more=(), added_file=None, tokenizer_json=None, **config):
        self.has_bytes, self.added_file, self.tokenizer_json = has_bytes, added_file, tokenizer_json
        n_pieces = len(pieces(has_bytes))
        base = [added(0, "<unk>", True), added(1, "<s>", True), added(2, "</s>", True)]
        self.added = base + [added(n_pieces + i, text, is_special)
                             for i, (text, is_special) in enumerate(more)]
        self.n_tokens = n_pieces + len(more) + len(added_file or {})
        self.config = config | {"added_tokens_decoder": decoder_of(self.added)}

    def write(self, folder):
        write_tokenizer_model(folder / "tokenizer.model", self.has_bytes)
        write_json(folder / "tokenizer_config.json", self.config)
        if self.added_file:
            write_json(folder / "added_tokens.json", self.added_file)
        if self.tokenizer_json:
            write_json(folder / "tokenizer.json", self.tokenizer_json | {"added_tokens": self.added})


def template_processing(first, last=None):
    token = {"SpecialToken": {"id": first, "type_id": 0}}
    single, pair = [token, sequence("A")], [token, sequence("A"), token, sequence("B", 1)]
    if last:
        end = {"SpecialToken": {"id": last, "type_id": 0}}
        single, pair = single + [end], [token, sequence("A"), end, sequence("B", 1), end]
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": {}}


def sequence(name, type_id=0):
    return {"Sequence": {"id": name, "type_id": type_id}}


# --- Families --------------------------------------------------------------------------------------

SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 2e-5}


def sizes(seed):
    """Those that are committed for seed 0, others for other seeds."""
    if seed == 0:
        return dict(SIZES)
    numbers = random.Random(f"sizes {seed}")
    n_kv_heads = numbers.choice([1, 2, 3])
    n_heads = n_kv_heads * numbers.choice([1, 2, 4])
    return {"hidden_size": n_heads * numbers.choice([16, 24, 32]),
            "intermediate_size": 32 * numbers.randint(2, 6),
            "num_hidden_layers": numbers.randint(1, 4), "num_attention_heads": n_heads,
            "num_key_value_heads": n_kv_heads, "max_position_embeddings": 64 * numbers.randint(2, 9),
            "rms_norm_eps": numbers.choice([1e-5, 1e-6, 3e-6])}


def tensor_shapes(config, style):
    """{name: shape} of a checkpoint.  style: what its family adds or fuses."""
    dim, ffn = config["hidden_size"], config["intermediate_size"]
    n_heads, n_kv = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or dim // n_heads
    shapes = {"model.embed_tokens.weight": [config["vocab_size"], dim], "model.norm.weight": [dim]}
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = [config["vocab_size"], dim]
    for layer in range(config["num_hidden_layers"]):
        parts = {"input_layernorm.weight": [dim], "post_attention_layernorm.weight": [dim],
                 "self_attn.o_proj.weight": [dim, n_heads * head_dim], "mlp.down_proj.weight": [dim, ffn]}
        if "post_norms" in style:
            parts |= {"pre_feedforward_layernorm.weight": [dim], "post_feedforward_layernorm.weight": [dim]}
        if "fused" in style:
            parts |= {"self_attn.qkv_proj.weight": [(n_heads + 2 * n_kv) * head_dim, dim],
                      "mlp.gate_up_proj.weight": [2 * ffn, dim]}
        else:
            parts |= {"mlp.gate_proj.weight": [ffn, dim], "mlp.up_proj.weight": [ffn, dim]}
            for letter, n in ("q", n_heads), ("k", n_kv), ("v", n_kv):
                parts[f"self_attn.{letter}_proj.weight"] = [n * head_dim, dim]
                if "qkv_bias" in style:
                    parts[f"self_attn.{letter}_proj.bias"] = [n * head_dim]
        if "qk_norm" in style:
            parts |= {"self_attn.q_norm.weight": [head_dim], "self_attn.k_norm.weight": [head_dim]}
        if "o_bias" in style:
            parts["self_attn.o_proj.bias"] = [dim]
        if "mlp_bias" in style:
            parts |= {"mlp.gate_proj.bias": [ffn], "mlp.up_proj.bias": [ffn], "mlp.down_proj.bias": [dim]}
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in sorted(parts.items())}
    return shapes


class Folder:
    """One model: what its files say.  `pre`: the name that its byte-level rule must be given."""

    def __init__(self, config, tokenizer, style=(), kind="BF16", n_parts=1, pre=None, files=None,
                 wrap=None, extra=None):
        self.config, self.tokenizer, self.style, self.kind = config, tokenizer, style, kind
        self.n_parts, self.pre, self.files, self.wrap = n_parts, pre, files or {}, wrap
        self.extra = extra or {}

    def tensors(self, seed, case):
        shapes = tensor_shapes(self.config, self.style)
        rename = self.wrap or (lambda name: name)
        named = {rename(name): shape for name, shape in shapes.items()} | self.extra
        return {name: generated(f"{case}/{seed}", name, shape) for name, shape in named.items()}

    def write(self, path, seed, case):
        path.mkdir(parents=True)
        write_json(path / "config.json", self.document())
        self.tokenizer.write(path)
        for name, content in self.files.items():
            file = path / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        self.write_weights(path, self.tensors(seed, case))

    def document(self):
        if not self.wrap:
            return self.config
        text = {key: value for key, value in self.config.items() if key != "architectures"}
        return {"architectures": self.config["architectures"], "model_type": "gemma3",
                "text_config": text | {"model_type": "gemma3_text"}, "bos_token_id": 1,
                "eos_token_id": [2, 5],
                "vision_config": {"hidden_size": 32, "model_type": "siglip_vision_model"}}

    def write_weights(self, path, tensors):
        if self.n_parts == 1:
            write_safetensors(path / "model.safetensors", tensors, self.kind)
            return
        names, weight_map = list(tensors), {}
        for part in range(self.n_parts):
            file = f"model-{part + 1:05}-of-{self.n_parts:05}.safetensors"
            mine = names[part::self.n_parts]
            write_safetensors(path / file, {name: tensors[name] for name in mine}, self.kind)
            weight_map |= {name: file for name in mine}
        write_json(path / "model.safetensors.index.json",
                   {"metadata": {"total_size": 0}, "weight_map": weight_map})


def write_json(path, document):
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False), "utf-8")


TEMPLATE = ("{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
            "{{ message['content'] }}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
LLAMA3_TOKENS = [("<|begin_of_text|>", True), ("<|end_of_text|>", True), ("<|eot_id|>", True),
                 ("<|reserved|>", False), ("a word", False)]
CHAT_TOKENS = [("<|endoftext|>", True), ("<|im_start|>", True), ("<|im_end|>", True), ("<tool_call>", False),
               ("<pad>", False)]


def base(name, model_type, tokenizer, seed, n_padding=0, **more):
    return {"architectures": [name], "model_type": model_type, **sizes(seed),
            "vocab_size": tokenizer.n_tokens + n_padding, "tie_word_embeddings": False, **more}


def llama_pieces(seed):
    """Llama 2's tokenizer with Llama 3's rope, in three parts."""
    tokenizer = SentencePieces(more=[("<|user|>", False), ("▁two▁words", False), ("[END]", True)],
                               bos_token="<s>", eos_token="</s>", unk_token="<unk>", add_bos_token=True,
                               add_eos_token=False, tokenizer_class="LlamaTokenizer", chat_template=TEMPLATE,
                               tokenizer_json={"model": {"type": "BPE", "vocab": {}, "merges": []},
                                               "post_processor": template_processing("<s>")})
    config = base("LlamaForCausalLM", "llama", tokenizer, seed, n_padding=3, attention_bias=True, mlp_bias=True,
                  hidden_act="silu", bos_token_id=1, eos_token_id=2, pad_token_id=0, rope_theta=500000.0,
                  rope_scaling={"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                                "high_freq_factor": 4.0, "original_max_position_embeddings": 32})
    return Folder(config, tokenizer, ("qkv_bias", "o_bias", "mlp_bias"), n_parts=3)


def llama_bytes(seed):
    tokenizer = ByteLevel(split_by(LLAMA3), LLAMA3_TOKENS, template_processing("<|begin_of_text|>"),
                          ignore_merges=True, bos_token="<|begin_of_text|>", eos_token="<|eot_id|>",
                          tokenizer_class="PreTrainedTokenizerFast", clean_up_tokenization_spaces=False,
                          chat_template=[{"name": "default", "template": TEMPLATE},
                                         {"name": "tool use", "template": "{{ tools }}" + TEMPLATE}])
    config = base("LlamaForCausalLM", "llama", tokenizer, seed, n_padding=7, head_dim=32, hidden_act="silu",
                  bos_token_id=tokenizer.added[0]["id"], eos_token_id=[tokenizer.added[1]["id"]],
                  rope_scaling={"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64,
                                "beta_fast": 30.0})
    config["tie_word_embeddings"] = True
    files = {"generation_config.json": {"temperature": 0.6, "top_p": 0.9, "do_sample": True,
                                        "eos_token_id": [1, 2]}}
    return Folder(config, tokenizer, kind="F16", pre="llama-bpe", files=files)


def mistral(seed):
    tokenizer = SentencePieces(has_bytes=False, added_file={"<added>": len(pieces(False))},
                               bos_token={"content": "<s>", "lstrip": False}, eos_token="</s>",
                               add_bos_token=True, add_prefix_space=True, tokenizer_class="LlamaTokenizer")
    config = base("MistralForCausalLM", "mistral", tokenizer, seed, hidden_act="silu", sliding_window=None,
                  bos_token_id=1, eos_token_id=2, rope_theta=1000000.0,
                  rope_scaling={"rope_type": "linear", "factor": 2.5})
    return Folder(config, tokenizer, kind="F32")


def qwen2(seed):
    tokenizer = ByteLevel(split_by(QWEN2), CHAT_TOKENS, BYTE_LEVEL, normalizer={"type": "NFC"},
                          merges_are_pairs=False, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                          bos_token=None, add_bos_token=False, tokenizer_class="Qwen2Tokenizer",
                          chat_template=TEMPLATE)
    config = base("Qwen2ForCausalLM", "qwen2", tokenizer, seed, n_padding=11, hidden_act="silu",
                  rope_theta=1000000.0, sliding_window=128, use_sliding_window=False,
                  bos_token_id=tokenizer.added[0]["id"], eos_token_id=tokenizer.added[2]["id"])
    config["tie_word_embeddings"] = True
    files = {"generation_config.json": {"temperature": 0.7, "top_p": 0.8, "top_k": 20,
                                        "repetition_penalty": 1.05}}
    return Folder(config, tokenizer, ("qkv_bias",), n_parts=2, pre="qwen2", files=files)


def qwen3(seed):
    tokenizer = ByteLevel(split_by(QWEN2), CHAT_TOKENS, BYTE_LEVEL, normalizer={"type": "NFC"},
                          eos_token="<|im_end|>", pad_token="<|endoftext|>", add_bos_token=False,
                          tokenizer_class="Qwen2Tokenizer")
    config = base("Qwen3ForCausalLM", "qwen3", tokenizer, seed, head_dim=48, attention_bias=True,
                  hidden_act="silu", eos_token_id=tokenizer.added[2]["id"],
                  rope_parameters={"rope_type": "yarn", "rope_theta": 3000000.0, "factor": 2.0,
                                   "original_max_position_embeddings": 96, "attention_factor": 1.25})
    files = {"chat_template.jinja": TEMPLATE, "additional_chat_templates/tools.jinja": "{{ tools }}"}
    return Folder(config, tokenizer, ("qkv_bias", "o_bias", "qk_norm"), pre="qwen2", files=files)


GEMMA_STYLE = ("post_norms", "qk_norm")
GEMMA_TOKENS = [("<start_of_turn>", True), ("<mask>", False), ("<unused0>", False), ("▁▁▁", False)]


def gemma3(seed):
    tokenizer = SentencePieces(more=GEMMA_TOKENS, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
                               add_bos_token=True, add_eos_token=False, tokenizer_class="GemmaTokenizer",
                               tokenizer_json={"model": {"type": "BPE", "vocab": {}, "merges": []},
                                               "post_processor": template_processing("<s>")})
    config = base("Gemma3ForCausalLM", "gemma3_text", tokenizer, seed, head_dim=24, sliding_window=48,
                  hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=24, rope_theta=1000000.0,
                  rope_local_base_freq=10000.0, bos_token_id=1, eos_token_id=2, pad_token_id=0,
                  attn_logit_softcapping=None, final_logit_softcapping=30.0, sliding_window_pattern=6)
    config["tie_word_embeddings"] = True
    return Folder(config, tokenizer, GEMMA_STYLE)


def gemma3_vision(seed):
    """The text model of one that sees too; most of its settings are its family's own."""
    tokenizer = SentencePieces(more=GEMMA_TOKENS, bos_token="<s>", eos_token="</s>", add_bos_token=True,
                               tokenizer_class="GemmaTokenizer")
    config = base("Gemma3ForConditionalGeneration", "gemma3_text", tokenizer, seed, n_padding=5, head_dim=16,
                  sliding_window=32, rope_scaling={"rope_type": "linear", "factor": 8.0})
    config["tie_word_embeddings"] = True
    del config["rms_norm_eps"], config["max_position_embeddings"]
    extra = {"vision_tower.vision_model.embeddings.position_embedding.weight": [4, 8],
             "multi_modal_projector.mm_soft_emb_norm.weight": [8]}
    return Folder(config, tokenizer, GEMMA_STYLE, kind="F16", wrap=lambda name: "language_model." + name,
                  extra=extra)


def phi3_pieces(seed):
    """Phi-3's long context."""
    more = [("<|endoftext|>", True), ("<|assistant|>", True), ("<|user|>", True), ("<tag>", False)]
    tokenizer = SentencePieces(more=more, bos_token="<s>", eos_token="<|endoftext|>",
                               pad_token="<|endoftext|>", add_bos_token=False, add_eos_token=False,
                               tokenizer_class="LlamaTokenizer",
                               tokenizer_json={"model": {"type": "BPE", "vocab": {}, "merges": []},
                                               "post_processor": None})
    config = base("Phi3ForCausalLM", "phi3", tokenizer, seed, n_padding=4, hidden_act="silu", sliding_window=96,
                  original_max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=0,
                  rope_theta=10000.0)
    n_pairs = config["hidden_size"] // config["num_attention_heads"] // 2
    config["rope_scaling"] = {"type": "longrope", "short_factor": [1.0 + i / 8 for i in range(n_pairs)],
                              "long_factor": [1.1 + i * 1.7 for i in range(n_pairs)]}
    return Folder(config, tokenizer, ("fused",), n_parts=2)


def phi3_bytes(seed):
    """Phi-4: the same architecture with a byte-level vocabulary, its words kept as what is left over."""
    tokens = [("<|endoftext|>", True), ("<|im_start|>", True), ("<|im_end|>", True)]
    pre = split_by(LLAMA3, behavior="Removed", invert=True)
    tokenizer = ByteLevel(pre, tokens, BYTE_LEVEL, bos_token="<|endoftext|>", eos_token="<|im_end|>",
                          pad_token="<|endoftext|>", add_prefix_space=False, tokenizer_class="GPT2Tokenizer",
                          chat_template=TEMPLATE)
    config = base("Phi3ForCausalLM", "phi3", tokenizer, seed, hidden_act="silu", rope_theta=250000.0,
                  rope_scaling=None, sliding_window=None, partial_rotary_factor=0.5,
                  original_max_position_embeddings=sizes(seed)["max_position_embeddings"],
                  bos_token_id=tokenizer.added[0]["id"], eos_token_id=tokenizer.added[2]["id"], pad_token_id=0)
    config["tie_word_embeddings"] = True
    return Folder(config, tokenizer, ("fused",), pre="dbrx")


# case: (the model, the folder's name, which tells something too)
CASES = {
    "llama_pieces": (llama_pieces, "Tiny-Llama-2-60K-chat-hf"),
    "llama_bytes": (llama_bytes, "llama_bytes"),
    "mistral": (mistral, "mistral-tiny-v0.3"),
    "qwen2": (qwen2, "Qwen2.5-70K-Instruct"),
    "qwen3": (qwen3, "Qwen3-1.7B-Base"),
    "gemma3": (gemma3, "gemma-3-80k-it"),
    "gemma3_vision": (gemma3_vision, "gemma-3-vision"),
    "phi3_pieces": (phi3_pieces, "Phi-3-mini-128k-instruct"),
    "phi3_bytes": (phi3_bytes, "phi-4"),
}


def write_case(case, below, seed=0):
    """The folder of a case, written below another one."""
    make, name = CASES[case]
    folder = make(seed)
    path = pathlib.Path(below) / case / name
    folder.write(path, seed, case)
    return path, folder


if __name__ == "__main__":
    for each in CASES:
        print(write_case(each, sys.argv[1])[0])
