import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BackupFacts } from '../../../schemas/backup.ts'
import { compileGuard } from '../../engine/log/codec.ts'
import { OperatorError } from '../operator-error.ts'

// The files of a backup.

/** The folder of the log, in a full backup. */
export const LOG = 'log'
/** The events since the earlier backup, in an incremental one. */
export const EVENTS = 'events.jsonl'
export const OBJECTS = 'objects'
/** The names of all objects at the time of an incremental backup, since others were deleted after the earlier one. */
export const OBJECT_NAMES = 'objects.txt'
export const MASTER_SECRET = 'master-secret'
export const SEAL_KEY = 'seal-key.pem'
export const FACTS = 'backup.json'
export const SEAL = 'seal.json'
/** The digests of all other files, as `sha256sum --check` reads them. A backup without it is incomplete. */
export const SUMS = 'SHA256SUMS'

const isFacts = compileGuard(BackupFacts)

export interface ReadBackup {
  facts: BackupFacts
  /** The digests of its files, by their path. */
  sums: Map<string, string>
}

/** Reads what a backup says about itself. Throws OperatorError if the folder holds no complete backup. */
export const readBackup = async (folder: string): Promise<ReadBackup> => {
  const [facts, sums] = await Promise.all(
    [FACTS, SUMS].map(name => readFile(join(folder, name), 'utf8').catch(() => '')),
  )
  const known = parse(facts)
  if (sums && isFacts(known)) return { facts: known, sums: new Map(linesOf(sums)) }
  throw new OperatorError(
    `${folder} holds no complete backup: "tollgate backup" was interrupted, or never wrote there.`,
  )
}

const parse = (text = ''): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const DIGEST_LENGTH = 64

const linesOf = (sums: string) =>
  sums
    .split('\n')
    .filter(Boolean)
    .map(line => [line.slice(DIGEST_LENGTH + 2), line.slice(0, DIGEST_LENGTH)] as const)
