/* Every maximum of soma, named, with its unit. Nothing here depends on a machine. */
#ifndef SOMA_LIMITS_H
#define SOMA_LIMITS_H

#include <stdint.h>

#define SOMA_PROTOCOL 1 /* version of the REST contract */

/* Device memory (semantics: pools). */
#define SOMA_GRANULE_BYTES UINT64_C(2097152)     /* pool granularity: 2 MiB */
#define SOMA_SMALL_PAGE_BYTES UINT64_C(4096)     /* page of an aclrtMalloc of at most 1 MiB */
#define SOMA_SMALL_ALLOC_BYTES UINT64_C(1048576) /* larger ones use 2 MiB pages */
#define SOMA_ALLOC_ALIGN_BYTES UINT64_C(32)      /* aclrtMalloc rounds sizes up to this */

/* Device addresses: one range for all devices of a session; no host pointer falls into it. */
#define SOMA_ADDRESS_BASE UINT64_C(0x12c0c0000000)       /* first pool or large allocation */
#define SOMA_ADDRESS_END UINT64_C(0x500000000000)        /* end of the large area */
#define SOMA_ADDRESS_SMALL_BASE UINT64_C(0x500000000000) /* allocations in 4 KiB pages */
#define SOMA_ADDRESS_SMALL_END UINT64_C(0x540000000000)
/* Where an engine keeps the contents of physical memory. Nobody outside sees these addresses. */
#define SOMA_PHYSICAL_BASE UINT64_C(0x540000000000)
#define SOMA_PHYSICAL_END UINT64_C(0x640000000000)
#define SOMA_GIANT_PAGE_BYTES UINT64_C(1073741824)     /* the larger page of physical memory */
#define SOMA_MANAGED_BYTES_MAX UINT64_C(3298534883328) /* aclrtMemAllocManaged, in sum: 3 TiB */

#define SOMA_ARCH_A2 2201u   /* npu_arch of Ascend910B and Ascend910_93 */
#define SOMA_DEVICES_MAX 64u /* devices of one session */
#define SOMA_DEVICES_DEFAULT 8u
#define SOMA_SOC_DEFAULT "Ascend910B1"
#define SOMA_MEMORY_BYTES_DEFAULT UINT64_C(34359738368) /* SoCs whose memory is not published */
#define SOMA_HOST_CALL_NS_DEFAULT UINT64_C(1000)

/* Numbers on the wire. */
#define SOMA_JSON_INTEGER_MAX UINT64_C(9007199254740991) /* 2^53 - 1: largest number token */
#define SOMA_JSON_DEPTH_MAX 16u                          /* nesting of a request body */
#define SOMA_JSON_VALUES_MAX 2000000u                    /* values in one request body */
#define SOMA_NOTIFIES_MAX 8192u                          /* of a device */
#define SOMA_TIMEOUT_MS_MAX UINT64_C(2147483647)
#define SOMA_DURATION_NS_MAX UINT64_C(1000000000000000) /* longest delay or cost: 11.5 days */
#define SOMA_KERNEL_ARGS_MAX 64u
#define SOMA_NAME_BYTES_MAX 64u   /* names of kernels, pipes' objects, `as` */
#define SOMA_LABEL_BYTES_MAX 128u /* label of a session */
#define SOMA_MESSAGE_BYTES 768u   /* error message, with its NUL */
#define SOMA_FIELD_BYTES 64u      /* field path of an error, with its NUL */

/* Service. */
#define SOMA_IDEMPOTENCY_KEY_BYTES_MAX 255u
#define SOMA_IDEMPOTENCY_KEYS_KEPT 10000u
#define SOMA_IDEMPOTENCY_BYTES_KEPT UINT64_C(268435456) /* of kept answers, in one session */
#define SOMA_SESSION_TTL_SECONDS_MAX UINT64_C(604800)   /* lease of a session: 7 days */
#define SOMA_LEAKS_MAX 1000u                            /* listed when a session ends */
#define SOMA_TOKEN_BYTES_MAX 256u                       /* of one bearer token */
#define SOMA_HEADER_BYTES_MAX 32768u                 /* request line and header fields together */
#define SOMA_BODY_BYTES_DEFAULT UINT64_C(1073741824) /* --max-body */
#define SOMA_JSON_BODY_BYTES_MAX UINT64_C(67108864)  /* a JSON body, whatever --max-body says */
#define SOMA_ANSWER_BYTES_MAX UINT64_C(2147483648)   /* of one answer */
#define SOMA_LAYOUT_BYTES_MAX UINT64_C(67108864)     /* of a layout as text or SVG */
/* The answer of POST /v1/commands may have as many bytes as --max-body, but at least and at most:
 */
#define SOMA_COMMANDS_ANSWER_BYTES_MIN SOMA_JSON_BODY_BYTES_MAX
#define SOMA_COMMANDS_ANSWER_BYTES_MAX (SOMA_ANSWER_BYTES_MAX / 2)

/* On-chip memory (TPipe). */
#define SOMA_PIPE_BUFFERS_MAX 64u     /* buffers of one pipe, those in its pools counted */
#define SOMA_TBUFPOOL_BUFFERS_MAX 16u /* bufIdSize: 1..16 */
#define SOMA_TBUFPOOL_BUFFERS_DEFAULT 4u
#define SOMA_QUEUE_TENSORS_MAX 8u      /* tensors held at one position */
#define SOMA_QUEUE_TENSORS_MAX_1001 4u /* on npu_arch 1001 */
#define SOMA_ONCHIP_ALIGN_BYTES 32u

#endif
