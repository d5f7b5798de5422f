import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('an id that is put again', () => {
  it('is a retry with the same bytes: same answer, nothing counted', async () => {
    const run = api.newRun()
    const envelope = '{"tool_use_id": "a", "tool_name": "t", "output": {"n": 1.0}}'
    const first = await run.put(envelope)
    const totals = (await run.read()).body
    const again = await run.put(envelope)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect((await run.read()).body).toEqual(totals)
  })

  it('is a new result with other bytes, under ~2, ~3 and so on', async () => {
    const run = api.newRun()
    const puts = ['1', '1.0', '2', '"1"']
    const ids = []
    for (const output of puts) {
      ids.push((await run.put(`{"tool_use_id": "a", "output": ${output}}`)).body.evidence_id)
    }
    expect(ids).toEqual(['a', 'a~2', 'a~3', 'a~4'])
    for (const [i, output] of puts.entries()) {
      expect((await run.value(`r${i + 1}`)).text).toBe(output)
    }
  })

  it('is a retry of a copy too, and that copy answers', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id": "a", "output": 1}')
    const copy = await run.put('{"tool_use_id": "a", "output": 2}')
    const again = await run.put('{"tool_use_id": "a", "output": 2}')
    expect(again.status).toBe(200)
    expect(again.body).toEqual(copy.body)
    expect((await run.read()).body.results).toBe(2)
  })

  it('is new with another outcome or kind, though the bytes are the same', async () => {
    const run = api.newRun()
    const failure = await run.put('{"tool_use_id": "a", "failure": {"message": "m"}}')
    const bytes = (await run.value('r1')).text
    const output = await run.put(`{"tool_use_id": "a", "output": ${bytes}}`)
    expect(failure.body.sha256).toBe(output.body.sha256)
    expect([output.status, output.body.evidence_id, output.body.outcome]).toEqual([
      201,
      'a~2',
      'output',
    ])
    const text = await run.putRaw(bytes, 'text/plain', '?tool_use_id=a')
    expect([text.status, text.body.evidence_id, text.body.kind]).toEqual([201, 'a~3', 'text'])
  })

  it('keeps the first content even when the run has another limit since', async () => {
    const run = api.newRun()
    await run.open('{"verbatim_limit_chars": 2000}')
    const envelope = `{"tool_use_id": "a", "output": "${'x'.repeat(3000)}"}`
    const first = await run.put(envelope)
    await run.open('{"verbatim_limit_chars": 10000}')
    const again = await run.put(envelope)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(first.body.rendering).toBe('window')
  })

  it('without an id every put is a result of its own', async () => {
    const run = api.newRun()
    const handles = []
    for (let n = 0; n < 3; n++) handles.push((await run.put('{"output": 1}')).body.handle)
    expect(handles).toEqual(['r1', 'r2', 'r3'])
  })

  it('that looks like a handle which is taken gets a copy, one that is still free is its own', async () => {
    const run = api.newRun()
    await run.put('{"output": "first"}')
    const taken = await run.put('{"tool_use_id": "r1", "output": "second"}')
    const dollar = await run.put('{"tool_use_id": "$r1", "output": "third"}')
    const free = await run.put('{"tool_use_id": "r9", "output": "fourth"}')
    expect(taken.body.evidence_id).toBe('r1~2')
    expect(dollar.body.evidence_id).toBe('$r1~2')
    expect(free.body.evidence_id).toBe('r9')
    expect((await run.recall('{"id": "r1"}')).body.content).toBe('first')
    expect((await run.recall('{"id": "r9"}')).body.content).toBe('fourth')
  })

  it('a result takes the id of its suspension, and both can be retried afterwards', async () => {
    const run = api.newRun()
    const waiting = '{"tool_use_id": "a", "suspension": {"reason": "approve?", "input_schema": {}}}'
    const done = '{"tool_use_id": "a", "output": "done"}'
    expect((await run.put(waiting)).body.evidence_id).toBe('a')
    expect((await run.put(done)).body).toMatchObject({ handle: 'r2', evidence_id: 'a' })
    expect((await run.recall('{"id": "a"}')).body.content).toBe('done')
    expect((await run.recall('{"id": "a~suspension"}')).body.content).toBe('approve?')
    const again = [await run.put(waiting), await run.put(done)]
    expect(again.map(({ status, body }) => [status, body.handle, body.evidence_id])).toEqual([
      [200, 'r1', 'a~suspension'],
      [200, 'r2', 'a'],
    ])
    expect((await run.read()).body.results).toBe(2)
  })
})

describe('an Idempotency-Key', () => {
  const key = (value: string) => ({ 'idempotency-key': value })

  it('makes a put a retry whatever its bytes, and the first answer stands', async () => {
    const run = api.newRun()
    const first = await run.put('{"tool_use_id": "a", "output": 1}', key('k'))
    const again = await run.put('{"tool_use_id": "a", "output": 2}', key('k'))
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect((await run.read()).body.results).toBe(1)
  })

  it('makes equal bytes under another key a new result', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id": "a", "output": 1}', key('k1'))
    const other = await run.put('{"tool_use_id": "a", "output": 1}', key('k2'))
    expect([other.status, other.body.evidence_id]).toEqual([201, 'a~2'])
  })

  it('works for puts without an id, and only within its run', async () => {
    const [run, other] = [api.newRun(), api.newRun()]
    const statuses = []
    for (const target of [run, run, other]) {
      statuses.push((await target.put('{"output": 1}', key('k'))).status)
    }
    expect(statuses).toEqual([201, 200, 201])
  })

  it.each(['', 'k'.repeat(256)])('has from 1 to 255 characters', async (value) => {
    expect((await api.newRun().put('{"output": 1}', key(value))).status).toBe(400)
  })
})

describe('where a put begins a run', () => {
  it('two at once make one run with two handles', async () => {
    const run = api.newRun()
    const puts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => run.put(`{"tool_use_id": "c${n}", "output": ${n}}`)),
    )
    expect(puts.map(({ status }) => status)).toEqual(puts.map(() => 201))
    const numbers = puts.map(({ body }) => Number(body.handle.slice(1))).sort((a, b) => a - b)
    expect(numbers).toEqual(puts.map((_, i) => i + 1))
  })

  it('two equal ones at once are one result', async () => {
    const run = api.newRun()
    const puts = await Promise.all(
      Array.from({ length: 10 }, () => run.put('{"tool_use_id": "c", "output": "same"}')),
    )
    expect(puts.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(puts.map(({ text }) => text)).size).toBe(1)
  })
})
