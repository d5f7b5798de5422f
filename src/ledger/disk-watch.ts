/** Warns when the free room on the ledger's disk becomes small, once each time. */
import type { Ledger } from './ledger.ts'
import type { Notice } from './notice.ts'

const INTERVAL_MS = 10_000
/**
 * The free room must reach this multiple of the bound before the next warning. Otherwise small
 * changes around the bound would cause one warning after another.
 */
const RECOVERED = 1.1

/** Decides when to warn: each time that the free room falls below `warnBytes`. */
export class FreeDiskWarning {
  readonly #warnBytes: number
  #isLow = false

  constructor(warnBytes: number) {
    this.#warnBytes = warnBytes
  }

  /** Returns the warning that is due when `freeBytes` are free; undefined when none is. */
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

/** Handle of a running watch. */
export interface DiskWatch {
  stop(): void
}

/**
 * Checks the free room at once and at intervals. `warnBytes: 0` never warns. Errors of the file
 * system are ignored, since other checks report them.
 */
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
