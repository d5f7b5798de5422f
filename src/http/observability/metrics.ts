/**
 * Metrics: what the service was asked and what it answered, for Prometheus. No ids and no content in labels.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client'
import type { FastifyInstance } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { VERSION } from '../../core/version.ts'
import type { DiskSizes, Queued, Totals } from '../../ledger/ledger.ts'
import type { PutOutcome } from '../../runs/put.ts'
import type { RecallAnswer } from '../../runs/recall.ts'
import type { ResolveAnswer } from '../../runs/resolve.ts'
import { isProbe } from './request-log.ts'

const PREFIX = 'coatcheck_'
const MS_PER_SECOND = 1000
/** How long totals of the ledger are told again. */
const TOTALS_MS = 5_000
const ANSWERED = 'answered'
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Something to count that another thread has done. */
export type MetricEvent =
  | { readonly put: CountedPut }
  | { readonly references: CountedReferences }
  | { readonly recall: 'answered' | string }

type CountedPut = Pick<PutOutcome, 'retried' | 'shownChars'> & {
  readonly answer: Pick<PutOutcome['answer'], 'outcome' | 'kind' | 'total_bytes' | 'total_chars'>
}

/** References that were resolved, and the reasons of the others. */
interface CountedReferences {
  readonly resolved: number
  readonly reasons: readonly string[]
}

export class Metrics {
  readonly #registry = new Registry()
  readonly #puts = this.#counter('puts_total', 'Results kept.', ['outcome', 'kind'])
  readonly #bytes = this.#counter('put_bytes_total', 'Bytes of the values kept.')
  readonly #produced = this.#counter('produced_chars_total', 'Characters of their text views.')
  readonly #shown = this.#counter(
    'shown_chars_total',
    'Characters of their contents, shown instead.',
  )
  readonly #recalls = this.#counter('recalls_total', 'Pages recalled.')
  readonly #misses = this.#counter('recall_misses_total', 'Recalls refused.', ['reason'])
  readonly #references = this.#counter('references_total', 'References in arguments.', ['result'])
  readonly #requests = this.#histogram('http_request_duration_seconds', 'Durations of requests.', [
    'method',
    'route',
    'status',
  ])
  readonly #commits = this.#histogram('commit_duration_seconds', 'Durations of commits of results.')
  readonly #grouped = this.#counter(
    'committed_puts_total',
    'Puts in those commits, retries included.',
  )

  readonly #tell: ((event: MetricEvent) => void) | undefined

  /** With `tell`, what use cases did is told and not counted here. */
  constructor({ tell }: { readonly tell?: (event: MetricEvent) => void } = {}) {
    this.#tell = tell
    // of the process, not of this thread
    if (tell !== undefined) return
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX })
    this.#gauge('up', 'Whether the service runs.', () => 1)
    this.#labelled('build_info', 'The version of the service.', ['version'], async (gauge) =>
      gauge.set({ version: VERSION }, 1),
    )
  }

  countPut({ answer, retried, shownChars }: PutOutcome): void {
    const { outcome, kind, total_bytes, total_chars } = answer
    this.count({
      put: { answer: { outcome, kind, total_bytes, total_chars }, retried, shownChars },
    })
  }

  countReferences({ resolved, unresolved }: ResolveAnswer): void {
    const reasons = unresolved.map(({ reason }) => reason)
    this.count({ references: { resolved: resolved.length, reasons } })
  }

  count(event: MetricEvent): void {
    if (this.#tell !== undefined) this.#tell(event)
    else if ('put' in event) this.#countPut(event.put)
    else if ('references' in event) this.#countReferences(event.references)
    else if (event.recall === ANSWERED) this.#recalls.inc()
    else this.#misses.inc({ reason: event.recall })
  }

  #countPut({ answer, retried, shownChars }: CountedPut): void {
    if (retried) return
    this.#puts.inc({ outcome: answer.outcome, kind: answer.kind })
    this.#bytes.inc(answer.total_bytes)
    this.#produced.inc(answer.total_chars ?? 0)
    this.#shown.inc(shownChars)
  }

  #countReferences({ resolved, reasons }: CountedReferences): void {
    this.#references.inc({ result: 'resolved' }, resolved)
    for (const result of reasons) this.#references.inc({ result })
  }

  async watchRecall(recall: () => Promise<RecallAnswer>): Promise<RecallAnswer> {
    try {
      const answer = await recall()
      this.count({ recall: ANSWERED })
      return answer
    } catch (error) {
      this.count({ recall: error instanceof CoatcheckError ? error.code : 'internal_error' })
      throw error
    }
  }

  countCommit(commit: { readonly puts: number; readonly seconds: number }): void {
    this.#commits.observe(commit.seconds)
    this.#grouped.inc(commit.puts)
  }

  /** Asks `queued` whenever the metrics are read. */
  watchQueue(queued: () => Queued): void {
    this.#gauge('queued_puts', 'Puts that wait to be committed.', () => queued().puts)
    this.#gauge('queued_bytes', 'Bytes of their values.', () => queued().bytes)
  }

  /** How far the machine's clock is ahead of the time that runs are judged by. */
  watchClock(offsetSeconds: () => number): void {
    this.#gauge(
      'clock_offset_seconds',
      "How far the machine's clock is from the time that runs are judged by; 0 unless it has jumped.",
      offsetSeconds,
    )
  }

  /** Asks `totals` when the metrics are read, and again after some seconds at the earliest: it reads every run. */
  watchTotals(totals: () => Promise<Totals>, now: () => number): void {
    let known: Promise<Totals> | undefined
    let until = Number.NEGATIVE_INFINITY
    const read = (): Promise<Totals> => {
      if (known !== undefined && performance.now() < until) return known
      until = performance.now() + TOTALS_MS
      known = totals()
      return known
    }
    this.#labelled('runs', 'Runs that can be read, by state.', ['state'], async (gauge) => {
      for (const [state, runs] of Object.entries((await read()).runs)) gauge.set({ state }, runs)
    })
    this.#labelled('results', 'Results of those runs.', [], async (gauge) =>
      gauge.set((await read()).results),
    )
    this.#labelled('kept_bytes', 'Bytes of the values of those results.', [], async (gauge) =>
      gauge.set((await read()).keptBytes),
    )
    const help = 'How long ago the oldest open run was opened; 0 without one.'
    this.#labelled('oldest_open_run_seconds', help, [], async (gauge) => {
      const { oldestOpenAt } = await read()
      gauge.set(oldestOpenAt === null ? 0 : Math.max(0, (now() - oldestOpenAt) / MS_PER_SECOND))
    })
  }

  /** Asks `sizes` whenever the metrics are read. A disk that does not answer has NaN. */
  watchDisk(sizes: () => Promise<DiskSizes>): void {
    const part = (name: keyof DiskSizes) => () =>
      sizes().then(
        (found) => found[name],
        () => Number.NaN,
      )
    this.#gauge('free_disk_bytes', "Free room on the ledger's disk.", part('freeDiskBytes'))
    this.#gauge('ledger_bytes', "Size of the ledger's file.", part('ledgerBytes'))
    this.#gauge('ledger_log_bytes', "Size of the ledger's log.", part('logBytes'))
  }

  watchBodies(heldBytes: () => number): void {
    this.#gauge('held_body_bytes', 'Bytes of bodies in memory, past the smallest.', heldBytes)
  }

  watchAnswers(heldBytes: () => number): void {
    this.#gauge(
      'held_answer_bytes',
      'Bytes of answers not yet taken, past the smallest.',
      heldBytes,
    )
  }

  /** Times every request by its route's pattern, but for probes that were answered. */
  watchRequests(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      if (isProbe(request, reply)) return void done()
      const route = request.routeOptions.url ?? 'none'
      const labels = { method: request.method, route, status: String(reply.statusCode) }
      this.#requests.observe(labels, reply.elapsedTime / MS_PER_SECOND)
      done()
    })
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }

  #counter<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.#registry] })
  }

  #gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name: PREFIX + name,
      help,
      registers: [this.#registry],
      async collect() {
        this.set(await read())
      },
    })
  }

  /** A gauge that is set whenever the metrics are read; one that fails is left as it was. */
  #labelled<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (gauge: Gauge<Label>) => Promise<void>,
  ): void {
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        await set(this).catch(() => undefined)
      },
    })
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[] = [],
  ): Histogram<Label> {
    const options = { name: PREFIX + name, help, labelNames, buckets: SECONDS_BUCKETS }
    return new Histogram({ ...options, registers: [this.#registry] })
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly metrics: Metrics
  }
}
