/** Message about the ledger for its operator, which belongs to no call. It is logged once. */
export interface Notice {
  /** `fatal`: nothing is written any more until the service is restarted. */
  readonly level: 'warn' | 'error' | 'fatal'
  /** Says what happened, what it means and what to do. */
  readonly message: string
  /** Further members of the log line. */
  readonly facts?: Readonly<Record<string, unknown>>
}

/** Receives notices. */
export type Tell = (notice: Notice) => void
