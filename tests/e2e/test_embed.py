#!/usr/bin/env python3
"""Embeddings and reranking, by the demo model and by an encoder of zeros."""
import json
import math
import struct

from gguf_file import F32, I32, STRING, TENSOR_F32, U32, array, entry, string
from program import INVALID_REQUEST, MODEL, UNSUPPORTED, ProgramTest, main

BOOL = 7
DIM, FFN, TOKENS = 32, 48, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁a", "▁b"]


def write_encoder(path, context=16):
    """A bert model of one layer whose every weight is 0 or, of norms, 1: a token's row is the bias of
    the last norm, which is 1, 2, 3, ..."""
    entries = [entry("general.architecture", STRING, "bert"), entry("bert.block_count", U32, 1),
               entry("bert.context_length", U32, context), entry("bert.embedding_length", U32, DIM),
               entry("bert.feed_forward_length", U32, FFN), entry("bert.attention.head_count", U32, 2),
               entry("bert.attention.layer_norm_epsilon", F32, 1e-5), entry("bert.pooling_type", U32, 1),
               string("bert.attention.causal") + struct.pack("<IB", BOOL, 0),
               entry("tokenizer.ggml.token_type_count", U32, 2),
               entry("tokenizer.ggml.model", STRING, "bert"),
               array("tokenizer.ggml.tokens", STRING, TOKENS),
               array("tokenizer.ggml.token_type", I32, [3, 3, 3, 3, 1, 1]),
               entry("tokenizer.ggml.unknown_token_id", U32, 1), entry("tokenizer.ggml.bos_token_id", U32, 2),
               entry("tokenizer.ggml.seperator_token_id", U32, 3)]
    tensors = {"token_embd.weight": [DIM, len(TOKENS)], "token_types.weight": [DIM, 2],
               "position_embd.weight": [DIM, context]}
    for name in ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm"):
        tensors |= {f"{name}.weight": [DIM], f"{name}.bias": [DIM]}
    for name, n_in, n_out in [("attn_q", DIM, DIM), ("attn_k", DIM, DIM), ("attn_v", DIM, DIM),
                              ("attn_output", DIM, DIM), ("ffn_up", DIM, FFN), ("ffn_down", FFN, DIM)]:
        tensors |= {f"blk.0.{name}.weight": [n_in, n_out], f"blk.0.{name}.bias": [n_out]}
    directory, data = b"", b""
    for name, shape in tensors.items():
        directory += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, TENSOR_F32, len(data))
        values = [0.0] * math.prod(shape)
        if name == "blk.0.layer_output_norm.bias":
            values = [1.0 + i for i in range(DIM)]
        data += struct.pack(f"<{len(values)}f", *values)
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries) + directory
    path.write_bytes(head + bytes(-len(head) % 32) + data)


class EmbedTest(ProgramTest):
    def test_a_decoder(self):
        self.need_model()
        answer = json.loads(self.good("embed", MODEL, "--json", given="Good morning\nGuten Morgen\n"))
        self.assertEqual(answer["pooling"], "last")
        self.assertEqual(len(answer["embeddings"]), 2)
        for one in answer["embeddings"]:
            self.assertEqual(len(one["embedding"]), 576)
            self.assertAlmostEqual(sum(x * x for x in one["embedding"]), 1, places=5)
        line = self.good("embed", MODEL, "--pooling", "mean", "--raw", given="Good morning").split()
        self.assertEqual(len(line), 576)
        self.assertNotAlmostEqual(sum(float(x) ** 2 for x in line), 1, places=1)

    def test_chunks_change_nothing(self):
        self.need_model()
        text = "one two three four five six seven eight"
        whole = self.good("embed", MODEL, "--pooling", "mean", given=text)
        self.assertEqual(self.good("embed", MODEL, "--pooling", "mean", "--chunk", "3", given=text), whole)

    def test_an_encoder(self):
        model = self.folder / "bert.gguf"
        write_encoder(model)
        answer = json.loads(self.good("embed", model, "--raw", "--json", given="a b\nb"))
        self.assertEqual(answer["pooling"], "mean")
        self.assertEqual([one["tokens"] for one in answer["embeddings"]], [4, 3])
        for one in answer["embeddings"]:
            self.assertEqual(one["embedding"], [1.0 + i for i in range(DIM)])
        self.refused(UNSUPPORTED, "run", model, "-p", "a", says=["bert", "hwtv embed"])
        self.refused(INVALID_REQUEST, "embed", model, given="a " * 20, says=["22", "16"])

    def test_rerank(self):
        self.need_model()
        texts = "The sky is blue.\nEggs boil in eight minutes.\n"
        answer = json.loads(self.good("rerank", MODEL, "--embeddings", "--pooling", "mean", "--json",
                                      "--query", "Eggs boil in eight minutes.", given=texts))
        self.assertEqual([one["line"] for one in answer], [2, 1])
        self.assertAlmostEqual(answer[0]["score"], 1, places=5)
        self.assertLess(answer[1]["score"], answer[0]["score"])
        self.refused(UNSUPPORTED, "rerank", MODEL, "--query", "eggs", given=texts, says=["--embeddings"])
        self.refused(INVALID_REQUEST, "rerank", MODEL, given=texts, says=["--query"])


if __name__ == "__main__":
    main()
