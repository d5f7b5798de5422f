// A reporter beside vitest's own: how long all tests take, and how far they are. One line at the start and one each 10 files.
import type { Reporter, TestModule, TestSpecification } from 'vitest/node'

const EACH_FILES = 10
/** Fewer files are a part of the tests, of which no time is known. */
const ALL_FILES = 100
const ALL_TAKE = 'they take 10 to 15 minutes on two idle cores; npm run test:quick takes about one'

export default class ProgressReporter implements Reporter {
  #files = 0
  #ended = 0
  #startedMs = 0

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length
    this.#ended = 0
    this.#startedMs = performance.now()
    const projects = new Set(specifications.map(({ project }) => project.name))
    const told = this.#files < ALL_FILES ? '' : `: ${ALL_TAKE}`
    console.log(`${this.#files} files of tests (${[...projects].join(', ')})${told}`)
  }

  onTestModuleEnd({ project }: TestModule): void {
    this.#ended += 1
    if (this.#ended % EACH_FILES > 0) return
    const seconds = Math.round((performance.now() - this.#startedMs) / 1000)
    console.log(
      `--- ${this.#ended} of ${this.#files} files after ${seconds} s; now ${project.name}`,
    )
  }
}
