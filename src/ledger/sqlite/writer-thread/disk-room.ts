/** Makes sure that writes have room on the ledger's disk; see `Room` in `file/room.ts`. */
import { CoatcheckError } from '../../../core/errors.ts'
import { emptyLogWhereRoom } from '../file/empty-log.ts'
import type { GuardedFile } from '../file/guarded-file.ts'
import { hasNoRoomAt } from '../file/no-room.ts'

/** Room on the disk of one open ledger. */
export class DiskRoom {
  readonly #file: GuardedFile

  constructor(file: GuardedFile) {
    this.#file = file
  }

  /**
   * Throws `storage_full` when values of `bytes` do not fit on the disk. Must be called outside
   * transactions.
   */
  require(bytes: number): void {
    this.#file.room.require(bytes, () => this.#emptyLog())
  }

  /** Runs `work`. When it throws `storage_full`, the reserve is given up and `work` runs again. */
  withReserve<Answer>(work: () => Answer): Answer {
    try {
      return work()
    } catch (error) {
      const isFull = error instanceof CoatcheckError && error.code === 'storage_full'
      if (!isFull || !this.#file.room.release()) throw error
      return work()
    }
  }

  /**
   * Empties the log while the reserve is not whole: each piece of erasing needs the room that the
   * one before took in the log.
   */
  emptyLogIfTight(): void {
    if (this.#file.room.isTight) this.#emptyLog()
  }

  /** Makes the reserve whole again when the disk has plenty of room. */
  refill(): void {
    this.#file.room.refill()
  }

  #emptyLog(): void {
    const { db, path } = this.#file
    emptyLogWhereRoom(db, () => hasNoRoomAt(path))
    this.#file.checkpointed()
  }
}
