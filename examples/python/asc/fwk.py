"""TPipe, TQue, TBuf, TBufPool: every call is one request.

A TQue, TBuf or TBufPool is made without a pipe, as in pyasc. It belongs to the pipe that first
gives it memory; used before that, to the pipe there is, and the server tells what is missing.
"""

import functools
import os
import weakref

from .dtypes import DataType, LocalTensor, TPosition
from .service import Service

_FORMS = {"json": "application/json", "text": "text/plain", "svg": "image/svg+xml"}
_DEFAULT_BUF_ID_SIZE = 4  # counts as not given, as in C++: see "How many buffers" in schema/ONCHIP.md
_current = None  # weak reference to the last TPipe


class _Object:
    """What a pipe declares: a queue, a buffer or a pool."""

    kind = None  # in bodies; with an s in paths

    def __init__(self, pos, name, **fields):
        self.pos = TPosition(pos)
        self._fields = dict(fields, position=self.pos.name)
        if name is not None:
            self._fields["name"] = name
        self._pipe = None
        self._id = None

    def _in(self, pipe):
        """The id of this object in a pipe; declares it there the first time."""
        if self._pipe is None or self._pipe.closed:
            self._id = pipe._call("POST", f"/{self.kind}s", self._fields)[self.kind]
            self._pipe = pipe
        elif self._pipe is not pipe:
            raise ValueError(f"this {type(self).__name__} belongs to another TPipe")
        return self._id

    def _do(self, verb, **body):
        pipe = self._pipe if self._pipe is not None and not self._pipe.closed else get_tpipe_ptr()
        return pipe._call("POST", f"/{self.kind}s/{self._in(pipe)}:{verb}", body)


class TQue(_Object):
    """A queue of buffers of one length."""

    kind = "tque"

    def __init__(self, pos=TPosition.VECIN, depth=1, mask=0, *, name=None):
        del mask  # how data is laid out; it takes no memory
        super().__init__(pos, name, depth=depth)
        self.depth = depth

    def alloc_tensor(self, dtype=None, tensor=None):
        """A free buffer: alloc_tensor(dtype) answers it, alloc_tensor(tensor) fills a LocalTensor."""
        return self._tensor("allocTensor", dtype, tensor)

    def deque(self, dtype=None, tensor=None, src_user_pos=None, dst_user_pos=None):
        """The first of the queue: deque(dtype) answers it, deque(tensor) fills a LocalTensor."""
        del src_user_pos, dst_user_pos  # which event to wait for; nothing runs here
        return self._tensor("deQue", dtype, tensor)

    def enque(self, tensor, src_user_pos=None, dst_user_pos=None):
        del src_user_pos, dst_user_pos
        self._do("enQue", tensor=tensor.tensor)

    def free_tensor(self, tensor):
        self._do("freeTensor", tensor=tensor.tensor)

    def get_tensor_count_in_que(self):
        return self._states().count("QUEUED")

    def has_tensor_in_que(self):
        return self.get_tensor_count_in_que() > 0

    def vacant_in_que(self):
        """Whether enque would have room (a queue of depth 0 holds one)."""
        return self.get_tensor_count_in_que() < max(self.depth, 1)

    def has_idle_buffer(self):
        return "IDLE" in self._states()

    def _tensor(self, verb, dtype, tensor):
        if isinstance(dtype, LocalTensor):  # alloc_tensor(tensor)
            dtype, tensor = None, dtype
        if (dtype is None) == (tensor is None):
            raise TypeError("a dtype or a LocalTensor is needed, and not both")
        answer = self._do(verb)
        if tensor is not None:
            tensor.fill(None, answer)
            return None
        return LocalTensor().fill(dtype, answer)

    def _states(self):
        """The states of its buffers."""
        if self._pipe is None or self._pipe.closed:
            return []
        regions = [region for memory in self._pipe.layout()["memories"] for region in memory["regions"]]
        return [region["state"] for region in regions if region.get("tque") == self._id]


class TBuf(_Object):
    """One buffer, cut into typed slices."""

    kind = "tbuf"

    def __init__(self, pos, *, name=None):
        super().__init__(pos, name)

    def get(self, dtype, len=None, shape=None):
        """Its first len elements; all of it without len (0 counts as none, as in pyasc)."""
        if len is not None and not isinstance(len, int):  # get(dtype, shape)
            len, shape = None, len
        body = {"dtype": dtype.name}
        if len:
            body["len"] = len
        tensor = LocalTensor().fill(dtype, self._do("get", **body))
        tensor.shape = shape
        return tensor

    def get_with_offset(self, size, buf_offset, dtype):
        """size elements from the byte buf_offset. Also (dtype, size, buf_offset), as pyasc's page has it."""
        if isinstance(size, DataType):
            size, buf_offset, dtype = buf_offset, dtype, size
        answer = self._do("getWithOffset", dtype=dtype.name, size=size, bufOffset=buf_offset)
        return LocalTensor().fill(dtype, answer)


class _Divides:
    """What a pipe and a pool have in common: they give memory. _give sends the request."""

    def init_buffer(self, que=None, num=None, len=None, *, buf=None):
        """(que, num, len): num buffers of len bytes. (buf, len): one; pyasc calls its length num in
        TPipe and len in TBufPool: both are taken in both."""
        target = buf if que is None else que
        if isinstance(target, TBuf):
            if num is not None and len is not None:
                raise TypeError("a TBuf has one length")
            return self._give("initBuffer", target, len=num or len or 0)
        if not isinstance(target, TQue) or buf is not None:
            raise TypeError("a TQue or a TBuf is needed, and not both")
        return self._give("initBuffer", target, num=num or 0, len=len or 0)

    def init_buf_pool(self, buf_pool, len=0, share_buf=None):
        """A region of len bytes; with share_buf the region of that pool."""
        shared = {} if share_buf is None else {"shareBuf": share_buf}
        return self._give("initBufPool", buf_pool, len=len, **shared)


class TBufPool(_Object, _Divides):
    """A region that is divided further, and that pools can share."""

    kind = "tbufpool"

    def __init__(self, pos, buf_id_size=_DEFAULT_BUF_ID_SIZE, *, name=None):
        fields = {} if buf_id_size == _DEFAULT_BUF_ID_SIZE else {"bufIdSize": buf_id_size}
        super().__init__(pos, name, **fields)

    def reset(self):
        self._do("reset")

    def _give(self, verb, target, **body):
        pipe = self._pipe if self._pipe is not None and not self._pipe.closed else get_tpipe_ptr()
        return pipe._give(verb, target, f"/tbufpools/{self._in(pipe)}", **body)


class TPipe(_Divides):
    """The on-chip memory of one kernel, in a session of its own.

    One at a time, as in pyasc: the last one ends with its with statement, with close() or destroy(),
    when nothing refers to it any more, or with the program.
    """

    def __init__(self, *, soc=None, checks=None):
        global _current
        if _current is not None and _current() is not None:
            raise RuntimeError("TPipe instance is already created, use get_tpipe_ptr() to obtain it")
        service = Service()
        self._service = service
        self._end = weakref.finalize(self, service.end)
        options = {"soc": soc or os.environ.get("SOMA_SOC"), "checks": checks}
        options = {name: value for name, value in options.items() if value}
        try:
            self.created = service.call("POST", "/v1/pipes", options)
        except BaseException:
            self._end()
            raise
        self._path = f"/v1/pipes/{self.created['pipe']}"
        _current = weakref.ref(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def closed(self):
        return not self._end.alive

    def close(self):
        """End the session, and the pipe with it."""
        global _current
        self._end()
        if _current is not None and _current() is self:
            _current = None

    destroy = close

    def reset(self):
        self._call("POST", ":reset")

    def layout(self, form="json"):
        """What lies where: "json" (a dict), "text" (a map for a terminal) or "svg" (a picture)."""
        return self._service.call("GET", self._path + "/layout", accept=_FORMS[form])

    def _call(self, method, path, body=None):
        if self.closed:
            raise RuntimeError("this TPipe is closed")
        return self._service.call(method, self._path + path, body)

    def _give(self, verb, target, owner="", **body):
        """initBuffer or initBufPool of the pipe, or of the pool at the path owner."""
        if "shareBuf" in body:
            body["shareBuf"] = body["shareBuf"]._in(self)
        return self._call("POST", f"{owner}:{verb}", {target.kind: target._in(self), **body})


Tpipe = TPipe  # as pyasc's pages spell it


def get_tpipe_ptr():
    pipe = _current() if _current is not None else None
    if pipe is None:
        raise RuntimeError("TPipe instance is not initialized, use TPipe() to create it")
    return pipe


def jit(function):
    """Runs on the host, once: the plan of all blocks is the same. kernel[8](...) ends its TPipe."""
    return _Kernel(function)


class _Kernel:
    def __init__(self, function):
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getitem__(self, _blocks):
        return self._launch

    def _launch(self, *args, **kwargs):
        try:
            return self._function(*args, **kwargs)
        finally:
            pipe = _current() if _current is not None else None
            if pipe is not None:
                pipe.close()
