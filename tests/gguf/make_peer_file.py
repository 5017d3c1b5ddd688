#!/usr/bin/env python3
"""Writes tests/gguf/peer.gguf with llama.cpp's gguf-py: our Writer must give the same bytes.

Usage: make_peer_file.py GGUF_PY_FOLDER   (needs numpy; the folder is in the peer's source package)
"""
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
import numpy as np
from gguf import GGMLQuantizationType, GGUFReader, GGUFValueType as T, GGUFWriter

path = pathlib.Path(__file__).with_name("peer.gguf")
w = GGUFWriter(path, "test")
w.add_key_value("u8", 200, T.UINT8)
w.add_key_value("i8", -100, T.INT8)
w.add_key_value("u16", 60000, T.UINT16)
w.add_key_value("i16", -30000, T.INT16)
w.add_key_value("u32", 4000000000, T.UINT32)
w.add_key_value("i32", -2000000000, T.INT32)
w.add_key_value("f32", 0.1, T.FLOAT32)
w.add_key_value("bool", True, T.BOOL)
w.add_key_value("string", "text \u4f60", T.STRING)
w.add_key_value("u64", 2**64 - 1, T.UINT64)
w.add_key_value("i64", -2**63, T.INT64)
w.add_key_value("f64", 0.1, T.FLOAT64)
w.add_key_value("i32s", [-1, 1], T.ARRAY, T.INT32)
w.add_key_value("bools", [True, False], T.ARRAY, T.BOOL)
w.add_key_value("strings", ["a", "", "z\0z"], T.ARRAY, T.STRING)
w.add_tensor("a", np.arange(6, dtype=np.float32).reshape(2, 3))
w.add_tensor("b", np.arange(2 * 18, dtype=np.uint8).reshape(2, 1, 18),
             raw_dtype=GGMLQuantizationType.Q4_0)
w.add_tensor("c", np.arange(5, dtype=np.float16))
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
print(path, [t.name for t in GGUFReader(path).tensors])
