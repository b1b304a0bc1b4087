/* InitBuffer and InitBufPool: bytes, numbers of buffers, ids, and what resets give back. */
#include "engine_fixture.h"
#include "expect.h"
#include "suites.h"

/* A pipe with two TQues at VECIN, a TBuf at VECCALC and pools p1 to p4 at VECCALC. */
#define PIPE_AND_OBJECTS                                                                           \
    "pipe.create -> pipe=1\n"                                                                      \
    "pipe.createTQue pipe=1 position=VECIN -> tque=1\n"                                            \
    "pipe.createTQue pipe=1 position=VECIN -> tque=2\n"                                            \
    "pipe.createTBuf pipe=1 position=VECCALC -> tbuf=1\n"                                          \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=16 -> tbufpool=1\n"                     \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 -> tbufpool=2\n"                      \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=4 -> tbufpool=3\n"                      \
    "pipe.createTBufPool pipe=1 position=VECCALC bufIdSize=2 -> tbufpool=4\n"

static const struct scene buffer_scenes[] = {
    {"buffers follow one another, each rounded up to 32 bytes", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 tque=1 num=2 len=100 -> memory=UB len=128 buffers.count=2 "
     "buffers[0].address=0 buffers[0].len=128 buffers[1].address=128 paddingBytes=56\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=1 -> len=32 buffers.count=1 buffers[0].address=256 "
     "paddingBytes=31\n"
     "pipe.initBuffer pipe=1 tque=2 num=1 len=64 -> buffers[0].address=288 paddingBytes=0"},
    {"memories are apart", PIPE_AND_OBJECTS
     "pipe.createTQue pipe=1 position=A1 -> tque=3\n"
     "pipe.createTQue pipe=1 position=C2 -> tque=4\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=64 -> memory=UB buffers[0].address=0\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=64 -> memory=L1 buffers[0].address=0\n"
     "pipe.initBuffer pipe=1 tque=4 num=1 len=1025 -> MEMORY_OVERFLOW says=BT\n"
     "pipe.initBuffer pipe=1 tque=4 num=1 len=1024 -> memory=BT buffers[0].address=0"},
    {"TSCM comes from the top of L1 downwards and meets the rest",
     PIPE_AND_OBJECTS "pipe.createTQue pipe=1 position=TSCM -> tque=3\n"
                      "pipe.createTQue pipe=1 position=TSCM -> tque=4\n"
                      "pipe.createTQue pipe=1 position=A1 -> tque=5\n"
                      "pipe.createTBuf pipe=1 position=TSCM -> tbuf=2\n"
                      "pipe.createTBufPool pipe=1 position=B1 -> tbufpool=5\n"
                      "pipe.initBuffer pipe=1 tque=3 num=2 len=1000 -> memory=L1 len=1024 "
                      "buffers[0].address=522240 buffers[1].address=523264\n"
                      "pipe.initBuffer pipe=1 tque=4 num=1 len=32 -> buffers[0].address=522208\n"
                      "pipe.initBuffer pipe=1 tbuf=2 len=2048 -> buffers[0].address=520160\n"
                      "pipe.initBuffer pipe=1 tque=5 num=1 len=520192 -> MEMORY_OVERFLOW\n"
                      "pipe.initBufPool pipe=1 tbufpool=5 len=520192 -> MEMORY_OVERFLOW\n"
                      "pipe.initBuffer pipe=1 tque=5 num=1 len=520160 -> buffers[0].address=0\n"
                      "pipe.initBufPool pipe=1 tbufpool=5 len=32 -> MEMORY_OVERFLOW\n"
                      "pipe.layout pipe=1 -> memories[1].usedBytes=524288 memories[1].freeBytes=0"},
    {"inside a pool TSCM goes upwards like the rest",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=A1\n"
     "pipe.createTQue pipe=1 position=TSCM\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=32 -> buffers[0].address=0 "
     "buffers[1].address=32"},
    {"len is at least 1 and num too", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 tque=1 num=1 len=0 -> ZERO_SIZE acl=100000 field=len\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=0 -> ZERO_SIZE\n"
     "pipe.initBuffer pipe=1 tque=1 num=0 len=32 -> VALUE_OUT_OF_RANGE field=num\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=0 -> ZERO_SIZE\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=0 -> ZERO_SIZE\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=0 -> ZERO_SIZE"},
    {"a TQue with num or a TBuf without", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 len=32 -> MISSING_FIELD says=neither\n"
     "pipe.initBuffer pipe=1 tque=1 tbuf=1 num=1 len=32 -> INVALID_VALUE says=both\n"
     "pipe.initBuffer pipe=1 tque=1 len=32 -> MISSING_FIELD field=num\n"
     "pipe.initBuffer pipe=1 tbuf=1 num=1 len=32 -> INVALID_VALUE field=num"},
    {"sizes that leave 64 bits are refused, not cut", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 tque=1 num=1 len=max -> SIZE_OVERFLOW acl=107000 field=len\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=max -> SIZE_OVERFLOW\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=max-31 -> MEMORY_OVERFLOW says=18446744073709551584\n"
     "pipe.initBuffer pipe=1 tque=1 num=max len=32 -> SIZE_OVERFLOW\n"
     "pipe.initBuffer pipe=1 tque=1 num=576460752303423488 len=32 -> SIZE_OVERFLOW\n"
     "pipe.initBuffer pipe=1 tque=1 num=576460752303423487 len=32 -> BUFFER_LIMIT\n"
     "pipe.initBuffer pipe=1 tque=1 num=2 len=2147483648 -> MEMORY_OVERFLOW says=4294967296\n"
     "pipe.initBuffer pipe=1 tque=1 num=16 len=268435456 -> MEMORY_OVERFLOW says=4294967296\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=max -> SIZE_OVERFLOW\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4294967328 -> MEMORY_OVERFLOW"},
    {"a TQue or TBuf gets its memory once, until the pipe is reset", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=64\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=32 -> ALREADY_INITIALIZED acl=107000 field=tque\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32 -> ALREADY_INITIALIZED\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=32 -> ALREADY_INITIALIZED field=tbuf\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=32 -> ALREADY_INITIALIZED field=tbufpool\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=32 shareBuf=1 -> ALREADY_INITIALIZED\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=1 len=32 -> ALREADY_INITIALIZED\n"
     "pipe.reset pipe=1\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=32 -> buffers[0].address=0\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=32 -> buffers[0].address=32"},
    {"at most 64 buffers in a pipe, those in its pools counted", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=16 len=32\n"
     "pipe.initBuffer pipe=1 tque=2 num=49 len=32 -> BUFFER_LIMIT acl=107000 field=tque says=16\n"
     "pipe.initBuffer pipe=1 tque=2 num=48 len=32\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=32 -> BUFFER_LIMIT field=tbuf\n"
     "pipe.layout pipe=1 -> buffers=64\n"
     "pipe.reset pipe=1\n"
     "pipe.initBuffer pipe=1 tque=2 num=64 len=32"},
    {"more TQue buffers at a position than event ids are allowed, with a warning",
     PIPE_AND_OBJECTS "pipe.initBuffer pipe=1 tbuf=1 len=32 -> warnings.count=0\n"
                      "pipe.initBuffer pipe=1 tque=1 num=8 len=32 -> warnings.count=0\n"
                      "pipe.createTQue pipe=1 position=VECOUT -> tque=3\n"
                      "pipe.initBuffer pipe=1 tque=3 num=8 len=32 -> warnings.count=0\n"
                      "pipe.initBuffer pipe=1 tque=2 num=1 len=32 -> warnings.count=1\n"
                      "pipe.create soc=Ascend910A -> pipe=2\n"
                      "pipe.createTQue pipe=2 position=VECIN -> tque=4\n"
                      "pipe.createTQue pipe=2 position=VECIN -> tque=5\n"
                      "pipe.initBuffer pipe=2 tque=4 num=4 len=32 -> warnings.count=0\n"
                      "pipe.initBuffer pipe=2 tque=5 num=1 len=32 -> warnings.count=1"},
};

static void test_buffers(void)
{
    RUN_SCENES(buffer_scenes);
}

static const struct scene pool_scenes[] = {
    {"a pool gives from its start upwards and no more than it has", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 tbuf=1 len=96\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1000 -> tbufpool=1 memory=UB startAddress=96 "
     "len=1024 paddingBytes=24\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=128 -> buffers[0].address=96 "
     "buffers[1].address=224\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=512 -> startAddress=352 len=512\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=2 num=1 len=257 -> POOL_OVERFLOW acl=107000 "
     "field=len\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=257 -> POOL_OVERFLOW field=len\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=2 num=1 len=256 -> buffers[0].address=864\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=4 len=512 -> startAddress=352 len=512"},
    {"nothing is allocated in a new pool; the bytes are the pipe's no more", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=1 len=131072 -> startAddress=0 paddingBytes=0\n"
     "pipe.layout pipe=1 -> buffers=0 memories[0].usedBytes=131072 memories[0].freeBytes=65536\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=65537 -> MEMORY_OVERFLOW\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=65536 -> buffers[0].address=131072"},
    {"a pool is initialised before use", PIPE_AND_OBJECTS
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32 -> NOT_INITIALIZED acl=107000 "
     "field=tbufpool\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=32 -> NOT_INITIALIZED field=parent\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=1 len=32 -> NOT_INITIALIZED field=parent\n"
     "pipe.poolReset pipe=1 tbufpool=1 -> NOT_INITIALIZED field=tbufpool\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=32 shareBuf=2 -> NOT_INITIALIZED field=shareBuf\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=32 shareBuf=1 -> NOT_INITIALIZED field=shareBuf"},
    {"a pool gives only memory of its own kind", PIPE_AND_OBJECTS
     "pipe.createTQue pipe=1 position=A1 -> tque=3\n"
     "pipe.createTQue pipe=1 position=C1 -> tque=4\n"
     "pipe.createTBufPool pipe=1 position=B1 -> tbufpool=5\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=5 len=1024 -> memory=L1\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=3 num=1 len=32 -> POSITION_MISMATCH acl=107000 "
     "field=tque\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=1 num=1 len=32 -> POSITION_MISMATCH\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tbuf=1 len=32 -> POSITION_MISMATCH field=tbuf\n"
     "pipe.poolInitBufPool pipe=1 parent=5 tbufpool=2 len=32 -> POSITION_MISMATCH "
     "field=tbufpool\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=3 num=1 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=4 num=1 len=32 -> buffers[0].address=32"},
    {"on npu_arch 2002 C1 is unified buffer",
     "pipe.create soc=Ascend310P3\n"
     "pipe.createTBufPool pipe=1 position=C1\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.createTQue pipe=1 position=A1\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=64 -> memory=UB\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=2 num=1 len=32 -> POSITION_MISMATCH\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32"},
};

static void test_pools(void)
{
    RUN_SCENES(pool_scenes);
}

static const struct scene share_scenes[] = {
    {"a sharing pool has start and length of the other", PIPE_AND_OBJECTS
     "pipe.initBuffer pipe=1 tbuf=1 len=32\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=3 len=1000 shareBuf=2 -> memory=UB startAddress=32 "
     "len=1024 paddingBytes=0\n"
     "pipe.initBufPool pipe=1 tbufpool=4 len=1 shareBuf=3 -> startAddress=32 len=1024\n"
     "pipe.layout pipe=1 -> memories[0].usedBytes=1056\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=1 len=1024 -> buffers[0].address=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=4 tque=2 num=1 len=1024 -> buffers[0].address=32"},
    {"it may not be longer", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=2 len=1000\n"
     "pipe.initBufPool pipe=1 tbufpool=3 len=1025 shareBuf=2 -> SHARE_TOO_LARGE acl=107000 "
     "field=len says=1056\n"
     "pipe.initBufPool pipe=1 tbufpool=3 len=1024 shareBuf=2 -> len=1024"},
    {"it lies in the same memory", PIPE_AND_OBJECTS
     "pipe.createTBufPool pipe=1 position=A1 bufIdSize=2 -> tbufpool=5\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=5 len=1024 shareBuf=2 -> SHARE_MISMATCH acl=107000 "
     "field=shareBuf\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=6\n"
     "pipe.initBufPool pipe=1 tbufpool=6 len=1024 shareBuf=2"},
    {"it lies inside what its giver has", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=512 shareBuf=2 -> SHARE_MISMATCH "
     "field=shareBuf\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=4 len=512 -> startAddress=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=3 len=512 shareBuf=4 -> BUF_ID_SIZE\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=5\n"
     "pipe.initBufPool pipe=1 tbufpool=5 len=512 shareBuf=4 -> startAddress=1024 len=512"},
    {"its bufIdSize is at most the other's, for the pipe and for a pool", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024 shareBuf=2 -> BUF_ID_SIZE acl=107000 "
     "field=tbufpool\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=4 len=512\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=512 shareBuf=4 -> BUF_ID_SIZE\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=5\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=5 len=512 shareBuf=4"},
};

static void test_sharing(void)
{
    RUN_SCENES(share_scenes);
}

static const struct scene id_scenes[] = {
    {"a pool holds at most bufIdSize buffers, 4 when it does not say", PIPE_AND_OBJECTS
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=5\n"
     "pipe.initBufPool pipe=1 tbufpool=5 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=1 num=5 len=32 -> BUF_ID_LIMIT acl=107000 "
     "field=tque says=bufIdSize\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=1 num=3 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=2 num=2 len=32 -> BUF_ID_LIMIT\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tbuf=1 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=2 num=1 len=32 -> BUF_ID_LIMIT"},
    {"a child's bufIdSize is at most what is left", PIPE_AND_OBJECTS
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=1 len=32\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=3 len=32 -> BUF_ID_SIZE acl=107000 "
     "field=tbufpool\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=4 len=32"},
    {"and is taken from it, when it was given",
     PIPE_AND_OBJECTS "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
                      "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=128\n"
                      "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=128\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=9 len=32 -> BUF_ID_LIMIT\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=7 len=32\n"
                      "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=4 len=32 -> BUF_ID_SIZE\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=1 tbuf=1 len=32\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=4 len=32"},
    {"the default is promised against other pools, and taken as buffers come", PIPE_AND_OBJECTS
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=5\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=6\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=5 len=512\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=6 len=32 -> BUF_ID_SIZE\n"
     "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=4 len=32 -> BUF_ID_SIZE\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=2 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=2 num=3 len=32 -> BUF_ID_LIMIT says=p2\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=2 num=2 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tbuf=1 len=32 -> BUF_ID_LIMIT says=p2"},
    {"what a default pool takes goes up as far as pools only pass it on",
     "pipe.create\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=3 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=3 -> tbufpool=2\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=3\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=4\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=5\n"
     "pipe.createTQue pipe=1 position=VECIN\n"
     "pipe.initBufPool pipe=1 tbufpool=5 len=4096\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=6\n"
     "pipe.poolInitBufPool pipe=1 parent=5 tbufpool=6 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=1 num=2 len=32\n"
     "pipe.poolInitBufPool pipe=1 parent=6 tbufpool=2 len=64 -> BUF_ID_SIZE says=p5\n"
     "pipe.poolInitBufPool pipe=1 parent=6 tbufpool=4 len=64\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=2\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=6 tque=2 num=1 len=32 -> BUF_ID_LIMIT says=p5\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=4 tque=2 num=2 len=32"},
    {"a sharing pool takes nothing from its parent",
     PIPE_AND_OBJECTS "pipe.initBufPool pipe=1 tbufpool=2 len=1024\n"
                      "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=3 len=512\n"
                      "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=4 -> tbufpool=5\n"
                      "pipe.poolInitBufPool pipe=1 parent=2 tbufpool=5 len=512 shareBuf=3\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=1 num=4 len=32\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=5 tque=2 num=4 len=32"},
    {"checks=device on npu_arch 2201: only a pool's own bufIdSize counts",
     "pipe.create checks=device\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=4 -> tbufpool=2\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=16 -> tbufpool=3\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=1\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=2\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=1024 shareBuf=2\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=3 len=32 -> BUF_ID_LIMIT\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=4 len=32"},
    {"checks=device elsewhere: bufIdSize of nested pools is compared",
     "pipe.create checks=device soc=Ascend310P3\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=2 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=4 -> tbufpool=2\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024 -> BUF_ID_SIZE\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024 shareBuf=1 -> BUF_ID_SIZE"},
};

static void test_ids(void)
{
    RUN_SCENES(id_scenes);
}

/* ---- resets ---- */

static const struct scene reset_scenes[] = {
    {"a reset of a pool ends what is in flight in it and its children, and keeps the rest",
     PIPE_AND_OBJECTS
     "pipe.createTQue pipe=1 position=VECIN -> tque=3\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=32\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=1\n"
     "pipe.enQue pipe=1 tque=1 tensor=1\n"
     "pipe.allocTensor pipe=1 tque=2 -> tensor=2\n"
     "pipe.allocTensor pipe=1 tque=3 -> tensor=3\n"
     "pipe.poolReset pipe=1 tbufpool=1\n"
     "pipe.freeTensor pipe=1 tque=2 tensor=2 -> NO_SUCH_TENSOR acl=107017 says=reset\n"
     "pipe.deQue pipe=1 tque=1 -> QUEUE_EMPTY\n"
     "pipe.freeTensor pipe=1 tque=3 tensor=3\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096 -> ALREADY_INITIALIZED\n"
     "pipe.initBuffer pipe=1 tque=1 num=2 len=32 -> ALREADY_INITIALIZED\n"
     "pipe.allocTensor pipe=1 tque=2 -> tensor=4 address=0\n"
     "pipe.layout pipe=1 -> buffers=4 memories[0].usedBytes=4128 memories[0].liveBytes=32"},
    {"a reset of a child leaves its parent alone",
     PIPE_AND_OBJECTS "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
                      "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32\n"
                      "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32\n"
                      "pipe.allocTensor pipe=1 tque=1\n"
                      "pipe.allocTensor pipe=1 tque=2\n"
                      "pipe.poolReset pipe=1 tbufpool=2\n"
                      "pipe.enQue pipe=1 tque=1 tensor=1\n"
                      "pipe.enQue pipe=1 tque=2 tensor=2 -> NO_SUCH_TENSOR"},
    {"a reset of the pipe puts it back to its construction, ids stay", PIPE_AND_OBJECTS
     "pipe.createTQue pipe=1 position=TSCM -> tque=3\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=4 len=32\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=32\n"
     "pipe.initBuffer pipe=1 tbuf=1 len=32\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.reset pipe=1\n"
     "pipe.layout pipe=1 -> buffers=0 memories[0].usedBytes=0 memories[0].peakBytes=4128 "
     "memories[1].usedBytes=0 memories[1].peakBytes=32 memories[0].regions.count=0 "
     "memories[0].stages.count=0\n"
     "pipe.allocTensor pipe=1 tque=1 -> NOT_INITIALIZED acl=107000 field=tque\n"
     "pipe.tbufGet pipe=1 tbuf=1 dtype=int8 -> NOT_INITIALIZED field=tbuf\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=1 len=32 -> NOT_INITIALIZED\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=64 -> startAddress=0\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=1 num=2 len=32 -> buffers[0].address=0\n"
     "pipe.initBuffer pipe=1 tque=3 num=1 len=32 -> buffers[0].address=524256\n"
     "pipe.allocTensor pipe=1 tque=1 -> tensor=2 address=0\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=4"},
    {"the documented loop: init, process, reset",
     "pipe.create\n"
     "pipe.createTQue pipe=1 position=VECOUT\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=192K -> buffers[0].len=196608\n"
     "pipe.reset pipe=1\n"
     "pipe.initBuffer pipe=1 tque=1 num=1 len=192K -> buffers[0].address=0\n"
     "pipe.reset pipe=1"},
    {"checks=device: a reset empties the pool, whose bytes are lost",
     "pipe.create checks=device\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=1\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=2\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=2\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=3\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024\n"
     "pipe.initBufPool pipe=1 tbufpool=2 len=1024 shareBuf=1\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=128\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32\n"
     "pipe.allocTensor pipe=1 tque=1\n"
     "pipe.poolReset pipe=1 tbufpool=1\n"
     "pipe.poolReset pipe=1 tbufpool=1\n"
     "pipe.allocTensor pipe=1 tque=1 -> NOT_INITIALIZED\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32 -> NOT_INITIALIZED\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=1 num=1 len=32 -> NOT_INITIALIZED\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=2 tque=2 num=1 len=32 -> buffers[0].address=0\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=1024 -> startAddress=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32 -> buffers[0].address=1024\n"
     "pipe.layout pipe=1 -> buffers=2 memories[0].usedBytes=2048"},
    {"checks=device elsewhere gives the ids back to the parent",
     "pipe.create checks=device soc=Ascend310P3\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=4 -> tbufpool=1\n"
     "pipe.createTBufPool pipe=1 position=VECIN bufIdSize=3 -> tbufpool=2\n"
     "pipe.createTBufPool pipe=1 position=VECIN -> tbufpool=3\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=1\n"
     "pipe.createTQue pipe=1 position=VECIN -> tque=2\n"
     "pipe.initBufPool pipe=1 tbufpool=1 len=4096\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=32 -> BUF_ID_LIMIT\n"
     "pipe.poolReset pipe=1 tbufpool=2\n"
     "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=3 len=1024 -> startAddress=1024\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=3 tque=2 num=3 len=32\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=2 len=32 -> BUF_ID_LIMIT\n"
     "pipe.poolReset pipe=1 tbufpool=3\n"
     "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=4 len=32 -> buffers[0].address=2048"},
};

static void test_resets(void)
{
    RUN_SCENES(reset_scenes);
}

/* ---- messages ---- */

/* After the script this command is refused with exactly this message. */
static void expect_message(const char *script, const char *command, const char *message)
{
    struct fixture fixture;
    if (!fixture_start(&fixture, NULL))
        return;
    (void)fixture_script(&fixture, message, script);
    (void)fixture_run(&fixture, "%s", command);
    EXPECT(fixture.status != SOMA_OK && same_words(fixture.error.message, message),
           "%s\nsays    %s\nand not %s", command, fixture.error.message, message);
    fixture_finish(&fixture, message);
}

static void test_messages(void)
{
    expect_message(
        "pipe.create\n"
        "pipe.createTBufPool pipe=1 position=VECIN\n"
        "pipe.createTQue pipe=1 position=VECIN\n"
        "pipe.createTQue pipe=1 position=VECIN\n"
        "pipe.initBufPool pipe=1 tbufpool=1 len=65536\n"
        "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=1 num=1 len=32768",
        "pipe.poolInitBuffer pipe=1 tbufpool=1 tque=2 num=2 len=40000",
        "TBufPool p1: InitBuffer of 2 x 40000 bytes (80000 after rounding to 32) does not "
        "fit: 65536 bytes, 32768 used by q1; largest: q1 32768; 32768 left, ask for less "
        "or make the pool larger");
    expect_message(
        "pipe.create\n"
        "pipe.createTQue pipe=1 position=VECIN name=inX\n"
        "pipe.createTQue pipe=1 position=VECOUT name=outZ\n"
        "pipe.createTBuf pipe=1 position=VECCALC\n"
        "pipe.createTBufPool pipe=1 position=VECCALC\n"
        "pipe.createTQue pipe=1 position=VECIN\n"
        "pipe.initBuffer pipe=1 tque=1 num=2 len=32K\n"
        "pipe.initBuffer pipe=1 tque=2 num=2 len=16K\n"
        "pipe.initBuffer pipe=1 tbuf=1 len=64\n"
        "pipe.initBufPool pipe=1 tbufpool=1 len=64K",
        "pipe.initBuffer pipe=1 tque=3 num=1 len=32737",
        "UB of pipe 1: InitBuffer of 1 x 32737 bytes (32768 after rounding to 32) does not "
        "fit: 196608 bytes, 163904 used by 4 objects; largest: inX 65536, p1 65536, outZ "
        "32768; 32704 left, ask for less or let pools share memory");
    expect_message(
        "pipe.create\n"
        "pipe.createTBufPool pipe=1 position=A1 name=outer\n"
        "pipe.createTBufPool pipe=1 position=A1\n"
        "pipe.initBufPool pipe=1 tbufpool=1 len=100",
        "pipe.poolInitBufPool pipe=1 parent=1 tbufpool=2 len=129",
        "TBufPool outer: InitBufPool of 129 bytes (160 after rounding to 32) does not fit: "
        "128 bytes, none used; 128 left, ask for less or make the pool larger");
}

static const struct soma_test tests[] = {
    {"buffers of a pipe", test_buffers},
    {"pools and what they give", test_pools},
    {"pools that share", test_sharing},
    {"bufIdSize", test_ids},
    {"resets", test_resets},
    {"errors name the rule and the numbers", test_messages},
    {NULL, NULL},
};

const struct soma_suite suite_pipe_init = {"pipe_init", tests};
