import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { parseCsv } from './csv.ts'
import { needsPrograms } from './needs.ts'
import { STEP_MS } from './server-program.ts'
import { temporaryFolder } from './temporary-folder.ts'

// The programs that read exported books.

export const needsBookKeepers = needsPrograms('hledger', 'bean-check', 'bean-query')

/** Books as a program understood them, after it found every assertion to hold. */
export interface ReadBooks {
  /** In millionths, by account. Names of accounts with money end in its currency. */
  balances: Record<string, number>
  /** In the order of the program, which is that of days. */
  entries: { day: string; tags: Record<string, string> }[]
}

/** Reads the text of books. Rejects with what the program says of wrong ones. */
export type Read = (t: Test, text: string) => Promise<ReadBooks>

export const readByHledger: Read = async (t, text) => {
  const path = await fileOf(t, text)
  const hledger = (...args: string[]) => run('hledger', '-f', path, ...args)
  await hledger('check', '--strict')
  const layout = ['--flat', '--no-total', '--layout', 'bare', '--output-format', 'csv']
  const balances = parseCsv(await hledger('balance', ...layout))
  const entries: Transaction[] = JSON.parse(await hledger('print', '--output-format', 'json'))
  return {
    balances: Object.fromEntries(
      balances.map(({ account = '', commodity = '', balance = '' }) => [nameOf(account, commodity), microsOf(balance)]),
    ),
    entries: entries.map(({ tdate, ttags }) => ({ day: tdate, tags: Object.fromEntries(ttags) })),
  }
}

/** A transaction as hledger writes it. */
interface Transaction {
  tdate: string
  ttags: [string, string][]
}

const TAGS = ['event_id', 'position', 'revision', 'time', 'run_id', 'endpoint', 'key_id', 'reference', 'reason', 'hash']

export const readByBeancount: Read = async (t, text) => {
  const path = await fileOf(t, text)
  await run('bean-check', path)
  const tags = TAGS.map(name => `entry_meta('${name}') AS ${name}`)
  const select = `SELECT date, account, number, currency, ${tags.join(', ')}`
  const balances: Record<string, number> = {}
  const entries = new Map<string | undefined, ReadBooks['entries'][number]>()
  for (const posting of parseCsv(await run('bean-query', '--format', 'csv', path, select))) {
    const { date = '', account = '', number = '', currency = '', ...tags } = posting
    // bean-query pads names to the same width.
    const name = nameOf(account.trim(), currency.trim())
    balances[name] = (balances[name] ?? 0) + microsOf(number)
    entries.set(tags['event_id'], { day: date, tags })
  }
  return {
    balances,
    entries: [...entries.values()].map(({ day, tags }) => ({ day, tags: withoutEmpty(tags) })),
  }
}

const nameOf = (account: string, commodity: string): string =>
  commodity === 'CREDIT' ? account : `${account} ${commodity}`

const withoutEmpty = (tags: Record<string, string>) =>
  Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== ''))

/** Such as of `-1,234.500000 CREDIT`. */
const microsOf = (amount: string): number => Number(amount.replaceAll(/[^\d-]/g, ''))

const fileOf = async (t: Test, text: string): Promise<string> => {
  const path = join(await temporaryFolder(t), 'books')
  await writeFile(path, text)
  return path
}

/** Far more than the books of a test take. */
const MAX_OUTPUT_BYTES = 100 * 1024 * 1024

const run = async (program: string, ...args: string[]): Promise<string> => {
  // Other locales than UTF-8 would garble the texts.
  const options = { env: { ...process.env, LC_ALL: 'C.UTF-8' }, maxBuffer: MAX_OUTPUT_BYTES, timeout: STEP_MS }
  const { stdout } = await promisify(execFile)(program, args, options)
  return stdout
}
