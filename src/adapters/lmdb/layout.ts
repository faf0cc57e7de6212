// The layout of LMDB's file (mdb.c: MDB_page, MDB_meta, MDB_db, MDB_node, MDB_ovpage), in bytes. The file starts with
// two meta pages, which transactions write alternately.
export const PAGE_BYTES = 4096

// The header of a page. A page of a tree states where the space between its index of nodes and the nodes starts and
// ends, in bytes after the header.
export const HEADER_BYTES = 24
export const FLAGS_OFFSET = 18
export const SPACE_OFFSET = 20
export const SPACE_END_OFFSET = 22
export const BRANCH = 0x01
export const LEAF = 0x02
export const OVERFLOW = 0x04

// A meta page has the magic number, the trees of free pages and of databases, and the transaction that wrote it.
export const MAGIC_OFFSET = 24
export const MAGIC = 0xbeefc0de
export const FREE_TREE_OFFSET = 48
export const MAIN_TREE_OFFSET = 96
export const LAST_PAGE_OFFSET = 144
const TRANSACTION_OFFSET = 152
export const META_BYTES = 160

/** The valid one of the two meta pages. */
export const newerMeta = (first: Buffer, second: Buffer): Buffer =>
  transactionOf(first) > transactionOf(second) ? first : second

/** The number of the transaction that wrote a meta page. */
export const transactionOf = (meta: Buffer): number => Number(meta.readBigUInt64LE(TRANSACTION_OFFSET))

/** A tree in a meta page or a node. The root of an empty tree is NO_ROOT. */
export const readTree = (bytes: Buffer, offset: number) => ({
  depth: bytes.readUInt16LE(offset + 6),
  pages: Number(bytes.readBigUInt64LE(offset + 8) + bytes.readBigUInt64LE(offset + 16)),
  entries: Number(bytes.readBigUInt64LE(offset + 32)),
  root: bytes.readBigUInt64LE(offset + 40),
})
export const TREE_BYTES = 48
export const NO_ROOT = 2n ** 64n - 1n

// A node: the page below it or the size of its value, flags, and the size of the key that follows.
export const NODE_FLAGS_OFFSET = 4
export const KEY_SIZE_OFFSET = 6
export const NODE_BYTES = 8
export const IN_OVERFLOW = 0x01
export const IS_TREE = 0x02

// If a value has pages of its own, the node holds their first number and, after a transaction, their count.
export const OVERFLOW_COUNT_OFFSET = 16
export const OVERFLOW_BYTES = 24
