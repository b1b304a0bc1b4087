"""pyasc's classes of on-chip memory over a soma server: standard library only.

    import asc

    with asc.TPipe() as pipe:
        que = asc.TQue(asc.TPosition.VECIN, 1)
        pipe.init_buffer(que=que, num=2, len=1024)
        tensor = que.alloc_tensor(asc.half)
        print(tensor.address, pipe.layout("text"))

Names and arguments are pyasc's. What soma adds is optional: name=, so that layouts and errors call
an object as you do; soc= and checks= of TPipe; TPipe.layout; an answer where pyasc answers None.
A pool that is divided into pools needs a buf_id_size that has room for theirs, or checks="device":
see "How many buffers" in schema/ONCHIP.md. Left out: event ids, get_base_addr, TQueBind,
and computing. This plans memory.

    SOMA_SERVER  http://HOST:PORT, http://127.0.0.1:8080 when not set
    SOMA_SOC     the SoC of pipes that do not say one
    SOMA_TOKEN   the bearer token, when the server wants one
"""

from .dtypes import (DataType, LocalTensor, TPosition, bfloat16, double, float16, float32, float64, float_, half,
                     int8, int16, int32, int64, int_, uint8, uint16, uint32, uint64)
from .fwk import TBuf, TBufPool, TPipe, TQue, Tpipe, get_tpipe_ptr, jit
from .service import AscError

__all__ = [
    "AscError", "DataType", "LocalTensor", "TBuf", "TBufPool", "TPipe", "TPosition", "TQue", "Tpipe", "bfloat16",
    "double", "float16", "float32", "float64", "float_", "get_tpipe_ptr", "half", "int8", "int16", "int32", "int64",
    "int_", "jit", "uint8", "uint16", "uint32", "uint64",
]
