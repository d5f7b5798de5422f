// Raw bodies that are taken in pieces answer as those that are taken whole.
import { isUtf8 } from 'node:buffer'
import { request } from 'node:http'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { RENDERS, type Render } from '../../../src/core/content.ts'
import { WHOLE_BODY_BYTES } from '../../../src/http/body/raw-body.ts'
import { openLedger } from '../../../src/ledger/open.ts'
import type { PutAnswer } from '../../../src/runs/answer.ts'
import type { PutSource } from '../../../src/runs/describe.ts'
import { putResult } from '../../../src/runs/put.ts'
import { AjvValidator } from '../../../src/validation/ajv/ajv-validator.ts'
import { startApi } from '../../support/api.ts'
import { NOW, POLICY, RUN, temporaryFolder } from '../../support/ledger.ts'
import { RUN_LIMITS } from '../../support/limits.ts'

const LIMIT_BYTES = 3 * WHOLE_BODY_BYTES
const api = await startApi({ COATCHECK_MAX_RAW_BODY_BYTES: String(LIMIT_BYTES) })
const url = await api.listen()
afterAll(() => api.close())

const folder = temporaryFolder()
const ledger = await openLedger(`${folder.path}/ledger.db`, POLICY)
const validator = new AjvValidator({ schemaBytes: 1024, errorsShown: 1 })
afterAll(async () => {
  await ledger.close()
  await validator.close()
  folder.remove()
})
/** The answer to a put in a run of its own, or what it was refused with. */
async function answerTo(run: string, source: PutSource, render: Render): Promise<unknown> {
  const context = { ledger, validator, limits: RUN_LIMITS, now: () => NOW }
  const put = { toolUseId: 'call', toolName: 'tool', idempotencyKey: null, render, source }
  try {
    const { answer } = await putResult(context, { ...RUN, run }, put)
    return { ...answer, run_id: '' }
  } catch (error) {
    return String(error)
  }
}

async function* inPieces(value: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let pos = 0
  for (let i = 0; pos < value.length; i++) {
    const end = pos + (sizes[i % sizes.length] as number)
    yield value.subarray(pos, end)
    pos = end
  }
}

const unit = fc.constantFrom(
  ...['a line of words\n', '\r\n', 'é', '€uro\r\n', '😀', '\ufeff', '\0', '\r', 'x'.repeat(2_001)],
  'y'.repeat(70_000),
)
const bodies = fc
  .tuple(
    fc.array(fc.tuple(unit, fc.integer({ min: 1, max: 9_000 })), { maxLength: 6 }),
    fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() }),
  )
  .map(([parts, spoiled]) => {
    const text = parts.map(([part, times]) => part.repeat(Math.ceil(times / part.length))).join('')
    const bytes = Buffer.from(text)
    // a byte that is never a part of UTF-8, often at the edge of a chunk
    if (spoiled !== null && bytes.length > 0) {
      bytes[Math.min(bytes.length - 1, spoiled % 3 === 0 ? 65_535 : spoiled % bytes.length)] = 0xff
    }
    return bytes
  })

describe('a raw body in pieces', () => {
  it('is answered as the same bytes in one', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.array(fc.integer({ min: 1_000, max: 70_000 }), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...RENDERS),
        fc.constantFrom('text', 'binary'),
        async (body, sizes, render, kind) => {
          runs++
          const mediaType = kind === 'text' ? 'text/plain' : 'application/octet-stream'
          const isText = kind === 'text' && isUtf8(body)
          const whole: PutSource = isText
            ? { text: Buffer.from(body), mediaType }
            : { binary: Buffer.from(body), mediaType }
          const pieces = { pieces: inPieces(body, sizes), kind, mediaType }
          const answers = await Promise.all([
            answerTo(`whole-${runs}`, whole, render),
            answerTo(`pieces-${runs}`, pieces, render),
          ])
          expect(answers[1]).toEqual(answers[0])
        },
      ),
      { seed: 20_260_725, numRuns: 150 },
    )
  })

  it('is kept byte for byte, found by a retry, and read again in every rendering', async () => {
    const run = api.newRun()
    const body = Buffer.from('1,é,€,😀\r\n'.repeat(100_000))
    expect(body.length).toBeGreaterThan(WHOLE_BODY_BYTES)
    const put = await run.putRaw(body, 'text/csv', '?tool_use_id=t1&render=window')
    expect([put.status, put.body.kind, put.body.rendering]).toEqual([201, 'text', 'window'])
    expect((await run.value('r1')).bytes.equals(body)).toBe(true)
    const again = await run.putRaw(body, 'text/csv', '?tool_use_id=t1&render=window')
    expect([again.status, again.body]).toEqual([200, put.body])
    const { content, omitted } = put.body
    expect((await run.content('r1', '?render=window')).body).toMatchObject({ content, omitted })
    const preview = (await run.content('r1', '?render=preview')).body
    expect(preview.content).toBe(put.body.preview + put.body.hint)
    const { body: page } = await run.recall('{"id":"t1","range":{"start":99999,"end":100000}}')
    expect(page.content).toBe('1,é,€,😀\r\n'.repeat(2))
  })
})

/** Sends pieces one by one, without a length; `breakOff`: then the connection goes. */
function send(
  path: string,
  pieces: readonly Buffer[],
  { breakOff = false }: { readonly breakOff?: boolean } = {},
): Promise<{ readonly status: number | undefined; readonly body: PutAnswer } | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'text/plain' }
    const call = request(url + path, { method: 'POST', headers }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      reply.on('end', () => resolve({ status: reply.statusCode, body: JSON.parse(text) }))
    })
    call.on('error', (error) => (breakOff ? resolve(undefined) : reject(error)))
    const write = (i: number): void => {
      const piece = pieces[i]
      if (piece !== undefined) call.write(piece, () => setImmediate(write, i + 1))
      else if (breakOff) call.destroy(new Error('gone'))
      else call.end()
    }
    write(0)
  })
}

const MEBIBYTE = Buffer.alloc(WHOLE_BODY_BYTES, 'one line of text\n')

describe('a large body over a socket', () => {
  it('needs no length', async () => {
    const run = api.newRun()
    const answer = await send(`${run.path}/results`, [MEBIBYTE, MEBIBYTE])
    expect(answer?.status).toBe(201)
    expect(answer?.body).toMatchObject({ total_bytes: 2 * WHOLE_BODY_BYTES, kind: 'text' })
  })

  it('that grows past the limit on its way is refused, and leaves nothing', async () => {
    const run = api.newRun()
    const answer = await send(`${run.path}/results`, [MEBIBYTE, MEBIBYTE, MEBIBYTE, MEBIBYTE])
    expect(answer).toMatchObject({
      status: 413,
      body: { code: 'body_too_large', limit: 'raw_body_bytes', value: LIMIT_BYTES },
    })
    expect((await run.read()).status).toBe(404)
    expect((await run.putRaw('whole', 'text/plain')).body.handle).toBe('r1')
  })

  it('that breaks off leaves nothing', async () => {
    const run = api.newRun()
    await send(`${run.path}/results`, [MEBIBYTE, MEBIBYTE], { breakOff: true })
    expect((await run.read()).status).toBe(404)
    expect((await run.putRaw('whole', 'text/plain')).body.handle).toBe('r1')
  })

  it('that is refused while it is sent is answered, and its connection goes on', async () => {
    const run = api.newRun()
    await run.put('{"output":1}')
    await run.end()
    for (let n = 0; n < 3; n++) {
      const reply = await fetch(`${url}${run.path}/results`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: Buffer.concat([MEBIBYTE, MEBIBYTE]),
      })
      expect(reply.status).toBe(410)
      expect(await reply.json()).toMatchObject({ code: 'ended' })
    }
  })

  it('of a run that may not grow so much is refused with that limit', async () => {
    const small = await startApi({ COATCHECK_MAX_BYTES_PER_RUN: String(2 * WHOLE_BODY_BYTES) })
    try {
      const run = small.newRun()
      const { status, body } = await run.putRaw(Buffer.alloc(5_000_000, 'x'), 'text/plain')
      expect([status, body.code]).toEqual([422, 'over_limit'])
      expect(body.detail).toContain('and 5000000 more would pass the limit of 2097152')
      expect((await run.read()).status).toBe(404)
      expect((await run.putRaw('y'.repeat(2 * WHOLE_BODY_BYTES), 'text/plain')).status).toBe(201)
    } finally {
      await small.close()
    }
  })

  it('that a full run has already is a retry, with the same answer', async () => {
    const body = Buffer.concat([MEBIBYTE, MEBIBYTE])
    for (const limits of [
      { COATCHECK_MAX_RESULTS_PER_RUN: '2' },
      { COATCHECK_MAX_BYTES_PER_RUN: String(3 * WHOLE_BODY_BYTES) },
    ]) {
      const small = await startApi(limits)
      try {
        const run = small.newRun()
        const key = { 'idempotency-key': 'k' }
        const first = await run.putRaw(body, 'text/plain', '?tool_use_id=a', key)
        await run.put('{"output":1}')
        const keyed = await run.putRaw(body, 'text/plain', '?tool_use_id=a', key)
        const named = await run.putRaw(body, 'text/plain', '?tool_use_id=a')
        expect([first, keyed, named].map(({ status }) => status)).toEqual([201, 200, 200])
        expect([keyed.body, named.body]).toEqual([first.body, first.body])
        const other = await run.putRaw(body, 'text/plain', '?tool_use_id=b')
        expect([other.status, other.body.code]).toEqual([422, 'over_limit'])
      } finally {
        await small.close()
      }
    }
  })

  it('whose rendering is refused is not kept', async () => {
    const run = api.newRun()
    const body = Buffer.concat([MEBIBYTE, MEBIBYTE])
    const { status, body: problem } = await run.putRaw(body, 'text/plain', '?render=verbatim')
    expect([status, problem.code]).toEqual([422, 'over_limit'])
    expect((await run.read()).status).toBe(404)
  })
})
