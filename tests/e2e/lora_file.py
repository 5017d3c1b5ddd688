"""Writes LoRA adapters as the peer's converter does: random pairs for the matrices of a model."""
import array
import random
import struct

from gguf_file import F32, STRING, entry, string

TYPES = {"F32": (0, 4), "F16": (1, 2), "Q8_0": (8, None)}


def bytes_of(numbers, type_name):
    if type_name == "F32":
        return array.array("f", numbers).tobytes()
    return struct.pack(f"<{len(numbers)}e", *numbers)


def write_tensors(path, entries, tensors):
    """tensors: (name, shape, "F32" or "F16", bytes)."""
    directory, offset = b"", 0
    for name, shape, type_name, data in tensors:
        directory += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape,
                                                TYPES[type_name][0], offset)
        offset += -(-len(data) // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + directory
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32))
        for _, _, _, data in tensors:
            file.write(data + bytes(-len(data) % 32))


def adapter_entries(architecture="llama", alpha=16.0, kind="lora", general_type="adapter"):
    return [entry("general.architecture", STRING, architecture), entry("general.type", STRING, general_type),
            entry("adapter.type", STRING, kind), entry("adapter.lora.alpha", F32, alpha)]


def pair(tensor, n_in, n_out, rank, seed, size, type_name="F32"):
    """lora_a and lora_b of one tensor, uniform within +-size."""
    numbers = random.Random(f"{seed} {tensor}")
    return [(f"{tensor}.lora_{half}", shape, type_name,
             bytes_of([numbers.uniform(-size, size) for _ in range(shape[0] * shape[1])], type_name))
            for half, shape in (("a", (n_in, rank)), ("b", (rank, n_out)))]


def write_adapter(path, shapes, rank, seed, size=0.05, type_name="F32", **entries):
    """shapes: {tensor: (n_in, n_out)}."""
    tensors = []
    for tensor, (n_in, n_out) in shapes.items():
        tensors += pair(tensor, n_in, n_out, rank, seed, size, type_name)
    write_tensors(path, adapter_entries(**entries), tensors)


def matrices(described, parts=("attn_q", "attn_v", "ffn_down")):
    """{tensor: (n_in, n_out)} of a model as `hwtv inspect --json` describes it."""
    return {tensor["name"]: tuple(tensor["shape"]) for tensor in described["tensors"]
            if tensor["name"].split(".")[-2] in parts}
