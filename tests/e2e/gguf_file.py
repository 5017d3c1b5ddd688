"""Writes small llama models of any shape, their tensors sparse zeros: enough for what is said about a
model before it is loaded, and for running one that answers nonsense in no time."""
import math
import struct

U32, F32, STRING, ARRAY, I32 = 4, 6, 8, 9, 5
TENSOR_F32, TENSOR_F16 = 0, 1


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    head = string(key) + struct.pack("<I", kind)
    if kind == STRING:
        return head + string(value)
    return head + struct.pack("<I" if kind == U32 else "<f", value)


def array(key, kind, values):
    head = string(key) + struct.pack("<IIQ", ARRAY, kind, len(values))
    if kind == STRING:
        return head + b"".join(map(string, values))
    return head + struct.pack(f"<{len(values)}{'f' if kind == F32 else 'i'}", *values)


def vocabulary():
    """Three special tokens, the 256 bytes and some letters, as a llama tokenizer's entries."""
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + list("▁abcdefgh")
    kinds = [2, 3, 3] + [6] * 256 + [1] * 9
    return len(tokens), [
        entry("tokenizer.ggml.model", STRING, "llama"),
        array("tokenizer.ggml.tokens", STRING, tokens),
        array("tokenizer.ggml.scores", F32, [0.0] * len(tokens)),
        array("tokenizer.ggml.token_type", I32, kinds),
        entry("tokenizer.ggml.bos_token_id", U32, 1),
        entry("tokenizer.ggml.eos_token_id", U32, 2)]


def write_model(path, n_layers, model_dim, ffn_dim, n_heads, n_kv_heads, head_dim, context, fill=None):
    """An untied llama model without a chat template.  fill(n): the bytes of a matrix of n F16 elements
    (default: zeros); norms are ones then."""
    n_tokens, entries = vocabulary()
    entries += [entry("general.architecture", STRING, "llama")] + [
        entry(f"llama.{key}", U32, value) for key, value in [
            ("block_count", n_layers), ("embedding_length", model_dim), ("feed_forward_length", ffn_dim),
            ("attention.head_count", n_heads), ("attention.head_count_kv", n_kv_heads),
            ("attention.key_length", head_dim), ("attention.value_length", head_dim),
            ("rope.dimension_count", head_dim), ("context_length", context), ("vocab_size", n_tokens)]]
    entries.append(entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5))
    tensors = [("token_embd.weight", [model_dim, n_tokens]), ("output_norm.weight", [model_dim]),
               ("output.weight", [model_dim, n_tokens])]
    for layer in range(n_layers):
        tensors += [(f"blk.{layer}.{name}.weight", shape) for name, shape in [
            ("attn_norm", [model_dim]), ("ffn_norm", [model_dim]),
            ("attn_q", [model_dim, n_heads * head_dim]), ("attn_k", [model_dim, n_kv_heads * head_dim]),
            ("attn_v", [model_dim, n_kv_heads * head_dim]), ("attn_output", [n_heads * head_dim, model_dim]),
            ("ffn_gate", [model_dim, ffn_dim]), ("ffn_up", [model_dim, ffn_dim]),
            ("ffn_down", [ffn_dim, model_dim])]]
    directory, offset = b"", 0
    for name, shape in tensors:
        kind, n_bytes = (TENSOR_F32, 4) if len(shape) == 1 else (TENSOR_F16, 2)
        for size in shape:
            n_bytes *= size
        directory += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)
        offset += -(-n_bytes // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + directory
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for _, shape in tensors if fill else []:
            n = math.prod(shape)
            data = struct.pack(f"<{n}f", *[1.0] * n) if len(shape) == 1 else fill(n)
            file.write(data + bytes(-len(data) % 32))
        if not fill:
            file.truncate(file.tell() + offset)
