/** Warns when the ledger's disk runs out of room, once for each time that it does. */
import type { Ledger } from './ledger.ts'
import type { Notice } from './notice.ts'

const INTERVAL_MS = 10_000
/** Room has to come back by this factor before a next warning: around the bound one would follow another. */
const RECOVERED = 1.1

/** A warning for each time that the free room sinks below `warnBytes`. */
export class FreeDiskWarning {
  readonly #warnBytes: number
  #isLow = false

  constructor(warnBytes: number) {
    this.#warnBytes = warnBytes
  }

  /** What is to be told now that `freeBytes` are left; undefined when nothing has changed. */
  see(freeBytes: number): Notice | undefined {
    if (this.#isLow && freeBytes >= this.#warnBytes * RECOVERED) this.#isLow = false
    if (this.#isLow || freeBytes >= this.#warnBytes) return undefined
    this.#isLow = true
    return {
      level: 'warn',
      message:
        "the ledger's disk has less free room than COATCHECK_FREE_DISK_WARN_BYTES; make room, purge runs, or move the ledger",
      facts: { free_disk_bytes: freeBytes, warn_bytes: this.#warnBytes },
    }
  }
}

export interface DiskWatch {
  stop(): void
}

/** Looks at once and at intervals. `warnBytes` 0: never warns. A disk that does not answer is told by other means. */
export function watchDisk(
  ledger: Pick<Ledger, 'diskSizes'>,
  { warnBytes, tell }: { readonly warnBytes: number; readonly tell: (notice: Notice) => void },
): DiskWatch {
  const warning = new FreeDiskWarning(warnBytes)
  const look = async (): Promise<void> => {
    try {
      const notice = warning.see((await ledger.diskSizes()).freeDiskBytes)
      if (notice !== undefined) tell(notice)
    } catch {}
  }
  void look()
  const timer = setInterval(() => void look(), INTERVAL_MS).unref()
  return { stop: () => clearInterval(timer) }
}
