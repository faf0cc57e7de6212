import { closeSync, openSync, readSync } from 'node:fs'
import { Damaged } from '../../ports/faults.ts'
import * as layout from './layout.ts'

const { PAGE_BYTES, HEADER_BYTES } = layout

/**
 * Reads every tree of an LMDB file. Throws Damaged if a page is missing, foreign or torn: the library would crash the
 * process or silently miss keys. The contents of values are not checked. The caller must hold a read transaction, so
 * that other processes do not reuse the pages.
 */
export const checkTrees = (path: string): void => {
  const file = openSync(path, 'r')
  try {
    new TreeCheck(path, file).run()
  } finally {
    closeSync(file)
  }
}

class TreeCheck {
  readonly #path: string
  readonly #file: number
  #lastPage = 0n

  constructor(path: string, file: number) {
    this.#path = path
    this.#file = file
  }

  run() {
    const newer = layout.newerMeta(this.#read(0n, layout.META_BYTES), this.#read(1n, layout.META_BYTES))
    this.#lastPage = newer.readBigUInt64LE(layout.LAST_PAGE_OFFSET)
    this.#checkTree(newer, layout.FREE_TREE_OFFSET)
    this.#checkTree(newer, layout.MAIN_TREE_OFFSET)
  }

  #checkTree(bytes: Buffer, offset: number) {
    const { depth, pages, entries, root } = layout.readTree(bytes, offset)
    if (root === layout.NO_ROOT) return
    const found = this.#checkPage(root, depth)
    this.#expect(found.pages === pages && found.entries === entries, root)
  }

  /** Checks a page and all pages below it, and counts pages and entries. The pages at level 1 are leaves. */
  #checkPage(number: bigint, levels: number): { pages: number; entries: number } {
    const isLeaf = levels === 1
    const page = this.#readPage(number, PAGE_BYTES, isLeaf ? layout.LEAF : layout.BRANCH)
    const space = page.readUInt16LE(layout.SPACE_OFFSET)
    const nodes = HEADER_BYTES + page.readUInt16LE(layout.SPACE_END_OFFSET)
    const count = { pages: 1, entries: isLeaf ? space / 2 : 0 }
    this.#expect(levels > 0 && space >= 2 && HEADER_BYTES + space <= nodes && nodes <= PAGE_BYTES, number)
    for (let place = HEADER_BYTES; place < HEADER_BYTES + space; place += 2) {
      const node = HEADER_BYTES + page.readUInt16LE(place)
      this.#expect(node >= nodes && node + layout.NODE_BYTES <= PAGE_BYTES, number)
      const keyEnd = node + layout.NODE_BYTES + page.readUInt16LE(node + layout.KEY_SIZE_OFFSET)
      this.#expect(keyEnd <= PAGE_BYTES, number)
      if (isLeaf) this.#checkValue(page, number, node, keyEnd)
      else {
        const below = this.#checkPage(BigInt(page.readUIntLE(node, 6)), levels - 1)
        count.pages += below.pages
        count.entries += below.entries
      }
    }
    return count
  }

  /** Checks the place of the value of a leaf's node, and the tree in the value, if any. */
  #checkValue(page: Buffer, number: bigint, node: number, start: number) {
    const bytes = page.readUInt32LE(node)
    const flags = page.readUInt16LE(node + layout.NODE_FLAGS_OFFSET)
    if (flags === layout.IN_OVERFLOW) {
      this.#expect(start + layout.OVERFLOW_BYTES <= PAGE_BYTES, number)
      this.#checkOverflow(
        page.readBigUInt64LE(start),
        page.readBigUInt64LE(start + layout.OVERFLOW_COUNT_OFFSET),
        bytes,
      )
      return
    }
    this.#expect(start + bytes <= PAGE_BYTES && (flags === 0 || flags === layout.IS_TREE), number)
    if (flags !== layout.IS_TREE) return
    this.#expect(bytes === layout.TREE_BYTES, number)
    this.#checkTree(page, start)
  }

  #checkOverflow(first: bigint, pages: bigint, bytes: number) {
    const last = first + pages - 1n
    this.#expect(HEADER_BYTES + bytes <= pages * BigInt(PAGE_BYTES) && last <= this.#lastPage, first)
    this.#readPage(first, HEADER_BYTES, layout.OVERFLOW)
    this.#read(last, 1)
  }

  #readPage(number: bigint, length: number, flags: number): Buffer {
    this.#expect(number <= this.#lastPage, number)
    const page = this.#read(number, length)
    this.#expect(page.readBigUInt64LE(0) === number && page.readUInt16LE(layout.FLAGS_OFFSET) === flags, number)
    return page
  }

  #read(page: bigint, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    this.#expect(readSync(this.#file, bytes, 0, length, Number(page) * PAGE_BYTES) === length, page)
    return bytes
  }

  #expect(isSound: boolean, page: bigint) {
    if (!isSound) throw new Damaged(`${this.#path} is damaged at page ${page}`)
  }
}
