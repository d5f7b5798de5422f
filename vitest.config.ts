// One project per layer, so that a change is tried against its own layer first.
// Coverage runs only when asked for: `npm run coverage`.
import { defineConfig } from 'vitest/config'

// Generous: tests share two cores with whatever else runs; none waits on purpose.
const TIMEOUT_MS = 60_000
const SERVICE_TIMEOUT_MS = 240_000

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/*.test.ts', 'test/{bench,core,validation}/**/*.test.ts'],
          testTimeout: TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'ledger',
          include: ['test/ledger/**/*.test.ts'],
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'http',
          include: ['test/{http,runs,contract,issues}/**/*.test.ts'],
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/{e2e,fuzz,model}/**/*.test.ts'],
          // a process of its own: these tests start services and kill them
          pool: 'forks',
          testTimeout: SERVICE_TIMEOUT_MS,
          hookTimeout: SERVICE_TIMEOUT_MS,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // these run only as a child process and as a thread, where the v8 provider does not look
      exclude: ['src/main.ts', 'src/ledger/sqlite/worker.ts', 'src/validation/worker.ts'],
      // `coverage/index.html` has the lines; a table would push what failed out of sight
      reporter: ['text-summary', 'json-summary', 'html'],
      thresholds: { lines: 95, 'src/core/**/*.ts': { lines: 100 } },
    },
  },
})
