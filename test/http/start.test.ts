import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigSchema, readConfig, unknownSettings } from '../../src/config.ts'
import { startService } from '../../src/service.ts'

interface Range {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-start-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a setting that cannot be', () => {
  it.each([
    ['COATCHECK_PORT', 'abc', /COATCHECK_PORT must be an integer from 0 to 65535, and is "abc"/],
    ['COATCHECK_LOG_LEVEL', 'loud', /COATCHECK_LOG_LEVEL must be one of fatal, error, .*"loud"/],
    [
      'COATCHECK_MAX_ERRORS',
      '0',
      /COATCHECK_MAX_ERRORS must be an integer from 1 to 1000, and is "0"/,
    ],
  ])('is named with what it may be and what it is: %s=%s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(message)
  })

  const ranges: readonly (readonly [string, Range])[] = Object.entries(ConfigSchema.properties)
  it.each(
    ranges.flatMap(([name, { minimum, maximum }]) =>
      minimum === undefined || maximum === undefined ? [] : [[name, minimum, maximum] as const],
    ),
  )(
    'is refused on both sides of its range, and taken at its ends: %s from %i to %i',
    (name, minimum, maximum) => {
      const range = `${name} must be an integer from ${minimum} to ${maximum}, and is`
      for (const value of [
        String(minimum - 1),
        (BigInt(maximum) + 1n).toString(),
        `${minimum}.5`,
        'x',
      ]) {
        expect(() => readConfig({ [name]: value })).toThrow(`${range} "${value}"`)
      }
      for (const value of [minimum, maximum]) {
        expect(readConfig({ [name]: String(value) })).toMatchObject({ [name]: value })
      }
    },
  )

  it('is named where its name is no setting, but not what Kubernetes sets', () => {
    const env = {
      COATCHECK_PROT: '1',
      COATCHECK_SERVICE_HOST: 'x',
      COATCHECK_PORT_80_TCP: 'y',
      HOME: '/',
    }
    expect(unknownSettings(env)).toEqual(['COATCHECK_PROT'])
  })
})

describe('a place where no ledger can be', () => {
  it.each([
    ['below a file', () => join(folder, 'file', 'deep', 'ledger.db')],
    ['that is a folder', () => folder],
    // the recursive mkdir of Node never ended here
    ['below a folder that takes no new ones', () => '/proc/nowhere/deep/ledger.db'],
  ])('%s is refused at once', async (_what, path) => {
    writeFileSync(join(folder, 'file'), '')
    await expect(startService(readConfig({ COATCHECK_LEDGER: path() }))).rejects.toThrow()
  })
})
