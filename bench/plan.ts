/**
 * How much is measured: the sizes that the floors speak of, or smaller ones that are done in two minutes.
 */
import type { Rounds } from './rounds.ts'

export interface Plan extends Rounds {
  readonly name: 'full' | 'quick'
  /** How long one load lasts in one round. */
  readonly loadMs: number
  /** Calls of one client, one after another, in a round. */
  readonly callsPerRound: number
  readonly recallBytes: number
  readonly ingestBytes: number
  /** Bodies whose peak of memory is compared. */
  readonly smallBodyBytes: number
  readonly largeBodyBytes: number
  readonly textBytes: number
  /** Raw bytes put into a ledger whose size is then taken. */
  readonly ledgerBytes: number
  readonly fewValues: number
  readonly manyValues: number
}

const MEGABYTE = 1_000_000

export const FULL: Plan = {
  name: 'full',
  rounds: 9,
  loadMs: 1_500,
  warmUpMs: 2_000,
  callsPerRound: 100,
  recallBytes: 1_000 * MEGABYTE,
  ingestBytes: 200 * MEGABYTE,
  smallBodyBytes: 100 * MEGABYTE,
  largeBodyBytes: 800 * MEGABYTE,
  textBytes: 100 * MEGABYTE,
  ledgerBytes: 64 * MEGABYTE,
  fewValues: 1_000,
  manyValues: 1_000_000,
}

export const QUICK: Plan = {
  name: 'quick',
  rounds: 3,
  loadMs: 400,
  warmUpMs: 500,
  callsPerRound: 40,
  recallBytes: 64 * MEGABYTE,
  ingestBytes: 32 * MEGABYTE,
  smallBodyBytes: 20 * MEGABYTE,
  largeBodyBytes: 160 * MEGABYTE,
  textBytes: 20 * MEGABYTE,
  ledgerBytes: 8 * MEGABYTE,
  fewValues: 1_000,
  manyValues: 20_000,
}
