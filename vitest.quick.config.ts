// Tests of every layer that take less than a minute together on two idle cores: `npm run test:quick`.
import { defineConfig } from 'vitest/config'
import { CODE_CACHE } from './vitest.config.ts'

const UNIT = [
  'test/core/{json,preview,recall,window}/**/*.test.ts',
  'test/validation/errors.test.ts',
]
const LEDGER = ['test/ledger/commit.test.ts', 'test/runs/*.test.ts']
const HTTP = [
  'test/http/{access,cases,fidelity,life,recall,resolve,value}.test.ts',
  'test/http/put/{envelope,ids,raw,retries}.test.ts',
  'test/contract/{docs-links,openapi,problems}.test.ts',
]
const PROCESS = ['test/e2e/log.test.ts']

const TIMEOUT_MS = 60_000

export default defineConfig({
  test: {
    name: 'quick',
    include: [...UNIT, ...LEDGER, ...HTTP, ...PROCESS],
    // many random cases each
    exclude: ['**/*.property.test.ts'],
    env: CODE_CACHE,
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
  },
})
