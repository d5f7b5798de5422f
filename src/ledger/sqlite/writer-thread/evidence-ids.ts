/**
 * Draws the evidence ids of results. An id stays with its result. The one exception is the id of a
 * suspension: a later result of the same call takes it over.
 */

import { handleOf, recallHandleNumber } from '../../../core/handles.ts'
import { NOTE_ID_BYTES } from '../../../core/limits.ts'
import type { ResultRow } from '../rows/result-statements.ts'

/** Number of ids for which {@link EvidenceIds} remembers the last copy. */
const COPIES_IDS = 1_000
const FIRST_COPY = 2

/** Access to the results of a run by their names. */
export interface ResultNames {
  byEvidenceId(run: number, evidenceId: string): ResultRow | undefined
  byNumber(run: number, number: number): ResultRow | undefined
  rename(row: ResultRow, evidenceId: string, recallName: string): void
}

/** Names of a result: its evidence id, and the name by which notes and hints recall it. */
export interface DrawnIds {
  readonly evidenceId: string
  readonly recallName: string
}

/** Draws evidence ids in the caller's transaction. */
export class EvidenceIds {
  readonly #results: ResultNames
  /**
   * Number of the last copy drawn, by run and id. All copies before it are taken and are not
   * searched again.
   */
  readonly #copies = new Map<string, number>()

  constructor(results: ResultNames) {
    this.#results = results
  }

  /**
   * Draws the names of the result `number`, put with `toolUseId`, which may be empty. Renames a
   * suspension that holds the id.
   */
  draw(run: number, toolUseId: string, number: number): DrawnIds {
    const evidenceId = this.#draw(run, toolUseId, number)
    return { evidenceId, recallName: this.#recallName(run, evidenceId, number) }
  }

  /**
   * Forgets the remembered copies. Called after a failed transaction and when results are erased,
   * since their ids may be free again.
   */
  forget(): void {
    this.#copies.clear()
  }

  #draw(run: number, toolUseId: string, number: number): string {
    const id = toolUseId === '' ? handleOf(number) : toolUseId
    const holder = this.#results.byEvidenceId(run, id)
    if (holder === undefined) return this.#isHandle(run, id) ? this.#copyOf(run, id) : id
    if (holder.outcome !== 'suspension' || holder.tool_use_id !== toolUseId) {
      return this.#copyOf(run, id)
    }
    this.#moveSuspension(holder)
    return id
  }

  #moveSuspension(row: ResultRow): void {
    const wanted = `${row.evidence_id}~suspension`
    const taken = this.#results.byEvidenceId(row.run, wanted) !== undefined
    const evidenceId = taken ? this.#copyOf(row.run, wanted) : wanted
    this.#results.rename(row, evidenceId, this.#recallName(row.run, evidenceId, row.number))
  }

  #copyOf(run: number, id: string): string {
    const key = `${run} ${id}`
    let copy = this.#copies.get(key) ?? FIRST_COPY
    while (this.#results.byEvidenceId(run, `${id}~${copy}`) !== undefined) copy++
    this.#remember(key, copy)
    return `${id}~${copy}`
  }

  #remember(key: string, copy: number): void {
    this.#copies.delete(key)
    this.#copies.set(key, copy)
    if (this.#copies.size <= COPIES_IDS) return
    const [oldest] = this.#copies.keys()
    if (oldest !== undefined) this.#copies.delete(oldest)
  }

  /** Whether recall would read `id` as the handle of an existing result. */
  #isHandle(run: number, id: string): boolean {
    const number = recallHandleNumber(id)
    return number !== undefined && this.#results.byNumber(run, number) !== undefined
  }

  #recallName(run: number, evidenceId: string, number: number): string {
    if (Buffer.byteLength(evidenceId) <= NOTE_ID_BYTES) return evidenceId
    const handle = handleOf(number)
    const names = [handle, `$${handle}`]
    return names.find((name) => this.#results.byEvidenceId(run, name) === undefined) ?? evidenceId
  }
}
