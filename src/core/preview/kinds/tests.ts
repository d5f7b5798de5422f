/**
 * Output of test runners: how many tests passed and failed, the names of those that failed, the
 * summary lines.
 */
import { excerpt } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import type { Kind, KindSurvey, Reading } from './kind.ts'
import { LineFeed } from './line-feed.ts'

const PASSED =
  /^\s*(?:ok \d+|✓|✔|√|PASS(?:ED)?\b|--- PASS:|\[ +OK +\])|^test .+ \.\.\. ok$|\bPASSED\b(?: +\[ *\d+%\])?$|^\S+ PASSED\b|\.\.\. ok$/
const FAILED =
  /^\s*(?:not ok \d+|✕|✗|✖|×|FAIL(?:ED)?\b(?! *\()|--- FAIL:|\[ +FAILED +\]|● .+›)|^test .+ \.\.\. FAILED$|\bFAILED\b(?: +\[ *\d+%\])?$|^\S+ FAILED\b|\.\.\. FAIL(?:ED)?$|<<< (?:FAILURE|ERROR)!/
const SUMMARY =
  /^[^\w=]{0,8}(?:Tests?|Test Suites|Test Files|Tests run|Ran \d+ tests?|test result|Suites|Snapshots|FAILED \(|OK \(|\d+ (?:passing|failing|pending|passed|failed|examples?|tests?|specs?)\b|# (?:tests|pass|fail)\b|Finished|FAIL\t|ok {2}\t)/
/** `=== 1 failed, 2 passed in 3.2s ===` */
const BANNER = /^=+ [^=]*\b(?:passed|failed|errors?)\b/
const HEAD_LINES = 400
const LEAST_MARKS = 3
const LEAST_SHARE = 0.2
const LINE_BYTES = 200
const RANK_SUMMARY = 0
const RANK_FAILED = 1
const KEPT_FAILED = 40
const KEPT_SUMMARY = 8

export const tests: Kind = {
  name: 'tests',
  recognize({ starts }) {
    const sample = starts.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
    const marks = sample.filter((line) => PASSED.test(line) || FAILED.test(line)).length
    const summaries = sample.filter(isSummary).length
    const isTests = marks >= LEAST_MARKS && (marks >= sample.length * LEAST_SHARE || summaries > 0)
    return isTests ? new TestsSurvey() : undefined
  },
}

const isSummary = (line: string): boolean => SUMMARY.test(line) || BANNER.test(line)

class TestsSurvey implements KindSurvey {
  readonly #feed = new LineFeed((line, number) => this.#take(line, number))
  #passed = 0
  #failed = 0
  readonly #failures = new Map<string, number>()
  readonly #summaries: PreviewLine[] = []

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end(): Reading {
    this.#feed.end()
    const lines: PreviewLine[] = [...this.#failures].map(([name, line], index) => ({
      text: `line ${line}: ${excerpt(name, LINE_BYTES).text}`,
      rank: RANK_FAILED + index,
    }))
    const facts = [`passed lines=${this.#passed}`, `failed lines=${this.#failed}`]
    return { facts, lines: [...lines, ...this.#summaries] }
  }

  #take(line: string, number: number): void {
    if (isSummary(line)) {
      this.#summaries.push({
        text: `line ${number}: ${excerpt(line.trim(), LINE_BYTES).text}`,
        rank: RANK_SUMMARY,
      })
      if (this.#summaries.length > KEPT_SUMMARY) this.#summaries.shift()
    } else if (FAILED.test(line)) {
      this.#failed++
      const name = line.trim()
      if (this.#failures.size < KEPT_FAILED && !this.#failures.has(name))
        this.#failures.set(name, number)
    } else if (PASSED.test(line)) this.#passed++
  }
}
