#!/usr/bin/env python3
"""Two stages of a kernel in one piece of on-chip memory, with pyasc's names: standard library only.

    SOMA_SERVER=http://127.0.0.1:8080 python3 examples/python/tbufpool_two_stages.py

A pool of 128 KiB: 64 KiB that both stages use, and 64 KiB that the pools of the stages share. Runs
both stages, prints the map of the memory, shows what is refused. Checks what it sees; exits with 1
when something is not as documented.

The directory asc beside this file is all that is needed: copy it.
"""

import os
import sys

import asc

KIB = 1024


def say(text):
    print(f"\n== {text}")


def check(is_good, text):
    if not is_good:
        print(f"NOT AS DOCUMENTED: {text}", file=sys.stderr)
        sys.exit(1)


def starts_at(answer, address, name):
    """The one buffer that init_buffer gave."""
    print(f"{name}: {answer['len']} bytes of {answer['memory']} at {answer['buffers'][0]['address']}")
    check(answer["memory"] == "UB", f"{name} must be in UB")
    check([b["address"] for b in answer["buffers"]] == [address], f"{name} must be at {address}")


def stage(pool, que_in, que_out):
    """What a stage does with its queues, without the computing."""
    source = que_in.alloc_tensor(asc.half)
    que_in.enque(source)
    source = que_in.deque(asc.half)
    result = que_out.alloc_tensor(asc.half)
    que_out.enque(result)
    que_in.free_tensor(source)
    result = que_out.deque(asc.half)
    print(f"{source.get_size()} halves at {source.address} -> {result.get_size()} at {result.address}")
    check((source.address, result.address) == (64 * KIB, 96 * KIB), "both stages use the same addresses")
    que_out.free_tensor(result)
    pool.reset()


def run(pipe):
    pool0 = asc.TBufPool(asc.TPosition.VECCALC, 16, name="p0")
    pool1 = asc.TBufPool(asc.TPosition.VECCALC, name="p1")
    pool2 = asc.TBufPool(asc.TPosition.VECCALC, name="p2")
    src_que0 = asc.TQue(asc.TPosition.VECIN, 1, name="q0")
    src_que1 = asc.TQue(asc.TPosition.VECIN, 1, name="q1")
    src_que2 = asc.TQue(asc.TPosition.VECIN, 1, name="q2")
    dst_que0 = asc.TQue(asc.TPosition.VECOUT, 1, name="d0")
    dst_que1 = asc.TQue(asc.TPosition.VECOUT, 1, name="d1")

    say("128 KiB: q0 for both stages, and the rest twice, for p1 and for p2")
    pipe.init_buf_pool(pool0, 128 * KIB)
    starts_at(pool0.init_buffer(que=src_que0, num=1, len=64 * KIB), 0, "q0")
    regions = [pool0.init_buf_pool(pool1, 64 * KIB), pool0.init_buf_pool(pool2, 64 * KIB, pool1)]
    for region in regions:
        print(f"a pool of {region['len']} bytes at {region['startAddress']}")
        check((region["startAddress"], region["len"]) == (64 * KIB, 64 * KIB), "p2 must lie on p1")
    whole = src_que0.alloc_tensor(asc.half)

    say("Stage 1, in p1")
    starts_at(pool1.init_buffer(que=src_que1, num=1, len=32 * KIB), 64 * KIB, "q1")
    starts_at(pool1.init_buffer(que=dst_que0, num=1, len=32 * KIB), 96 * KIB, "d0")
    stage(pool1, src_que1, dst_que0)

    say("Stage 2, in p2: the same bytes")
    starts_at(pool2.init_buffer(src_que2, num=1, len=32 * KIB), 64 * KIB, "q2")
    starts_at(pool2.init_buffer(dst_que1, num=1, len=32 * KIB), 96 * KIB, "d1")
    stage(pool2, src_que2, dst_que1)

    say("The map: 128 KiB are enough for 192 KiB of buffers")
    print(pipe.layout("text"))
    memory = pipe.layout()["memories"][0]
    check(memory["usedBytes"] == 128 * KIB, "128 KiB of UB must be in use")
    check(memory["liveBytes"] == 64 * KIB, "q0's tensor must be live")
    check(pipe.layout("svg").startswith("<svg"), "there is a picture")

    say("Both stages at once is what a device would get wrong without a word")
    source = src_que1.alloc_tensor(asc.half)
    try:
        src_que2.alloc_tensor(asc.half)
        check(False, "two live tensors must not overlap")
    except asc.AscError as error:
        print(error)
        check(error.reason == "BUFFER_OVERLAP", "the reason must be BUFFER_OVERLAP")
    src_que1.free_tensor(source)

    say("Reset gives everything back")
    src_que0.free_tensor(whole)
    pool0.reset()
    pipe.reset()
    used = sum(memory["usedBytes"] for memory in pipe.layout()["memories"])
    print(f"{used} bytes in use")
    check(used == 0, "a reset pipe holds nothing")


def main():
    server = os.environ.get("SOMA_SERVER", "http://127.0.0.1:8080")
    try:
        with asc.TPipe(soc="Ascend910B1") as pipe:
            run(pipe)
    except asc.AscError as error:
        sys.exit(f"refused: {error}")
    except OSError as error:
        sys.exit(f"no soma server at {server} ({error}); start somad, or set SOMA_SERVER")
    print("\nAll as documented.")


if __name__ == "__main__":
    main()
