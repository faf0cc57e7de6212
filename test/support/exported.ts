import type { RawEvent } from '../../schemas/recorded.ts'
import { type ExportFormat, exportLog } from '../../src/audit/export/export-log.ts'
import { logOf } from './log-of.ts'

/** Events in a format, as text. */
export const exported = async (events: RawEvent[], format: ExportFormat, account?: string): Promise<string> => {
  let text = ''
  for await (const piece of exportLog(logOf(events), { format, account })) text += piece
  return text
}
