import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServiceChild, startChild } from '../support/service.ts'
import { AT_A_TIME, FUZZED_SETTINGS, Fuzzer } from './fuzzing.ts'

const GROUPS = 200
const SEED = 20_261_130

let service: ServiceChild
let fuzzer: Fuzzer
beforeAll(async () => {
  service = await startChild({ env: FUZZED_SETTINGS })
  fuzzer = new Fuzzer(service.url)
})
afterAll(async () => {
  fuzzer.close()
  await service.stop()
})

describe('requests made from the OpenAPI document', () => {
  it('are each answered with a status, a type and a body that it declares', async () => {
    await fuzzer.run(GROUPS, SEED)
    const { requests, statuses } = fuzzer.fuzzed
    expect(requests).toBe(GROUPS * AT_A_TIME)
    // the requests are neither all refused nor all taken
    for (const status of [200, 201, 400, 404, 405, 413, 415, 422]) {
      expect([...statuses.keys()]).toContain(status)
    }
    expect(await service.stop()).toEqual({ code: 0, signal: null })
    expect(service.output).not.toMatch(/"level":(?:50|60)/)
  })
})
