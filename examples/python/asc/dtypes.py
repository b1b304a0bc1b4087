"""Positions, element types, and the tensors that queues and buffers give."""

import enum


class TPosition(enum.IntEnum):
    """Logical positions, with pyasc's numbers."""

    GM = 0
    A1 = 1
    A2 = 2
    B1 = 3
    B2 = 4
    C1 = 5
    C2 = 6
    CO1 = 7
    CO2 = 8
    VECIN = 9
    VECOUT = 10
    VECCALC = 11
    MAX = 12


class DataType:
    """A type of elements; name is what the server calls it."""

    def __init__(self, name):
        self.name = name
        self.bitwidth = int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, DataType) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def sizeof(self):
        return self.bitwidth // 8


int8 = DataType("int8")
int16 = DataType("int16")
int32 = DataType("int32")
int64 = DataType("int64")
uint8 = DataType("uint8")
uint16 = DataType("uint16")
uint32 = DataType("uint32")
uint64 = DataType("uint64")
float16 = DataType("float16")
bfloat16 = DataType("bfloat16")
float32 = DataType("float32")
float64 = DataType("float64")  # pyasc has it; the server refuses it
int_ = int32
half = float16
float_ = float32
double = float64


class LocalTensor:
    """Bytes of an on-chip memory: where, how many, of which type. It holds no data."""

    def __init__(self, dtype=None):
        self.dtype = dtype
        self.shape = None
        self.tensor = None  # the server's id; None for a slice of a TBuf
        self.address = None  # offset in the memory of its position
        self.bytes = 0

    def __repr__(self):
        return f"LocalTensor({self.dtype}, {self.get_size()} elements at {self.address})"

    def get_size(self):
        """Elements."""
        return self.bytes // self.dtype.sizeof() if self.dtype is not None else 0

    def get_length(self):
        """Bytes."""
        return self.bytes

    def fill(self, dtype, answer):
        """Take over what allocTensor, deQue, get or getWithOffset answered."""
        if dtype is not None:
            self.dtype = dtype
        self.tensor = answer.get("tensor")
        self.address = answer["address"]
        self.bytes = answer["len"] if "len" in answer else answer["bytes"]
        return self
