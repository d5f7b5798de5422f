import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig, unknownSettings } from '../../src/config.ts'
import { startService } from '../../src/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-start-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a setting that cannot be', () => {
  it.each([
    ['COATCHECK_PORT', 'abc', /COATCHECK_PORT must be integer, and is "abc"/],
    ['COATCHECK_LOG_LEVEL', 'loud', /COATCHECK_LOG_LEVEL must be one of fatal, error, .*"loud"/],
    ['COATCHECK_MAX_ERRORS', '0', /COATCHECK_MAX_ERRORS must be >= 1, and is "0"/],
  ])('is named with what it may be and what it is: %s=%s', (name, value, message) => {
    expect(() => readConfig({ [name]: value })).toThrow(message)
  })

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
