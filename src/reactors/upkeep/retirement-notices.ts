import { type AccountId, DEFAULT_USAGE_DAYS } from '../../../schemas/primitives.ts'
import type { Retirement } from '../../domain/account/commands.ts'
import { noticeStep } from '../../domain/account/notices.ts'
import { DAY_MS, dayOf } from '../../domain/days.ts'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../../services/accounts/account-mailboxes.ts'
import type { Retirements } from '../../services/catalog/retirements.ts'
import type { Reads } from '../../services/views/reads.ts'
import { every } from '../../time/timers.ts'

/** How often to look. Notices are due days ahead. */
const LOOK_MS = 60 * 60 * 1000

/**
 * The wait before the first look. A look before the catalog is published would find an empty catalog, and would keep it
 * as the last known one if the log failed.
 */
const FIRST_LOOK_MS = 60_000

interface Dependencies {
  accounts: Pick<AccountMailboxes, 'execute'>
  retirements: Pick<Retirements, 'list'>
  reads: Reads
  clock: Clock
  logger: Logger
}

/**
 * Raises the notices of models that retire, for accounts that have used them lately. It needs no lease: an account that
 * several processes ask raises each notice once.
 */
export class RetirementNoticesReactor {
  readonly #dependencies: Dependencies
  /** The accounts and steps that were asked already, so that streams are not folded every hour. */
  #asked = new Set<string>()
  #look: Promise<void> | undefined
  #stopLooking = () => {}
  #stopped = false

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  start() {
    const { clock } = this.#dependencies
    const first = clock.timer(FIRST_LOOK_MS, () => this.look())
    const stopLooking = every(clock, LOOK_MS, () => this.look())
    this.#stopLooking = () => {
      first.cancel()
      stopLooking()
    }
  }

  async stop() {
    this.#stopped = true
    this.#stopLooking()
    await this.#look
  }

  /** Raises the due notices. Never rejects. */
  look(): Promise<void> {
    this.#look ??= this.#raiseAll()
      .catch(err =>
        this.#dependencies.logger.error({ err }, 'the notices of retiring models could not be raised; retrying'),
      )
      .finally(() => {
        this.#look = undefined
      })
    return this.#look
  }

  async #raiseAll() {
    const { retirements, reads, clock } = this.#dependencies
    const nowMs = clock.nowMs()
    const due = (await retirements.list()).flatMap(retirement => {
      const days = noticeStep(retirement.retiresAt, nowMs)
      return days === undefined ? [] : [{ retirement, name: `${retirement.model} ${retirement.retiresAt} ${days}` }]
    })
    const asked = new Set<string>()
    if (due.length > 0)
      for await (const { row } of reads.scan('accounts', BY_KEY, { prefix: '' })) {
        if (this.#stopped) return
        const { accountId } = row
        const isNew = due.some(({ name }) => !this.#asked.has(`${accountId} ${name}`))
        const used = isNew ? await this.#modelsOf(accountId, nowMs) : new Set()
        for (const { retirement, name } of due) {
          const step = `${accountId} ${name}`
          const isAsked =
            this.#asked.has(step) || (used.has(retirement.model) && (await this.#raise(accountId, retirement)))
          if (isAsked) asked.add(step)
        }
      }
    this.#asked = asked
  }

  /** The families that an account has paid for in the last days. */
  async #modelsOf(accountId: AccountId, nowMs: number): Promise<Set<unknown>> {
    const models = new Set<unknown>()
    const after = `${accountId}/${dayOf(nowMs - DEFAULT_USAGE_DAYS * DAY_MS)}/`
    for await (const { row } of this.#dependencies.reads.scan('usage', BY_KEY, { prefix: `${accountId}/`, after }))
      if (row.runs > 0) models.add(row.model)
    return models
  }

  /**
   * False if the account could not be asked; others are asked all the same. A refusal means that the owner has had this
   * notice, or wants none. Rejects with Unavailable.
   */
  async #raise(accountId: AccountId, retirement: Retirement): Promise<boolean> {
    const { accounts, logger } = this.#dependencies
    try {
      await accounts.execute({ kind: 'reactor' }, accountId, { type: 'RaiseRetirement', retirement })
      return true
    } catch (err) {
      if (err instanceof Unavailable) throw err
      logger.error({ err, accountId }, 'the notice of a retiring model could not be raised')
      return false
    }
  }
}
