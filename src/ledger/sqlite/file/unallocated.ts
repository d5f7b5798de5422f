/**
 * Finds the bytes of a b-tree page that belong to no cell: the gap between the cell pointers and
 * the cells, and the insides of free blocks. SQLite never reads them, but copies of erased cells
 * can stay there: `secure_delete` overwrites a deleted cell, but not the place that a cell was
 * moved away from. See https://www.sqlite.org/fileformat2.html, section 1.6.
 */

/** Bytes `[start, end)` of a page. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Size of a page's header by the first byte of the page. Headers of interior pages have one more
 * pointer.
 */
const HEADER_BYTES: ReadonlyMap<number, number> = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8],
])
const FIRST_FREE_BLOCK = 1
const CELL_COUNT = 3
const CELLS_START = 5
/** Value for which `CELLS_START` is 0. */
const LARGEST_PAGE_BYTES = 65_536
const POINTER_BYTES = 2
/** A free block starts with the offset of the next one and its own size, which stay. */
const BLOCK_HEADER_BYTES = 4
const BLOCK_SIZE = 2

/**
 * Ranges that may be overwritten. Undefined when the bytes are no sound b-tree page, which must be
 * left as it is.
 */
export function unallocatedRanges(page: Buffer): readonly ByteRange[] | undefined {
  const headerBytes = HEADER_BYTES.get(page.readUInt8(0))
  if (headerBytes === undefined) return undefined
  const cells = page.readUInt16BE(CELL_COUNT)
  const start = headerBytes + cells * POINTER_BYTES
  const end = page.readUInt16BE(CELLS_START) || LARGEST_PAGE_BYTES
  if (start > end || end > page.length) return undefined
  const blocks = freeBlocks(page, end)
  if (blocks === undefined) return undefined
  const ranges = [{ start, end }, ...blocks]
  for (let pointer = headerBytes; pointer < start; pointer += POINTER_BYTES) {
    const cell = page.readUInt16BE(pointer)
    if (cell < end || cell >= page.length) return undefined
    if (blocks.some((block) => isIn(block, cell))) return undefined
  }
  return ranges
}

const isIn = ({ start, end }: ByteRange, at: number): boolean =>
  at >= start - BLOCK_HEADER_BYTES && at < end

/**
 * Insides of the free blocks, which are in ascending order after `from`. Undefined when they are
 * not.
 */
function freeBlocks(page: Buffer, from: number): ByteRange[] | undefined {
  const blocks: ByteRange[] = []
  let least = from
  let at = page.readUInt16BE(FIRST_FREE_BLOCK)
  while (at !== 0) {
    if (at < least || at + BLOCK_HEADER_BYTES > page.length) return undefined
    const end = at + page.readUInt16BE(at + BLOCK_SIZE)
    if (end < at + BLOCK_HEADER_BYTES || end > page.length) return undefined
    blocks.push({ start: at + BLOCK_HEADER_BYTES, end })
    least = end
    at = page.readUInt16BE(at)
  }
  return blocks
}
