#!/usr/bin/env node
// A stream-ordered memory pool from node (18 or newer): no packages.
//
//   SOMA_SERVER=http://127.0.0.1:8080 node examples/node/soma_article.mjs
//
// Creates a pool, takes three blocks from it, adds two vectors on the emulated device, frees the
// blocks, takes three again and gets the same addresses, trims and destroys the pool. Checks what
// it sees; exits with 1 when something is not as documented.
//
// The class Soma below is all that is needed to use soma from JavaScript: copy it.

class SomaError extends Error {
  constructor(error) {
    super(`${error.details[0].reason}: ${error.message}`);
    this.http = error.code;
    this.reason = error.details[0].reason; // a stable word: test for this
    this.aclError = error.details[0].aclError; // what the C library returns for it
  }
}

class Soma {
  #server;
  session = null;

  // options: label, devices, soc, ttlSeconds, clock (POST /v1/sessions)
  static async open(server, options) {
    const soma = new Soma();
    soma.#server = server;
    soma.session = (await soma.call('POST', '/v1/sessions', options)).session;
    return soma;
  }

  // End the session; tells what it still held.
  async end() {
    const report = await this.call('DELETE', `/v1/sessions/${this.session}`);
    this.session = null;
    return report;
  }

  // One request. body: bytes go as they are, anything else as JSON. Answers likewise.
  async call(method, path, body) {
    const headers = {};
    if (this.session !== null) headers['Soma-Session'] = this.session;
    const isBytes = body instanceof Uint8Array;
    if (body !== undefined)
      headers['Content-Type'] = isBytes ? 'application/octet-stream' : 'application/json';
    const response = await fetch(this.#server + path, {
      method,
      headers,
      body: body === undefined || isBytes ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(30000),
    });
    const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
    const answer = isJson ? await response.json() : new Uint8Array(await response.arrayBuffer());
    if (!response.ok) throw new SomaError(answer.error);
    return answer;
  }
}

class Wrong extends Error {}

function say(text) {
  console.log(`\n== ${text}`);
}

function check(isGood, text) {
  if (!isGood) throw new Wrong(text);
}

async function run(soma) {
  const count = 1024;
  const size = 4 * count;
  const device = '/v1/devices/0';

  say('A session: one emulated process, with one device of its own');
  console.log(`session ${soma.session}`);

  say('A stream, and a pool of at most 1 GiB');
  const { stream } = await soma.call('POST', `${device}/streams`);
  const created = await soma.call('POST', `${device}/pools`, { maxSize: '1GiB' });
  const pool = `${device}/pools/${created.pool}`;
  await soma.call('PUT', `${pool}/attributes/releaseThreshold`, { value: '64MiB' });
  console.log(`stream ${stream}, pool ${created.pool} at ${created.baseAddress}`);

  const malloc = (bytes) => soma.call('POST', `${pool}:malloc`, { size: bytes, stream });
  const free = (ptr) => soma.call('POST', `${pool}:free`, { ptr, stream });
  const mallocThree = async () => [await malloc(size), await malloc(size), await malloc(size)];

  say(`Three blocks of ${size} bytes on the stream (each takes 2 MiB, the granularity)`);
  const blocks = await mallocThree();
  for (const [i, block] of blocks.entries()) {
    console.log(`${'xyz'[i]}: ${block.ptr}  ${block.reuse}`);
    check(block.reuse === 'FRESH', 'the first blocks must be FRESH');
  }
  const [x, y, z] = blocks.map((block) => block.ptr);

  say(`x = 0 1 2 ..., y = 0 2 4 ... (${count} floats); z = x + y on the device`);
  const bytesOf = (floats) => new Uint8Array(floats.buffer); // little-endian, as this host is
  const index = Float32Array.from({ length: count }, (_, i) => i);
  await soma.call('PUT', `${device}/memory/${x}?stream=${stream}`, bytesOf(index));
  await soma.call('PUT', `${device}/memory/${y}?stream=${stream}`, bytesOf(index.map((v) => 2 * v)));
  const times = await soma.call('POST', `${device}/streams/${stream}:launchKernel`, {
    kernel: 'add_custom',
    blockDim: 8,
    args: [{ ptr: x }, { ptr: y }, { ptr: z }, { u32: count }, { u32: 0 }], // 0: ACL_FLOAT
  });
  console.log(`the kernel runs from ${times.startNs} ns to ${times.endNs} ns of virtual time`);
  const bytes = await soma.call('GET', `${device}/memory/${z}?size=${size}&stream=${stream}`);
  const sum = new Float32Array(bytes.buffer);
  console.log(`z = ${sum[0]} ${sum[1]} ${sum[2]} ... ${sum[count - 1]}`);
  check(sum.length === count && sum.every((v, i) => v === 3 * i), 'z must be 3 times the index');

  say('Free on the stream: the memory is unused at once, but it stays with the pool');
  for (const ptr of [x, y, z]) await free(ptr);
  const now = await soma.call('GET', `${pool}/attributes`);
  console.log(`USED ${now.usedMemCurrent}, RESERVED ${now.reservedMemCurrent}`);
  check(now.usedMemCurrent === 0, 'USED must be 0');
  check(now.reservedMemCurrent === 3 * 2097152, 'RESERVED must be 3 x 2 MiB');

  say('Three blocks again, before the device has come anywhere: the same stream may use them');
  const again = await mallocThree();
  for (const block of again) {
    console.log(`${block.ptr}  ${block.reuse}`);
    check(block.reuse === 'SAME_STREAM', 'a freed block must be reused');
  }
  check(again.every((block, i) => block.ptr === [x, y, z][i]), 'the addresses must be the same');

  say('What is wrong is refused, and says why');
  const error = await malloc('2GiB').then(() => null, (refusal) => refusal);
  check(error instanceof SomaError && error.reason === 'POOL_EXHAUSTED', `POOL_EXHAUSTED is expected, not ${error}`);
  console.log(`HTTP ${error.http}, ACL error ${error.aclError}: ${error.message}`);

  for (const block of again) await free(block.ptr);

  say('Synchronise: the host waits, and memory above the threshold goes back (here: none)');
  const done = await soma.call('POST', `${device}/streams/${stream}:synchronize`);
  console.log(`virtual time ${done.nowNs} ns, released ${done.releasedBytes} bytes`);
  check(done.releasedBytes === 0, 'the threshold must keep the memory');

  say('Trim: give all idle memory back now');
  const trimmed = await soma.call('POST', `${pool}:trimTo`, { minBytesToKeep: 0 });
  console.log(`released ${trimmed.releasedBytes} bytes, RESERVED ${trimmed.reservedMemCurrent}`);
  check(trimmed.releasedBytes === 3 * 2097152, '3 x 2 MiB were idle');

  say('Destroy the pool, end the session');
  const destroyed = await soma.call('DELETE', pool);
  console.log(`left allocated in the pool: ${destroyed.leakedAllocations}`);
  check(destroyed.leakedAllocations === 0, 'nothing was left allocated');
  const report = await soma.end();
  console.log(`the session held: ${JSON.stringify(report.freed)}`);
  check(report.leaks.length === 0, 'nothing may have leaked');
}

async function main() {
  const server = process.env.SOMA_SERVER ?? 'http://127.0.0.1:8080';
  let soma = null;
  try {
    soma = await Soma.open(server, { label: 'node example', devices: 1, ttlSeconds: 60 });
    await run(soma);
    console.log('\nAll as documented.');
  } catch (error) {
    process.exitCode = 1;
    if (error instanceof Wrong) console.error(`NOT AS DOCUMENTED: ${error.message}`);
    else if (error instanceof SomaError) console.error(`refused: ${error.message}`);
    else if (soma === null) console.error(`no soma server at ${server} (${error.cause ?? error}); start somad, or set SOMA_SERVER`);
    else console.error(error);
  } finally {
    if (soma?.session) await soma.end().catch(() => {});
  }
}

await main();
