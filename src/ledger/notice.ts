/** Something about the ledger that its operator has to know, and that is the answer to no call. It is logged once. */
export interface Notice {
  /** `fatal`: nothing is written any more until the service is started again. */
  readonly level: 'warn' | 'error' | 'fatal'
  /** Says what happened, what it means and what to do. */
  readonly message: string
  /** Logged as members of the line. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export type Tell = (notice: Notice) => void
