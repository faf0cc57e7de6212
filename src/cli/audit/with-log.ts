import { Option } from 'commander'
import { openExportedLog } from '../../audit/exported-log.ts'
import { readConfig } from '../../boot/config.ts'
import { explainFailure } from '../../boot/failure.ts'
import { openLogReadOnly } from '../../boot/stores.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { OperatorError } from '../operator-error.ts'

/** The exit code of an audit that could not look. */
export const UNABLE = 2

export const fileOption = (): Option =>
  new Option('--file <path>', 'an exported log instead of the one that the environment names')

/** Opens the log, or an exported one, to read only. Throws OperatorError if it cannot be read. */
export const withLog = async <Result>(
  { file }: { file?: string },
  look: (opened: { log: ReadableLog; isDense: boolean }) => Promise<Result>,
): Promise<Result> => {
  try {
    const opened = file
      ? { log: openExportedLog(file), isDense: false }
      : await openLogReadOnly(readConfig(process.env))
    try {
      return await look(opened)
    } finally {
      await opened.log.close()
    }
  } catch (error) {
    throw new OperatorError(error instanceof OperatorError ? error.message : explainFailure(error), UNABLE)
  }
}
