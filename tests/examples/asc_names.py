#!/usr/bin/env python3
"""asc_names.py DIRECTORY: pyasc's forms of every call work with the package asc in the directory."""

import sys

sys.path.insert(0, sys.argv[1])
import asc  # noqa: E402 (the directory is an argument)

VECIN, VECOUT, VECCALC = asc.TPosition.VECIN, asc.TPosition.VECOUT, asc.TPosition.VECCALC


def refused(reason, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except asc.AscError as error:
        assert error.reason == reason and str(error).startswith(reason + ": "), error
    else:
        raise AssertionError(f"{reason} expected")


def raises(kind, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind:
        return
    raise AssertionError(f"{kind} expected")


# The example on the pages of pyasc's TBufPool: objects outside, two functions, either form of a call.
tbuf_pool0 = asc.TBufPool(VECCALC, 16)
tbuf_pool1 = asc.TBufPool(pos=VECCALC, buf_id_size=4)
tbuf_pool2 = asc.TBufPool(VECCALC)
src_que0, src_que1, src_que2 = (asc.TQue(VECIN, 1) for _ in range(3))
dst_que0, dst_que1 = (asc.TQue(pos=VECOUT, depth=1) for _ in range(2))


@asc.jit
def init(pipe):
    pipe.init_buf_pool(tbuf_pool0, 131072)
    tbuf_pool0.init_buffer(que=src_que0, num=1, len=65536)
    tbuf_pool0.init_buf_pool(tbuf_pool1, 65536)
    tbuf_pool0.init_buf_pool(tbuf_pool2, 65536, tbuf_pool1)


@asc.jit
def process(pipe):
    tbuf_pool1.init_buffer(que=src_que1, num=1, len=32768)
    tbuf_pool1.init_buffer(que=dst_que0, num=1, len=32768)
    tbuf_pool1.reset()
    tbuf_pool2.init_buffer(src_que2, num=1, len=32768)
    tbuf_pool2.init_buffer(dst_que1, num=1, len=32768)
    memory = pipe.layout()["memories"][0]
    buffers = {r["tque"]: r["address"] for r in memory["regions"] if r["kind"] == "BUFFER"}
    assert sorted(buffers.values()) == [0, 65536, 65536, 98304, 98304], buffers
    tbuf_pool2.reset()
    tbuf_pool0.reset()
    pipe.reset()


@asc.jit
def kernel():
    pipe = asc.TPipe()
    assert asc.get_tpipe_ptr() is pipe
    raises(RuntimeError, asc.TPipe)
    init(pipe)
    process(pipe)


def bufs(pipe):
    buf = asc.TBuf(VECCALC)
    refused("NOT_INITIALIZED", buf.get, asc.half)
    pipe.init_buffer(buf, 1024)
    assert (buf.get(asc.int32).get_size(), buf.get(asc.int32, 128).get_length()) == (256, 512)
    assert buf.get(asc.half, shape=(2, 8)).shape == buf.get(asc.half, (2, 8)).shape == (2, 8)
    for part in (buf.get_with_offset(128, 64, asc.int32), buf.get_with_offset(asc.int32, 128, 64),
                 buf.get_with_offset(size=128, buf_offset=64, dtype=asc.int32)):
        assert (part.address, part.get_size()) == (64, 128), part
    refused("OFFSET_UNALIGNED", buf.get_with_offset, 8, 33, asc.half)
    raises(ValueError, buf.get_with_offset, 8, 33, asc.half)
    refused("BUFFER_RANGE", buf.get, asc.half, 513)
    refused("ALREADY_INITIALIZED", pipe.init_buffer, buf=buf, num=32)
    assert pipe.init_buffer(buf=asc.TBuf(asc.TPosition.A1), num=100)["paddingBytes"] == 28
    pool = asc.TBufPool(asc.TPosition.A1)
    refused("NOT_INITIALIZED", pool.init_buffer, buf=asc.TBuf(asc.TPosition.A1), len=32)
    pipe.init_buf_pool(buf_pool=pool, len=256)
    assert pool.init_buffer(buf=asc.TBuf(asc.TPosition.A1), len=128)["memory"] == "L1"
    refused("POOL_OVERFLOW", pool.init_buffer, asc.TBuf(asc.TPosition.A1), 160)
    refused("POSITION_MISMATCH", pool.init_buffer, asc.TBuf(VECIN), 32)


def queues(pipe):
    que = asc.TQue(VECIN, 2)
    assert not que.has_idle_buffer()
    pipe.init_buffer(que, 2, 128 * asc.half.sizeof())
    tensor = asc.LocalTensor(asc.half)
    que.alloc_tensor(tensor)
    assert tensor.get_size() == 128 and que.has_idle_buffer() and not que.has_tensor_in_que()
    refused("QUEUE_EMPTY", que.deque, asc.half)
    que.enque(tensor)
    que.enque(que.alloc_tensor(dtype=asc.half))
    assert que.get_tensor_count_in_que() == 2 and not que.vacant_in_que() and not que.has_idle_buffer()
    refused("QUEUE_BUFFERS_HELD", que.alloc_tensor, asc.half)
    first = que.deque(asc.float32)
    assert (first.address, first.get_size()) == (tensor.address, 64)
    que.free_tensor(first)
    refused("NO_SUCH_TENSOR", que.free_tensor, tensor)
    que.deque(tensor=tensor)
    que.free_tensor(tensor=tensor)


def main():
    kernel[8]()
    kernel[1]()  # objects outside a kernel serve the next one
    raises(RuntimeError, asc.get_tpipe_ptr)
    with asc.TPipe(soc="Ascend910B1") as pipe:
        bufs(pipe)
        queues(pipe)
        assert pipe.layout("svg").startswith("<svg") and "UB" in pipe.layout("text")
    raises(RuntimeError, pipe.reset)
    with asc.TPipe(checks="device") as pipe:
        assert pipe.created["checks"] == "device"
    asc.TPipe()  # nothing refers to it: over
    left_open = asc.TPipe()  # over with the program
    assert not left_open.closed
    print("all forms work")


if __name__ == "__main__":
    main()
