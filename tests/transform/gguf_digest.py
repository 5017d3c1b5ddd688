"""What a GGUF file holds, small enough to be committed: every key with its type and value, long arrays
and tensors as digests.  From the standard library alone."""
import hashlib
import mmap
import struct

SCALARS = {0: ("u8", "B"), 1: ("i8", "b"), 2: ("u16", "H"), 3: ("i16", "h"), 4: ("u32", "I"), 5: ("i32", "i"),
           6: ("f32", "f"), 7: ("bool", "?"), 10: ("u64", "Q"), 11: ("i64", "q"), 12: ("f64", "d")}
STRING, ARRAY = 8, 9
# Of the types that a conversion writes: name, elements and bytes of a block.
TENSOR_TYPES = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 8: ("Q8_0", 32, 34), 30: ("BF16", 1, 2)}
SHOWN_ELEMENTS = 4


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0]

    def string(self):
        n = self.take("Q")
        self.at += n
        return self.data[self.at - n:self.at].decode("utf-8", "surrogateescape")

    def value(self):
        kind = self.take("I")
        if kind == STRING:
            return ["string", self.string()]
        if kind != ARRAY:
            name, form = SCALARS[kind]
            return [name, self.take(form)]
        element, n = self.take("I"), self.take("Q")
        begin = self.at
        if element == STRING:
            elements = [self.string() for _ in range(n)]
            return ["strings", n, digest(self.data[begin:self.at]), elements[:SHOWN_ELEMENTS]]
        name, form = SCALARS[element]
        self.at += n * struct.calcsize("<" + form)
        return [name + "s", n, digest(self.data[begin:self.at])]


def describe(path):
    """{"metadata": {key: [type, value]}, "tensors": {name: [type, shape, digest]}}"""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        reader = Reader(data)
        assert data[:4] == b"GGUF", path
        reader.at = 4
        reader.take("I")
        n_tensors, n_entries = reader.take("Q"), reader.take("Q")
        metadata = {}
        for _ in range(n_entries):
            key = reader.string()
            metadata[key] = reader.value()
        directory = []
        for _ in range(n_tensors):
            name = reader.string()
            shape = [reader.take("Q") for _ in range(reader.take("I"))]
            directory.append((name, shape, reader.take("I"), reader.take("Q")))
        begin = -(-reader.at // 32) * 32
        tensors = {}
        for name, shape, kind, offset in directory:
            type_name, block, n_bytes = TENSOR_TYPES[kind]
            for size in shape:
                n_bytes *= size
            content = data[begin + offset:begin + offset + n_bytes // block]
            tensors[name] = [type_name, shape, digest(content)]
    return {"metadata": metadata, "tensors": tensors}

