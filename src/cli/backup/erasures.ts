import { open, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { accountIn } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { Config } from '../../boot/config.ts'
import { BEFORE_FIRST, type ReadableLog } from '../../ports/event-log.ts'

/**
 * The list of erased accounts, one ID in a line, beside the backups: an account may be erased after the last backup
 * that still has its key.
 */
const ERASURES = 'erasures.txt'

/** Adds accounts to the list in the folder of the backups. */
export const listErasures = async (backups: string, accountIds: readonly string[]): Promise<void> => {
  const listed = await readList(backups)
  const added = accountIds.filter(accountId => !listed.has(accountId))
  if (added.length === 0) return
  const file = await open(join(backups, ERASURES), 'a', 0o600)
  try {
    await file.writeFile(added.map(accountId => `${accountId}\n`).join(''))
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Lists the accounts that a log has erased beside a backup. */
export const listErasuresOf = async (log: ReadableLog, backup: string): Promise<void> => {
  const erased: AccountId[] = []
  for await (const page of log.readAll(BEFORE_FIRST))
    for (const { type, stream } of page) if (type === 'AccountErased') erased.push(accountIn(stream) as AccountId)
  await listErasures(dirname(resolve(backup)), erased)
}

/** The accounts that are listed beside backups. */
export const erasuresBeside = async (backups: readonly string[]): Promise<AccountId[]> => {
  const lists = await Promise.all([...new Set(backups.map(backup => dirname(resolve(backup))))].map(readList))
  return lists.flatMap(list => [...list]) as AccountId[]
}

/**
 * Erases the accounts of a restored log that were erased after its backup. Their open runs fail. Returns how many were
 * erased now.
 */
export const eraseAgain = async (config: Config, accountIds: readonly AccountId[]): Promise<number> => {
  if (accountIds.length === 0) return 0
  const { commandLineLogger, openCore } = await import('../../boot/core.ts')
  const core = await openCore(config, { logger: commandLineLogger(config.logLevel), isCommand: true })
  const caller = { kind: 'service' } as const
  const error = { code: 'interrupted', message: 'The account was erased.' } as const
  let count = 0
  try {
    for (const accountId of accountIds) {
      const { accountId: known, erasure, openRuns } = await core.accounts.currentState(accountId)
      if (known === undefined || erasure) continue
      const willDeleteAt = new Date(core.clock.nowMs()).toISOString()
      for (const runId of openRuns.keys())
        await core.accounts.execute(caller, accountId, { type: 'FailRun', runId, error, willDeleteAt })
      await core.accounts.execute(caller, accountId, { type: 'EraseAccount', reason: 'erased after the backup' })
      await core.vault.destroy(accountId)
      count += 1
    }
    return count
  } finally {
    await core.close()
  }
}

const readList = async (folder: string): Promise<Set<string>> => {
  const text = await readFile(join(folder, ERASURES), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  return new Set(text.split('\n').filter(line => line !== ''))
}
