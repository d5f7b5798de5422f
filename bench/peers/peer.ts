/**
 * What every candidate is asked to do, so that one task runs on all of them. A method that is not there is a thing that
 * the candidate does not offer; that is no fault, and the tables say so.
 */

export type PeerName =
  | 'disk'
  | 'coatcheck'
  | 'strands-memory'
  | 'strands-file'
  | 'deepagents-memory'
  | 'deepagents-file'
  | 'redis'
  | 'postgres'
  | 'trip'
  | 'langchain'
  | 'langchain-counting'

export interface Receipt {
  /** What goes into the transcript instead of the result. */
  readonly shown: string
  /** How the candidate finds the result again; where a model has to know it, taken out of `shown`. */
  readonly ref: string
  /** The result, when it was small enough in the candidate's eyes to stay in the transcript as it is. */
  readonly whole?: Buffer
}

export interface Peer {
  /** A store keeps what it is given under a key; previews, ids and all the rest are its caller's. */
  readonly kind: 'service' | 'library' | 'store'
  putText(id: string, text: string): Promise<Receipt>
  putJson?(id: string, json: string): Promise<Receipt>
  putBytes?(id: string, bytes: Buffer): Promise<Receipt>
  /** All of it, as the candidate kept it. */
  read?(receipt: Receipt): Promise<Buffer>
  /** Lines, 1-based and inclusive; `lineBytes` serves candidates that need offsets. */
  lines?(receipt: Receipt, range: LineRange): Promise<string>
  /** All that can be had of one line in bounded pieces, by its number or by searching for its end. */
  reachLine?(receipt: Receipt, place: LinePlace): Promise<string>
  /** Matches a pattern against what was kept, or the nearest the candidate has to that. */
  search?(receipt: Receipt, pattern: string): Promise<string>
  /** Gives arguments that refer to nothing to a tool; whether the tool would run. */
  callWithUnresolved?(reference: string): Promise<boolean>
  /** Milliseconds for eliding the transcript of 401 messages once. */
  elide?(): Promise<number>
  close(): Promise<void>
}

export interface LinePlace {
  /** 1-based. */
  readonly line: number
  /** What the line ends with; nowhere else. */
  readonly mark: string
  /** Behind the mark, in bytes from the start. */
  readonly endByte: number
}

export interface LineRange {
  readonly first: number
  readonly last: number
  /** Bytes of each line, its end included. */
  readonly lineBytes: number
}

/** Where a candidate finds what was started for it. */
export interface Addresses {
  readonly coatcheck: string
  /** Of a server that only reads a body. */
  readonly trip: string
  /** Unix socket. */
  readonly redis: string
  /** Folder of the Unix socket. */
  readonly postgres: string
  /** A folder for what libraries write; on the disk that all share. */
  readonly folder: string
}
