import { setTimeout as delay } from 'node:timers/promises'
import type { Database, RootDatabase } from './environment.ts'
import { HEADER_BYTES, PAGE_BYTES } from './layout.ts'

/** Runs a change in a write transaction. */
type Write = (change: () => void) => Promise<void>

/** Values of one transaction: few enough for other writes to go on in between. */
const VALUES_AT_ONCE = 500

/** A value that fills a page of its own, since it is too long for a page with other values. */
const FILLER = 'x'.repeat(PAGE_BYTES - HEADER_BYTES)

/** How long readers may use a page that is free. Each read of a view begins with the newest state. */
const READERS_MS = 1000

const READERS_POLL_MS = 200

const PREFIX = 'filler/'

/**
 * Writes over what was deleted from the databases of an environment. LMDB leaves it in the free pages and in the gaps
 * of pages that are in use. The last database holds fillers for a moment.
 */
export const overwriteDeleted = async (
  root: RootDatabase,
  databases: readonly Database<string, string>[],
  write: Write,
): Promise<void> => {
  for (const database of databases) await copyPages(database, write)
  const fillers = databases.at(-1) as Database<string, string>
  await fillFreePages(root, fillers, write)
  await delay(READERS_MS)
  await untilReadersEnd(root)
  await fillFreePages(root, fillers, write)
}

/** Writes each value again. LMDB copies the page, and leaves out the gap. */
const copyPages = async (database: Database<string, string>, write: Write) => {
  let start: string | undefined = ''
  while (start !== undefined) {
    const from: string = start
    await write(() => {
      const entries = [...database.getRange({ start: from, limit: VALUES_AT_ONCE + 1 })]
      start = entries[VALUES_AT_ONCE]?.key
      for (const { key, value } of entries.slice(0, VALUES_AT_ONCE)) database.putSync(key, value)
    })
  }
}

/** A comparison of the views, or a rebuild, reads one state for long, and keeps its deleted pages from being free. */
const untilReadersEnd = async (root: RootDatabase) => {
  root.resetReadTxn()
  const { lastTxnId } = root.getStats() as { lastTxnId: number }
  // A line of the list holds a process, a thread and a transaction.
  const isOlder = (reader: string) => Number(reader.trim().split(/ +/)[2]) < lastTxnId
  while (root.readerList().split('\n').some(isOlder)) {
    await delay(READERS_POLL_MS)
    root.resetReadTxn()
    root.readerCheck()
  }
}

/** LMDB uses free pages before it extends the file. */
const fillFreePages = async (root: RootDatabase, fillers: Database<string, string>, write: Write) => {
  const remove = () =>
    write(() => {
      for (const key of [...fillers.getKeys({ start: PREFIX, end: `${PREFIX}\uffff` })]) fillers.removeSync(key)
    })
  // A killed process may have left some.
  await remove()
  try {
    for (let last = lastPageOf(root), count = 0; ; last = lastPageOf(root)) {
      await write(() => {
        for (const end = count + VALUES_AT_ONCE; count < end; count++) fillers.putSync(PREFIX + count, FILLER)
      })
      // The file grows by all of them once no free page is left.
      if (lastPageOf(root) - last >= VALUES_AT_ONCE) return
    }
  } finally {
    await remove()
  }
}

const lastPageOf = (root: RootDatabase): number => {
  root.resetReadTxn()
  return (root.getStats() as { lastPageNumber: number }).lastPageNumber
}
