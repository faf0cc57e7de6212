import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { openExportedLog } from '../../audit/exported-log.ts'
import type { Config } from '../../boot/config.ts'
import { readMasterSecret } from '../../boot/master-secret.ts'
import { explainFailure } from '../../boot/process.ts'
import { readConfig } from '../../boot/read-config.ts'
import { openLogReadOnly, openVault } from '../../boot/stores.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { decryptedWithKnownKeys } from '../../services/vault/decrypted-log.ts'
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

/** Like withLog, with the personal data, as far as the environment has their keys. */
export const withDecryptedLog = <Result>(
  options: { file?: string },
  look: (opened: { log: ReadableLog; isDense: boolean }) => Promise<Result>,
): Promise<Result> =>
  withLog(options, async opened => {
    const vault = await vaultOf(options)
    if (!vault) return look(opened)
    try {
      return await look({ ...opened, log: decryptedWithKnownKeys(opened.log, vault) })
    } finally {
      await vault.close()
    }
  })

/** Undefined without the secret of a service, which an auditor of an exported log lacks. */
const vaultOf = async ({ file }: { file?: string }) => {
  const config = configOf(file)
  if (!config || (config.masterSecret.kind === 'file' && !existsSync(config.masterSecret.path))) return undefined
  const { commandLineLogger } = await import('../../boot/core.ts')
  return openVault(config, commandLineLogger(config.logLevel), readMasterSecret(config.masterSecret))
}

/** An exported log is read whatever the environment holds. */
const configOf = (file: string | undefined): Config | undefined => {
  try {
    return readConfig(process.env, { isCommand: true })
  } catch (error) {
    if (file === undefined) throw error
    return undefined
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
