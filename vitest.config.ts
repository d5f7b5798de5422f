// One project per layer, so that a change is tried against its own layer first.
// Coverage runs only when asked for: `npm run coverage`.
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

// Generous: tests share two cores with whatever else runs; none waits on purpose.
const TIMEOUT_MS = 60_000
const SERVICE_TIMEOUT_MS = 240_000
/**
 * Threads that load our TypeScript from Node's cache need not strip it of its types, which is WebAssembly's work: V8 (13.6, in
 * Node 24) loses track of code pages when many threads that compile it come and go ("Check failed: jit_page.has_value()", or
 * SIGSEGV; nodejs/node#64500), as they do in these tests. The service itself has the same cache.
 */
export const CODE_CACHE = { NODE_COMPILE_CACHE: resolve('node_modules/.cache/coatcheck') }

export default defineConfig({
  test: {
    reporters: ['default', './test/progress.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/*.test.ts', 'test/{bench,core,validation}/**/*.test.ts'],
          env: CODE_CACHE,
          testTimeout: TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'ledger',
          include: ['test/ledger/**/*.test.ts'],
          env: CODE_CACHE,
          testTimeout: TIMEOUT_MS,
          hookTimeout: TIMEOUT_MS,
        },
      },
      {
        test: {
          name: 'http',
          include: ['test/{http,runs,contract,issues,large-calls}/**/*.test.ts'],
          env: CODE_CACHE,
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
      // counted in the code itself: V8's own counts are less exact of code that comes from a cache
      provider: 'istanbul',
      include: ['src/**/*.ts'],
      // these run only as a child process and as a thread, where nothing counts
      exclude: [
        'src/main.ts',
        'src/ledger/sqlite/writer-thread/worker.ts',
        'src/validation/pool/worker.ts',
        'src/large-calls/worker.ts',
        'src/large-calls/remote.ts',
      ],
      // `coverage/index.html` has the lines; a table would push what failed out of sight
      reporter: ['text-summary', 'json-summary', 'html'],
      thresholds: { lines: 95, 'src/core/**/*.ts': { lines: 100 } },
    },
  },
})
