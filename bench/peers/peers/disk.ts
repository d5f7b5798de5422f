/** The floor under all of them: the same bytes written to a file and synced, and read at an offset that the caller kept. */
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LineRange, Peer, Receipt } from '../peer.ts'

export async function open(folder: string): Promise<Peer> {
  return new DiskPeer(await openFile(join(folder, 'disk.log'), 'w+'))
}

class DiskPeer implements Peer {
  readonly kind = 'store'
  readonly #file: FileHandle
  #end = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  async putText(_id: string, text: string): Promise<Receipt> {
    const start = this.#end
    const { bytesWritten } = await this.#file.write(Buffer.from(text), 0, null, start)
    await this.#file.datasync()
    this.#end = start + bytesWritten
    return { shown: '', ref: String(start) }
  }

  async lines({ ref }: Receipt, { first, last, lineBytes }: LineRange): Promise<string> {
    const buffer = Buffer.alloc((last - first + 1) * lineBytes)
    const start = Number(ref) + (first - 1) * lineBytes
    await this.#file.read(buffer, 0, buffer.length, start)
    return buffer.toString()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
