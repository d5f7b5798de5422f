// The tests that `npm run mutate` lets loose on mutants of the core: the core's own, the nearest first.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const TIMEOUT_MS = 60_000

/** The test named after what is mutated, then small files before large ones: a killed mutant needs no other test. */
class NearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const mutated = (this.ctx.config.related ?? []).map((file) => basename(file, '.ts'))
    const rank = ({ moduleId }: TestSpecification): number =>
      mutated.includes(basename(moduleId, '.test.ts')) ? 0 : statSync(moduleId).size
    return files.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/core/**/*.test.ts'],
    setupFiles: ['test/mutate.ts'],
    testTimeout: TIMEOUT_MS,
    // a worker of its own for every file would take longer than most of the files
    isolate: false,
    sequence: { sequencer: NearestFirst },
  },
})
