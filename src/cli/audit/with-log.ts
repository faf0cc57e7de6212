import { Option } from 'commander'
import { openExportedLog } from '../../audit/exported-log.ts'
import { explainFailure } from '../../boot/process.ts'
import { readConfig } from '../../boot/read-config.ts'
import { openLogReadOnly } from '../../boot/stores.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { printable } from './text.ts'

export const fileOption = (): Option =>
  new Option('--file <path>', 'read an exported log from this file (default: the log that the environment names)')

/** Opens the log, or an exported log, read-only. Throws OperatorError if it cannot be read. */
export const withLog = async <Result>(
  { file }: { file?: string },
  look: (opened: { log: ReadableLog; isDense: boolean }) => Promise<Result>,
): Promise<Result> => {
  try {
    const opened = file
      ? { log: openExportedLog(file), isDense: false }
      : await openLogReadOnly(readConfig(process.env, { isCommand: true }))
    try {
      return await look(opened)
    } finally {
      await opened.log.close()
    }
  } catch (error) {
    throw new OperatorError(messageOf(error, file), UNABLE)
  }
}

/** The message about a damaged log may quote the log. */
const messageOf = (error: unknown, file?: string): string => {
  if (error instanceof OperatorError) return error.message
  if (error instanceof Damaged) return printable(error.message)
  if (error instanceof Unavailable) return `${error.message}. ${OTHER_LOG}`
  const { syscall, message } = error as NodeJS.ErrnoException
  const isOfFile = file !== undefined && syscall !== undefined
  return isOfFile ? `The exported log cannot be read: ${printable(message)}.` : explainFailure(error)
}

const OTHER_LOG = 'Set DATA_DIR or EVENT_STORE_URL as for the service, or name an exported log with --file.'
