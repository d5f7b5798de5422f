/** The room that writes have on the ledger's disk, see `Room`, and what is done to get some. */
import { CoatcheckError } from '../../../core/errors.ts'
import { emptyLogWhereRoom } from '../file/empty-log.ts'
import type { GuardedFile } from '../file/guarded-file.ts'
import { hasNoRoomAt } from '../file/no-room.ts'

export class DiskRoom {
  readonly #file: GuardedFile

  constructor(file: GuardedFile) {
    this.#file = file
  }

  /** Throws `storage_full` when values of so many bytes do not fit. Outside any transaction. */
  require(bytes: number): void {
    this.#file.room.require(bytes, () => this.#emptyLog())
  }

  /** What `work` does; done again with the room of the reserve when it throws `storage_full`. */
  withReserve<Answer>(work: () => Answer): Answer {
    try {
      return work()
    } catch (error) {
      const isFull = error instanceof CoatcheckError && error.code === 'storage_full'
      if (!isFull || !this.#file.room.release()) throw error
      return work()
    }
  }

  /** After a piece of erasing: the next one needs the room that it took in the log. */
  emptyLogIfTight(): void {
    if (this.#file.room.isTight) this.#emptyLog()
  }

  /** Makes the reserve whole when there is plenty of room. */
  refill(): void {
    this.#file.room.refill()
  }

  #emptyLog(): void {
    const { db, path } = this.#file
    emptyLogWhereRoom(db, () => hasNoRoomAt(path))
    this.#file.checkpointed()
  }
}
