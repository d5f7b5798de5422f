/** Metrics of requests, results and the ledger. Labels hold no ids and no contents. */
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
/** Time for which totals of the ledger are reused. */
const TOTALS_MS = 5_000
const ANSWERED = 'answered'
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** An event to count. Threads of large calls send theirs to the main thread. */
export type MetricEvent =
  | { readonly put: CountedPut }
  | { readonly references: CountedReferences }
  /** `answered`, or the code of the problem. */
  | { readonly recall: 'answered' | string }

/** The part of a put's outcome that is counted. */
type CountedPut = Pick<PutOutcome, 'retried' | 'shownChars'> & {
  readonly answer: Pick<PutOutcome['answer'], 'outcome' | 'kind' | 'total_bytes' | 'total_chars'>
}

/** Number of resolved references, and the reason of each unresolved one. */
interface CountedReferences {
  readonly resolved: number
  readonly reasons: readonly string[]
}

/** The metrics of a service or of one of its threads. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #puts = this.#counter('puts_total', 'Results stored.', ['outcome', 'kind'])
  readonly #bytes = this.#counter('put_bytes_total', 'Bytes of the values of stored results.')
  readonly #produced = this.#counter(
    'produced_chars_total',
    'Characters of the text views of stored results.',
  )
  readonly #shown = this.#counter(
    'shown_chars_total',
    'Characters of the contents of stored results.',
  )
  readonly #recalls = this.#counter('recalls_total', 'Recalls answered.')
  readonly #misses = this.#counter('recall_misses_total', 'Recalls refused.', ['reason'])
  readonly #references = this.#counter('references_total', 'References in arguments.', ['result'])
  readonly #requests = this.#histogram(
    'http_request_duration_seconds',
    'Durations of requests, in seconds.',
    ['method', 'route', 'status'],
  )
  readonly #commits = this.#histogram(
    'commit_duration_seconds',
    'Durations of commits of results, in seconds.',
  )
  readonly #grouped = this.#counter(
    'committed_puts_total',
    'Puts in commits of results, retries included.',
  )

  readonly #tell: ((event: MetricEvent) => void) | undefined

  /** With `tell`, events are passed to it instead of being counted here. */
  constructor({ tell }: { readonly tell?: (event: MetricEvent) => void } = {}) {
    this.#tell = tell
    // These metrics are of the process, so the main thread has them.
    if (tell !== undefined) return
    collectDefaultMetrics({ register: this.#registry, prefix: PREFIX })
    this.#gauge('up', '1 while the service runs.', () => 1)
    this.#labelled('build_info', 'Version of the service.', ['version'], async (gauge) =>
      gauge.set({ version: VERSION }, 1),
    )
  }

  /** Counts a put; a retry counts nothing. */
  countPut({ answer, retried, shownChars }: PutOutcome): void {
    const { outcome, kind, total_bytes, total_chars } = answer
    this.count({
      put: { answer: { outcome, kind, total_bytes, total_chars }, retried, shownChars },
    })
  }

  /** Counts the references of a call. */
  countReferences({ resolved, unresolved }: ResolveAnswer): void {
    const reasons = unresolved.map(({ reason }) => reason)
    this.count({ references: { resolved: resolved.length, reasons } })
  }

  /** Counts an event, or passes it on. */
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

  /** Runs a recall and counts whether it was answered. */
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

  /** Counts a commit of results. */
  countCommit(commit: { readonly puts: number; readonly seconds: number }): void {
    this.#commits.observe(commit.seconds)
    this.#grouped.inc(commit.puts)
  }

  /** Reads `queued` whenever the metrics are read. */
  watchQueue(queued: () => Queued): void {
    this.#gauge('queued_puts', 'Puts that wait to be committed.', () => queued().puts)
    this.#gauge(
      'queued_bytes',
      'Bytes of the values of puts that wait to be committed.',
      () => queued().bytes,
    )
  }

  /** `offsetSeconds`: how far the machine's clock is ahead of the time that runs are judged by. */
  watchClock(offsetSeconds: () => number): void {
    this.#gauge(
      'clock_offset_seconds',
      "Seconds by which the machine's clock is ahead of the time that runs are judged by; 0 unless it has jumped.",
      offsetSeconds,
    )
  }

  /** Reads `totals` when the metrics are read, at most once in 5 seconds: it reads every run. */
  watchTotals(totals: () => Promise<Totals>, now: () => number): void {
    let known: Promise<Totals> | undefined
    let until = Number.NEGATIVE_INFINITY
    const read = (): Promise<Totals> => {
      if (known !== undefined && performance.now() < until) return known
      until = performance.now() + TOTALS_MS
      known = totals()
      return known
    }
    this.#labelled(
      'runs',
      'Runs whose evidence can be read, by state.',
      ['state'],
      async (gauge) => {
        for (const [state, runs] of Object.entries((await read()).runs)) gauge.set({ state }, runs)
      },
    )
    this.#labelled('results', 'Results of runs whose evidence can be read.', [], async (gauge) =>
      gauge.set((await read()).results),
    )
    this.#labelled('kept_bytes', 'Bytes of the values of these results.', [], async (gauge) =>
      gauge.set((await read()).keptBytes),
    )
    const help = 'Seconds since the oldest open run was opened; 0 without an open run.'
    this.#labelled('oldest_open_run_seconds', help, [], async (gauge) => {
      const { oldestOpenAt } = await read()
      gauge.set(oldestOpenAt === null ? 0 : Math.max(0, (now() - oldestOpenAt) / MS_PER_SECOND))
    })
  }

  /** Reads `sizes` whenever the metrics are read. They are NaN when the disk does not answer. */
  watchDisk(sizes: () => Promise<DiskSizes>): void {
    const part = (name: keyof DiskSizes) => () =>
      sizes().then(
        (found) => found[name],
        () => Number.NaN,
      )
    this.#gauge(
      'free_disk_bytes',
      "Bytes that are free on the ledger's disk.",
      part('freeDiskBytes'),
    )
    this.#gauge('ledger_bytes', 'Bytes of the ledger file.', part('ledgerBytes'))
    this.#gauge('ledger_log_bytes', 'Bytes of the log of the ledger file.', part('logBytes'))
  }

  /** Reads the bytes of request bodies in memory whenever the metrics are read. */
  watchBodies(heldBytes: () => number): void {
    this.#gauge(
      'held_body_bytes',
      'Bytes of request bodies in memory, without small bodies.',
      heldBytes,
    )
  }

  /** Reads the bytes of answers in memory whenever the metrics are read. */
  watchAnswers(heldBytes: () => number): void {
    this.#gauge(
      'held_answer_bytes',
      'Bytes of answers that clients have not taken yet, without small answers.',
      heldBytes,
    )
  }

  /** Times every request under the pattern of its route, except answered probes. */
  watchRequests(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      if (isProbe(request, reply)) return void done()
      const route = request.routeOptions.url ?? 'none'
      const labels = { method: request.method, route, status: String(reply.statusCode) }
      this.#requests.observe(labels, reply.elapsedTime / MS_PER_SECOND)
      done()
    })
  }

  /** All metrics in the text format of Prometheus. */
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

  /** A gauge that `set` sets when the metrics are read. It keeps its values when `set` fails. */
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
