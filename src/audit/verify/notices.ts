import { isDeepStrictEqual } from 'node:util'
import { clockOf } from '../../../schemas/recorded.ts'
import type { Report } from '../fault.ts'
import { Attempts } from './attempts.ts'
import { type BudgetUse, BudgetUses } from './budget-uses.ts'
import { ExpiringKeys } from './expiring-keys.ts'
import { RetiringModels } from './retiring-models.ts'
import type { AuditedEvent, ReportEnd, Rule } from './rule.ts'

type Notice = { kind: string } & Readonly<Record<string, unknown>>

interface Settings {
  email: boolean
  url?: string
  balanceUnderMicros: number
}

/** These may lie between a debit and its notices. */
const WITH_DEBIT = ['RunQueued', 'RunStarted']

/**
 * A debit that takes the balance under the owner's limit, or the use of a budget to a share, has a notice in its
 * append, and a key that expires has one a week before. Each crossing has one. Models that retire may have some, and
 * nothing else has one. They count from 1.
 */
export class Notices implements Rule {
  #settings: Settings = { email: false, balanceUnderMicros: 0 }
  #balanceMicros = 0
  #number = 0
  /** The notices that the last debit calls for. */
  #expected: Notice[] = []
  /** The largest share that the owner was told of, by key and period. */
  readonly #told = new Map<string, number>()
  readonly #budgets = new BudgetUses()
  readonly #expiring = new ExpiringKeys()
  readonly #retiring = new RetiringModels()
  readonly #attempts = new Attempts({
    ...{ noun: 'notice', delivered: 'NoticeDelivered' },
    ...{ failed: 'NoticeAttemptFailed', abandoned: 'NoticeAbandoned' },
  })

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    this.#attempts.take(event, `${data['number']}/${data['channel']}`, report)
    if (type === 'NoticeRaised') return this.#takeNotice(event, report)
    if (!WITH_DEBIT.includes(type)) this.#expectNone(report)
    this.#expiring.take(event)
    this.#retiring.take(event)
    if (type === 'AccountOpened' && data['notices']) this.#settings = data['notices'] as Settings
    if (type === 'NoticesSet') this.#settings = data as unknown as Settings
    const use = this.#budgets.take(event)
    const { balanceAfterMicros } = data as { balanceAfterMicros?: number }
    if (balanceAfterMicros === undefined) return
    if (type === 'CreditsDebited' || type === 'CreditsWithdrawn') this.#expectFor(balanceAfterMicros, use)
    this.#balanceMicros = balanceAfterMicros
  }

  end(report: ReportEnd) {
    this.#attempts.end(report)
    for (const { kind } of this.#expected) report(`the stream ends before the notice of ${kind}`)
    this.#expiring.end(report)
  }

  #expectFor(balanceMicros: number, use: BudgetUse | undefined) {
    const { email, url, balanceUnderMicros: underMicros } = this.#settings
    if (!email && url === undefined) return
    if (this.#balanceMicros >= underMicros && balanceMicros < underMicros)
      this.#expected.push({ kind: 'balance_low', balanceMicros, underMicros })
    const share = use ? shareOf(use) : 0
    if (!use || share <= (this.#told.get(periodOf(use)) ?? 0)) return
    this.#told.set(periodOf(use), share)
    const { keyId, firstDay: budgetPeriod, spentMicros, budget } = use
    const kind = share === 100 ? 'budget_exhausted' : 'budget_warning'
    const budgetMicros = budget.amountMicros
    this.#expected.push({ kind, keyId, budgetPeriod, spentMicros, budgetMicros, renewsAt: renewalOf(use) })
  }

  #takeNotice(event: AuditedEvent, report: Report) {
    const { number, notice, to } = event.data as {
      number: number
      notice: Notice
      to: { email?: true; url?: string }
    }
    if (number !== this.#number + 1) report(`its number is ${number}, and ${this.#number} came before it`)
    this.#number = number
    if (notice.kind === 'key_expiring') this.#expiring.takeNotice(notice, clockOf(event), report)
    else if (notice.kind === 'model_retiring') this.#retiring.takeNotice(notice, clockOf(event), report)
    else {
      const expected = this.#expected.shift()
      if (!expected) report('nothing before it calls for a notice')
      else if (!isDeepStrictEqual({ ...notice }, expected))
        report(`its notice is not that of ${JSON.stringify(expected)}, which the debit calls for`)
    }
    if (to.email && !this.#settings.email) report('the account wants no mail')
    if (to.url !== undefined && to.url !== this.#settings.url) report('the account wants no notices at this URL')
    for (const channel of Object.keys(to)) this.#attempts.begin(`${number}/${channel}`)
  }

  #expectNone(report: Report) {
    for (const { kind } of this.#expected) report(`it is not the notice of ${kind}, which a debit before it calls for`)
    this.#expected = []
  }
}

/** The share of a budget that its use has reached, in percent. */
const shareOf = ({ spentMicros, budget: { amountMicros } }: BudgetUse): number =>
  spentMicros >= amountMicros ? 100 : (amountMicros - spentMicros) * 5 <= amountMicros ? 80 : 0

const periodOf = ({ keyId, firstDay }: BudgetUse): string => `${keyId}/${firstDay}`

/** When the period after that of a use begins. */
const renewalOf = ({ firstDay, budget: { period } }: BudgetUse): string => {
  const [year = 0, month = 0, day = 0] = firstDay.split('-').map(Number)
  const next = { day: [month - 1, day + 1], week: [month - 1, day + 7], month: [month, 1] } as const
  return new Date(Date.UTC(year, ...next[period])).toISOString()
}
