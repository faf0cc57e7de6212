import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { canonicalJson } from '../../engine/log/hash-chain.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { concerns, type OnProgress, readLog } from '../read-log.ts'
import { beancountExporter } from './beancount.ts'
import { csvExporter } from './csv.ts'
import type { Exporter } from './exporter.ts'
import { hledgerExporter } from './hledger.ts'

/**
 * Every event as a line of canonical JSON, including damaged events, so that `audit verify` finds the same faults in
 * the export.
 */
const jsonlExporter = (): Exporter => ({
  take: event => {
    try {
      return `${canonicalJson(event)}\n`
    } catch (cause) {
      const { stream, revision } = event
      throw new Damaged(`${stream} holds at revision ${revision} text that has no canonical form`, { cause })
    }
  },
})

const exporters = {
  jsonl: jsonlExporter,
  csv: csvExporter,
  hledger: hledgerExporter,
  beancount: beancountExporter,
} satisfies Record<string, () => Exporter>

export type ExportFormat = keyof typeof exporters
export const EXPORT_FORMATS = Object.keys(exporters) as ExportFormat[]

interface ExportOptions {
  format: ExportFormat
  /** Exports only this account. Formats that can contain the catalog also export the catalog with its prices. */
  account?: string | undefined
  onProgress?: OnProgress | undefined
}

/**
 * The log up to its current head in a format, in pieces. Throws Damaged at an event that the format cannot express, and
 * if credits do not add up.
 */
export async function* exportLog(
  log: ReadableLog,
  { format, account, onProgress }: ExportOptions,
): AsyncGenerator<string> {
  const exporter = exporters[format]()
  if (exporter.head) yield exporter.head
  for await (const page of readLog(log, { onProgress })) {
    const text = page.map(event => (concerns(event.stream, account) ? exporter.take(event) : '')).join('')
    if (text) yield text
  }
  const end = exporter.end?.()
  if (end) yield end
}

/** Whether a log has an event of an account. */
export const hasAccount = async (log: ReadableLog, account: string): Promise<boolean> => {
  for await (const page of log.readStream(accountStream(account as AccountId), 0)) if (page.length > 0) return true
  return false
}
