import { outputQueue, uploadQueue } from '../../../projections/due-objects.ts'
import { MAX_ARCHIVED_RUNS } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { FileTask } from '../../../schemas/views.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import { noticeDeliveryIn } from '../../domain/account/notices.ts'
import { BY_KEY, type ViewStore } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { Logins } from '../../services/sign-in/logins.ts'
import type { Vault } from '../../services/vault/vault.ts'
import type { Reads } from '../../services/views/reads.ts'

const REASON = 'the account was erased'

const caller = { kind: 'reactor' } as const

export interface ErasureDependencies {
  accounts: AccountMailboxes
  logins: Logins
  vault: Vault
  reads: Reads
  views: ViewStore
}

/**
 * Erases the personal data of an account. Each step can be repeated after a crash. The key goes last but for the
 * record: views that are rebuilt without it lack the same rows.
 */
export class Erasure {
  readonly #dependencies: ErasureDependencies
  readonly #deleteFile: (task: FileTask) => Promise<void>

  /** `deleteFile` deletes the files of a task, whenever they are due. */
  constructor(dependencies: ErasureDependencies, deleteFile: (task: FileTask) => Promise<void>) {
    this.#dependencies = dependencies
    this.#deleteFile = deleteFile
  }

  async erase(accountId: AccountId): Promise<void> {
    const { accounts, logins, vault, reads, views } = this.#dependencies
    await this.#endDeliveries(accountId)
    for (const queue of [outputQueue, uploadQueue]) await this.#deleteFiles(accountId, queue)
    await this.#archiveRuns(accountId)
    for (const identity of (await accounts.currentState(accountId)).identities)
      await logins.execute(caller, identity, { type: 'UnlinkLogin', accountId })
    await reads.ownWrites(accountId)
    await views.deleteSnapshots(accountStream(accountId))
    await vault.destroy(accountId)
    await views.overwriteDeleted?.()
    await this.#execute(accountId, { type: 'CompleteErasure' })
  }

  /**
   * The last attempt of each delivery counts as failed. One that is under way may still arrive, and be recorded before:
   * then the next attempt is the last.
   */
  async #endDeliveries(accountId: AccountId) {
    const outcome = { delivered: false, reason: REASON } as const
    const { deliveries, noticeDeliveries } = await this.#dependencies.accounts.currentState(accountId)
    if (deliveries.size + noticeDeliveries.size === 0) return
    for (const [runId, { attempts }] of deliveries)
      await this.#execute(accountId, { type: 'RecordDelivery', runId, attempt: attempts + 1, outcome })
    for (const [delivery, attempts] of noticeDeliveries)
      await this.#execute(accountId, {
        type: 'RecordNotice',
        ...noticeDeliveryIn(delivery),
        attempt: attempts + 1,
        outcome,
      })
    await this.#endDeliveries(accountId)
  }

  /** All files of the account have due work, which deletes them in time. */
  async #deleteFiles(accountId: AccountId, queue: string) {
    const { reads } = this.#dependencies
    for await (const { row } of reads.scan('due', 'byQueue', { prefix: `${queue}/${accountId}/` }))
      await this.#deleteFile(row as FileTask)
  }

  async #archiveRuns(accountId: AccountId) {
    const { reads } = this.#dependencies
    while (true) {
      await reads.ownWrites(accountId)
      const page = await reads.list('runs', BY_KEY, { prefix: `${accountId}/`, limit: MAX_ARCHIVED_RUNS })
      const runs = page.map(({ row: { runId, revisions } }) => ({ runId, revisions: [...revisions] }))
      if (runs.length === 0) return
      await this.#execute(accountId, { type: 'ArchiveRuns', runs })
    }
  }

  #execute(accountId: AccountId, command: AccountCommand) {
    return this.#dependencies.accounts.execute(caller, accountId, command)
  }
}
