/**
 * Stack traces: the errors with their messages, and the innermost frame of the project's own code.
 */
import { excerpt } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import type { Kind, KindSurvey, Reading } from './kind.ts'
import { LineFeed } from './line-feed.ts'

const FRAME =
  /^\s*(?:File "[^"]+", line \d+|at [\w$.<>]+\([^()]*\)$|from .+:\d+:in |\d+: +\S+::|#\d+ +0x|goroutine \d+|\S+\.go:\d+)/
/** `at place:12:5` or `at name (place:12:5)`. */
const AT = /^\s*at \S/
const AT_PLACE = /:\d+\)?$/
const isFrame = (line: string): boolean =>
  FRAME.test(line) || (AT.test(line) && AT_PLACE.test(line.trimEnd()))
const START =
  /^(?:Traceback \(most recent call last\)|panic: |thread '.+' panicked|Exception in thread|Caused by: |Unhandled|Uncaught|goroutine \d+ \[)/
const ERROR_LINE =
  /^(?:Caused by: )?(?:Exception in thread "[^"]*" )?(?:Uncaught )?(?:[\w$]+[.:]{1,2})*[A-Z][\w$]*(?:Error|Exception|Exit|Interrupt|Warning|Iteration|Fault)\b(?::|$| )|^panic: |^thread '.+' panicked/
/** Frames of libraries and of the runtime. */
const FOREIGN =
  /site-packages|dist-packages|lib\/python|node_modules|node:|internal\/|\bjava\.|\bjavax\.|\bsun\.|\bjdk\.|\/usr\/local\/go\/|\/rustc\/|<frozen|org\.springframework|gems\//
const HEAD_LINES = 200
const LEAST_FRAMES = 2
const LEAST_SHARE = 0.25
const LINE_BYTES = 320
const RANK_ERROR = 0
const RANK_FRAME = 1
const KEPT = 4

export const trace: Kind = {
  name: 'trace',
  recognize({ starts }) {
    const sample = starts.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
    const frames = sample.filter(isFrame).length
    const begun = sample.filter((line) => START.test(line) || ERROR_LINE.test(line)).length
    const isTrace = frames >= LEAST_FRAMES && begun > 0 && frames >= sample.length * LEAST_SHARE
    return isTrace ? new TraceSurvey() : undefined
  },
}

interface Numbered {
  readonly text: string
  readonly number: number
}

class TraceSurvey implements KindSurvey {
  readonly #feed = new LineFeed((line, number) => this.#take(line, number))
  readonly #errors: Numbered[] = []
  #errorCount = 0
  #frames = 0
  /** Python and Ruby print the innermost frame last in its trace and first. */
  #isPython = false
  #own: Numbered | undefined
  #any: Numbered | undefined
  #code: Numbered | undefined
  #wantsCode = false

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end(): Reading {
    this.#feed.end()
    const lines: PreviewLine[] = this.#errors.map(({ text, number }, index) => ({
      text: `line ${number}: ${excerpt(text, LINE_BYTES).text}`,
      rank: RANK_ERROR - index / 10,
    }))
    const frame = this.#own ?? this.#any
    if (frame !== undefined) {
      const code =
        this.#code === undefined ? '' : `, ${excerpt(this.#code.text.trim(), LINE_BYTES / 2).text}`
      const text = `innermost frame, line ${frame.number}: ${excerpt(frame.text.trim(), LINE_BYTES).text}${code}`
      lines.push({ text, rank: RANK_FRAME })
    }
    return { facts: [`frames=${this.#frames}`, `errors=${this.#errorCount}`], lines }
  }

  #take(line: string, number: number): void {
    if (line.startsWith('Traceback ')) this.#isPython = true
    if (isFrame(line)) {
      this.#frames++
      this.#takeFrame({ text: line, number })
      return
    }
    if (this.#wantsCode && /^\s+\S/.test(line)) this.#code = { text: line, number }
    this.#wantsCode = false
    if (!ERROR_LINE.test(line)) return
    this.#errorCount++
    this.#errors.push({ text: line, number })
    // The first says what came first; the last ones say what ended it.
    if (this.#errors.length > KEPT) this.#errors.splice(1, 1)
  }

  #takeFrame(frame: Numbered): void {
    const isOwn = !FOREIGN.test(frame.text)
    const isNew = this.#isPython || (isOwn ? this.#own : this.#any) === undefined
    if (!isNew) return
    if (isOwn) this.#own = frame
    else this.#any = frame
    if (isOwn || this.#own === undefined) {
      this.#code = undefined
      this.#wantsCode = this.#isPython
    }
  }
}
