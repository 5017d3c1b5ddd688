"""Tensors of a GGUF file as numpy arrays: what `hwtv logits` and the peer's llama-results write."""
import struct

import numpy

KINDS = {0: numpy.dtype("<f4"), 26: numpy.dtype("<i4")}
SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9


class Reader:
    def __init__(self, file):
        self.file = file

    def number(self, form):
        return struct.unpack(form, self.file.read(struct.calcsize(form)))[0]

    def string(self):
        return self.file.read(self.number("<Q")).decode("utf-8", "replace")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, n = self.number("<I"), self.number("<Q")
            return [self.value(element) for _ in range(n)]
        return self.number(SCALARS[kind])


def read_tensors(path):
    """{name: one-dimensional array} of the F32 and I32 tensors, in the order of the file's bytes."""
    with open(path, "rb") as file:
        reader = Reader(file)
        if file.read(4) != b"GGUF":
            raise ValueError(f"{path} is no GGUF file")
        reader.number("<I")
        n_tensors, n_entries = reader.number("<Q"), reader.number("<Q")
        alignment = 32
        for _ in range(n_entries):
            key = reader.string()
            value = reader.value(reader.number("<I"))
            if key == "general.alignment":
                alignment = value
        rows = []
        for _ in range(n_tensors):
            name = reader.string()
            shape = [reader.number("<Q") for _ in range(reader.number("<I"))]
            rows.append((name, shape, reader.number("<I"), reader.number("<Q")))
        data = -(-file.tell() // alignment) * alignment
    arrays = {}
    for name, shape, kind, offset in rows:
        n = 1
        for size in shape:
            n *= size
        arrays[name] = numpy.fromfile(path, KINDS[kind], n, offset=data + offset)
    return arrays
