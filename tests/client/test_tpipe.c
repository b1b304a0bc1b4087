/* On-chip memory from C: the public numbers are those of the contract, the functions tell what the
 * service tells, and mistakes are its errors. */
#include "client_fixture.h"
#include "suites.h"

#include "command.h"
#include "limits.h"
#include "soma/tpipe.h"

#include <string.h>

/* ---- numbers: every value of the table has its enumerator, and there are no others ---- */

#define SAME(GROUP, PUBLIC, NAME)                                                                  \
    _Static_assert((int)SOMA_##PUBLIC##_##NAME == (int)SOMA_##GROUP##_##NAME, #NAME);
#define ROW_POSITION(GROUP, NAME, value, word, alias) SAME(GROUP, TPOSITION, NAME)
#define ROW_MEMORY(GROUP, NAME, value, word, alias) SAME(GROUP, TMEMORY, NAME)
#define ROW_DTYPE(GROUP, NAME, value, word, alias) SAME(GROUP, TDTYPE, NAME)
#define ROW_CHECKS(GROUP, NAME, value, word, alias) SAME(GROUP, TCHECKS, NAME)
#define ROW_KIND(GROUP, NAME, value, word, alias) SAME(GROUP, TREGION, NAME)
#define ROW_STATE(GROUP, NAME, value, word, alias) SAME(GROUP, TSTATE, NAME)
SOMA_ENUM_POSITION(ROW_POSITION)
SOMA_ENUM_ONCHIP_MEMORY(ROW_MEMORY)
SOMA_ENUM_DTYPE(ROW_DTYPE)
SOMA_ENUM_CHECKS(ROW_CHECKS)
SOMA_ENUM_REGION_KIND(ROW_KIND)
SOMA_ENUM_REGION_STATE(ROW_STATE)

#define COUNT_ROW(GROUP, NAME, value, word, alias) +1
_Static_assert(0 SOMA_ENUM_ONCHIP_MEMORY(COUNT_ROW) == SOMA_TMEMORY_COUNT, "memories");
_Static_assert(SOMA_TPIPE_NAME_BYTES == SOMA_NAME_BYTES_MAX + 1, "names");
_Static_assert(SOMA_TPIPE_TEXT_BYTES == SOMA_MESSAGE_BYTES, "texts");
_Static_assert(SOMA_TPIPE_BUFFERS_MAX == SOMA_PIPE_BUFFERS_MAX, "buffers");
_Static_assert(SOMA_TPIPE_NONE == UINT64_MAX, "no value");

/* ---- helpers ---- */

static soma_tpipe make_pipe(void)
{
    soma_tpipe pipe = {0};
    (void)GIVES(ACL_SUCCESS, soma_tpipe_create(&pipe, "Ascend910B1", SOMA_TCHECKS_DOCUMENTED));
    return pipe;
}

static soma_tque make_tque(soma_tpipe pipe, soma_tposition position, uint32_t depth)
{
    soma_tque tque = {0, 0};
    (void)GIVES(ACL_SUCCESS, soma_tpipe_create_tque(pipe, position, depth, NULL, &tque));
    return tque;
}

static soma_tbufpool make_tbufpool(soma_tpipe pipe, uint32_t buf_id_size)
{
    soma_tbufpool pool = {0, 0};
    (void)GIVES(ACL_SUCCESS,
                soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_VECCALC, buf_id_size, NULL, &pool));
    return pool;
}

static bool is_text(aclError want, aclError got, const char *part)
{
    const char *text = aclGetRecentErrMsg();
    return EXPECT(got == want, "%d, not %d", got, want) &&
           EXPECT(text != NULL && strstr(text, part) != NULL, "\"%s\" does not say %s",
                  text != NULL ? text : "", part);
}

/* ---- tests ---- */

static void test_pipes(void)
{
    fixture_begin();
    soma_tpipe first = make_pipe(), second = {0}, listed[1] = {{0}};
    soma_tpipe_info info;
    size_t count = 0;
    (void)GIVES(ACL_SUCCESS, soma_tpipe_create(&second, "Ascend310P3", SOMA_TCHECKS_DEVICE));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_list(listed, 1, &count));
    (void)EXPECT(count == 2 && listed[0].id == first.id, "%zu pipes", count);
    (void)GIVES(ACL_SUCCESS, soma_tpipe_describe(first, &info));
    (void)EXPECT(strcmp(info.soc, "Ascend910B1") == 0 && info.checks == SOMA_TCHECKS_DOCUMENTED,
                 "%s", info.soc);
    (void)EXPECT(info.memory_bytes[SOMA_TMEMORY_UB] == 196608 &&
                     info.memory_bytes[SOMA_TMEMORY_L1] == 524288 &&
                     info.memory_bytes[SOMA_TMEMORY_BT] == 1024 && info.buffers_max == 64 &&
                     info.pool_buffers_max == 16 && info.tensors_per_position_max == 8,
                 "the memories and limits are others");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_describe(second, &info));
    (void)EXPECT(info.memory_bytes[SOMA_TMEMORY_BT] == 0 && info.checks == SOMA_TCHECKS_DEVICE,
                 "the second pipe is another");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_destroy(second));
    (void)is_text(107017, soma_tpipe_destroy(second), "(NO_SUCH_PIPE)");
    (void)is_text(100000, soma_tpipe_create(&second, "Ascend0", SOMA_TCHECKS_DEVICE),
                  "(UNKNOWN_SOC)");
    (void)is_text(100000, soma_tpipe_create(&second, NULL, (soma_tchecks)2), "(INVALID_VALUE)");
    (void)GIVES(100000, soma_tpipe_create(NULL, NULL, SOMA_TCHECKS_DEVICE));
    (void)GIVES(100000, soma_tpipe_list(NULL, 1, &count));
    (void)GIVES(100000, soma_tpipe_describe(first, NULL));
    fixture_end();
}

/* Numbers of CANN's unit tests of TPipe. */
static void test_memory(void)
{
    fixture_begin();
    soma_tpipe pipe = make_pipe();
    soma_tque tque = make_tque(pipe, SOMA_TPOSITION_VECIN, 1);
    soma_tbufpool outer = make_tbufpool(pipe, 16), inner = make_tbufpool(pipe, 0),
                  over = make_tbufpool(pipe, 0);
    soma_tbuffers got;
    soma_tregion_given region;
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_buf_pool(pipe, outer, 131072, NULL, &region));
    (void)EXPECT(region.start_address == 0 && region.len == 131072, "the outer pool");
    (void)GIVES(ACL_SUCCESS, soma_tbufpool_init_tque(outer, tque, 2, 100, &got));
    (void)EXPECT(got.count == 2 && got.addresses[0] == 0 && got.addresses[1] == 128 &&
                     got.len == 128 && got.padding_bytes == 56 && got.memory == SOMA_TMEMORY_UB,
                 "the buffers");
    (void)GIVES(ACL_SUCCESS, soma_tbufpool_init_buf_pool(outer, inner, 65536, NULL, &region));
    (void)EXPECT(region.start_address == 256, "the inner pool");
    (void)GIVES(ACL_SUCCESS, soma_tbufpool_init_buf_pool(outer, over, 32768, &inner, &region));
    (void)EXPECT(region.start_address == 256 && region.len == 65536, "the pool over it");
    (void)is_text(107000, soma_tpipe_init_tque(pipe, tque, 1, 32, NULL), "(ALREADY_INITIALIZED)");
    soma_tbuf tbuf = {0, 0};
    soma_tslice slice;
    (void)GIVES(ACL_SUCCESS,
                soma_tpipe_create_tbuf(pipe, SOMA_TPOSITION_VECCALC, "scratch", &tbuf));
    (void)is_text(107000, soma_tbuf_get(tbuf, SOMA_TDTYPE_FLOAT16, SOMA_TPIPE_NONE, &slice),
                  "(NOT_INITIALIZED)");
    (void)is_text(107000, soma_tbufpool_init_tbuf(over, tbuf, 65537, &got), "(POOL_OVERFLOW)");
    (void)is_text(107000, soma_tpipe_init_tbuf(pipe, tbuf, 65537, &got), "(MEMORY_OVERFLOW)");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_tbuf(pipe, tbuf, 1024, &got));
    (void)EXPECT(got.addresses[0] == 131072 && got.count == 1, "the TBuf");
    (void)GIVES(ACL_SUCCESS, soma_tbuf_get(tbuf, SOMA_TDTYPE_FLOAT16, SOMA_TPIPE_NONE, &slice));
    (void)EXPECT(slice.elements == 512 && slice.bytes == 1024, "the whole TBuf");
    (void)GIVES(ACL_SUCCESS, soma_tbuf_get_with_offset(tbuf, SOMA_TDTYPE_INT32, 128, 64, &slice));
    (void)EXPECT(slice.address == 131072 + 64 && slice.bytes == 512, "a piece of the TBuf");
    (void)is_text(107000, soma_tbuf_get_with_offset(tbuf, SOMA_TDTYPE_INT32, 1, 20, &slice),
                  "(OFFSET_UNALIGNED)");
    (void)is_text(107000, soma_tbuf_get(tbuf, SOMA_TDTYPE_INT64, 129, &slice), "(BUFFER_RANGE)");
    (void)is_text(100000, soma_tbuf_get(tbuf, (soma_tdtype)11, 1, &slice), "(INVALID_VALUE)");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_reset(pipe));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_tque(pipe, tque, 1, 32, NULL));
    fixture_end();
}

static void test_tensors(void)
{
    fixture_begin();
    soma_tpipe pipe = make_pipe();
    soma_tque tque = make_tque(pipe, SOMA_TPOSITION_VECIN, 1),
              other = make_tque(pipe, SOMA_TPOSITION_VECOUT, 1);
    soma_ttensor a, b, c;
    (void)is_text(107000, soma_tque_alloc_tensor(tque, &a), "(NOT_INITIALIZED)");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_tque(pipe, tque, 2, 64, NULL));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_tque(pipe, other, 1, 64, NULL));
    (void)GIVES(ACL_SUCCESS, soma_tque_alloc_tensor(tque, &a));
    (void)GIVES(ACL_SUCCESS, soma_tque_alloc_tensor(tque, &b));
    (void)EXPECT(a.address == 0 && b.address == 64 && b.len == 64, "the tensors");
    (void)is_text(107000, soma_tque_alloc_tensor(tque, &c), "(QUEUE_BUFFERS_HELD)");
    (void)is_text(107000, soma_tque_de_que(tque, &c), "(QUEUE_EMPTY)");
    (void)GIVES(ACL_SUCCESS, soma_tque_en_que(tque, a));
    (void)is_text(107000, soma_tque_en_que(tque, b), "(QUEUE_FULL)");
    (void)is_text(107000, soma_tque_free_tensor(tque, a), "(TENSOR_STATE)");
    (void)GIVES(ACL_SUCCESS, soma_tque_de_que(tque, &c));
    (void)EXPECT(c.id == a.id && c.address == a.address, "another tensor came out");
    (void)GIVES(ACL_SUCCESS, soma_tque_free_tensor(tque, c));
    (void)is_text(107017, soma_tque_free_tensor(tque, c), "(NO_SUCH_TENSOR)");
    (void)EXPECT(soma_tque_free_tensor(other, b) != ACL_SUCCESS, "a tensor of another queue");
    (void)aclGetRecentErrMsg();
    soma_tpipe second = make_pipe();
    (void)is_text(100000, soma_tpipe_init_tque(second, tque, 1, 32, NULL), "share nothing");
    soma_ttensor foreign = {second.id, b.id, 0, 0};
    (void)is_text(100000, soma_tque_en_que(tque, foreign), "share nothing");
    (void)GIVES(100000, soma_tque_alloc_tensor(tque, NULL));
    fixture_end();
}

static void test_objects(void)
{
    static const char long_name[] =
        "a name of sixty-five bytes, which is one byte more than any may be";
    fixture_begin();
    soma_tpipe pipe = make_pipe();
    soma_tque tque;
    soma_tbufpool pool;
    (void)is_text(100000, soma_tpipe_create_tque(pipe, (soma_tposition)12, 1, NULL, &tque),
                  "(INVALID_VALUE)");
    (void)is_text(107000, soma_tpipe_create_tque(pipe, SOMA_TPOSITION_CO2, 1, NULL, &tque),
                  "(POSITION_UNSUPPORTED)");
    (void)is_text(107000, soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_A2, 0, NULL, &pool),
                  "(POSITION_UNSUPPORTED)");
    (void)is_text(100000, soma_tpipe_create_tbufpool(pipe, SOMA_TPOSITION_A1, 17, NULL, &pool),
                  "(VALUE_OUT_OF_RANGE)");
    (void)GIVES(100000, soma_tpipe_create_tque(pipe, SOMA_TPOSITION_A1, 1, "", &tque));
    (void)GIVES(100000, soma_tpipe_create_tque(pipe, SOMA_TPOSITION_A1, 1, long_name, &tque));
    (void)GIVES(100000, soma_tpipe_create_tque(pipe, SOMA_TPOSITION_A1, 1, NULL, NULL));
    fixture_end();
}

static void test_layout(void)
{
    fixture_begin();
    soma_tpipe pipe = make_pipe();
    soma_tbufpool pool = make_tbufpool(pipe, 0);
    soma_tque tque = {0, 0};
    soma_ttensor tensor;
    soma_tregion regions[3];
    soma_tpipe_usage usage;
    size_t count = 0, needed = 0;
    char text[8192] = "";
    (void)GIVES(ACL_SUCCESS, soma_tpipe_create_tque(pipe, SOMA_TPOSITION_VECIN, 1, "input", &tque));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_init_buf_pool(pipe, pool, 1024, NULL, NULL));
    (void)GIVES(ACL_SUCCESS, soma_tbufpool_init_tque(pool, tque, 2, 32, NULL));
    (void)GIVES(ACL_SUCCESS, soma_tque_alloc_tensor(tque, &tensor));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_regions(pipe, regions, 3, &count));
    (void)EXPECT(count == 3 && regions[0].kind == SOMA_TREGION_POOL &&
                     regions[0].tbufpool == pool.id && regions[0].len == 1024 &&
                     regions[0].tque == SOMA_TPIPE_NONE,
                 "the pool among %zu regions", count);
    (void)EXPECT(regions[1].tque == tque.id && regions[1].tensor == tensor.id &&
                     regions[1].state == SOMA_TSTATE_ALLOCATED && regions[1].level == 1 &&
                     strcmp(regions[1].name, "input") == 0 && strcmp(regions[1].owner, "p1") == 0,
                 "the buffer in use is %s of %s", regions[1].name, regions[1].owner);
    (void)EXPECT(regions[2].address == 32 && regions[2].state == SOMA_TSTATE_IDLE, "the idle one");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_memory(pipe, SOMA_TMEMORY_UB, &usage));
    (void)EXPECT(usage.capacity_bytes == 196608 && usage.used_bytes == 1024 &&
                     usage.live_bytes == 32 && usage.free_bytes == 195584,
                 "the usage");
    (void)GIVES(100000, soma_tpipe_memory(pipe, (soma_tmemory)6, &usage));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_layout(pipe, NULL, 0, &needed));
    (void)GIVES(ACL_SUCCESS, soma_tpipe_layout(pipe, text, needed - 1, &count));
    (void)EXPECT(count == needed && text[0] == '\0', "a text that does not fit was written");
    (void)GIVES(ACL_SUCCESS, soma_tpipe_layout(pipe, text, sizeof(text), &needed));
    (void)EXPECT(strlen(text) + 1 == needed && strstr(text, "\"name\":\"input\"") != NULL, "%s",
                 text);
    fixture_end();
}

static const struct client_test tests[] = {
    {"pipes", test_pipes},     {"memory for TQues, TBufs and TBufPools", test_memory},
    {"tensors", test_tensors}, {"what an object may be", test_objects},
    {"layout", test_layout},   {NULL, NULL},
};
const struct client_suite suite_tpipe = {"tpipe", tests};
