import { isDeepStrictEqual } from 'node:util'
import { PRIVATE_URL } from '../../../schemas/personal.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { AuditedEvent, Report, ReportEnd, Rule } from '../fault.ts'
import { type BudgetUse, BudgetUses } from './keys.ts'
import { Attempts } from './webhooks.ts'

/**
 * A debit that crosses the owner's balance limit or a share of a budget has a notice in the same append. An expiring
 * key has a notice a week before. Each crossing has one notice, and so does the end of top-ups that have failed.
 * Retiring models may have notices, and nothing else does. Notices count from 1.
 */
export class Notices implements Rule {
  #settings: Settings = { email: false, balanceUnderMicros: 0 }
  #balanceMicros = 0
  #number = 0
  /** The notices that must follow the last debit, or the end of top-ups. */
  #expected: Notice[] = []
  /** Why the last top-up failed. */
  #failure: unknown
  /** By key and period, the largest share of which the owner was notified. */
  readonly #notified = new Map<string, number>()
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
    if (type === 'TopUpSettled') this.#failure = data['code']
    if (type === 'TopUpRemoved' && data['reason'] === 'failures')
      this.#expected.push({ kind: 'top_up_stopped', code: this.#failure })
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
    if (!use || share <= (this.#notified.get(periodOf(use)) ?? 0)) return
    this.#notified.set(periodOf(use), share)
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
    // The lots and the withdrawals know what is due.
    else if (notice.kind !== 'credits_expiring' && notice.kind !== 'withdrawal_received') {
      const expected = this.#expected.shift()
      if (!expected) report('no event before it requires a notice')
      else if (!isDeepStrictEqual({ ...notice }, expected))
        report(`its notice is not that of ${JSON.stringify(expected)}, which an earlier event requires`)
    }
    if (to.email && !this.#settings.email && notice.kind !== 'withdrawal_received') report('the account wants no mail')
    const { url } = this.#settings
    // An encrypted URL may be any.
    const isExpected = to.url === url || (url !== undefined && to.url === PRIVATE_URL)
    if (to.url !== undefined && !isExpected) report('the account wants no notices at this URL')
    for (const channel of Object.keys(to)) this.#attempts.begin(`${number}/${channel}`)
  }

  #expectNone(report: Report) {
    for (const { kind } of this.#expected) report(`it is not the notice of ${kind}, which an earlier event requires`)
    this.#expected = []
  }
}

type Notice = { kind: string } & Readonly<Record<string, unknown>>

interface Settings {
  email: boolean
  url?: string
  balanceUnderMicros: number
}

/** These events may come between a debit and its notices. */
const WITH_DEBIT = ['RunQueued', 'RunStarted']

/** The share of a budget that is used up, in percent. */
const shareOf = ({ spentMicros, budget: { amountMicros } }: BudgetUse): number =>
  spentMicros >= amountMicros ? 100 : (amountMicros - spentMicros) * 5 <= amountMicros ? 80 : 0

const periodOf = ({ keyId, firstDay }: BudgetUse): string => `${keyId}/${firstDay}`

/** The start of the next period. */
const renewalOf = ({ firstDay, budget: { period } }: BudgetUse): string => {
  const [year = 0, month = 0, day = 0] = firstDay.split('-').map(Number)
  const next = { day: [month - 1, day + 1], week: [month - 1, day + 7], month: [month, 1] } as const
  return new Date(Date.UTC(year, ...next[period])).toISOString()
}

const DAY_MS = 24 * 60 * 60 * 1000
const WEEK_MS = 7 * DAY_MS

/** Keys whose owner must be notified a week before they expire. */
class ExpiringKeys {
  readonly #expiresAt = new Map<unknown, string>()

  take(event: AuditedEvent) {
    const { keyId, expiresAt } = event.data as { keyId?: string; expiresAt?: string }
    if (event.type === 'ApiKeyCreated' && Date.parse(expiresAt ?? '') - WEEK_MS > Date.parse(clockOf(event)))
      this.#expiresAt.set(keyId, expiresAt as string)
    if (event.type === 'ApiKeyRevoked') this.#expiresAt.delete(keyId)
  }

  takeNotice({ keyId, expiresAt }: Readonly<Record<string, unknown>>, time: string, report: Report) {
    const known = this.#expiresAt.get(keyId)
    if (known === undefined) return report(`no notice of the expiry of ${keyId} is due`)
    this.#expiresAt.delete(keyId)
    if (expiresAt !== known) report(`${keyId} expires at ${known}`)
    if (Date.parse(known) - WEEK_MS > Date.parse(time)) report(`${keyId} expires in more than a week`)
  }

  /** A service that is down for the whole week can send no notice. */
  end(report: ReportEnd) {
    for (const [keyId, expiresAt] of this.#expiresAt)
      report(`there was no notice of the expiry of ${keyId}`, Date.parse(expiresAt))
  }
}

/** A notice of a retiring model goes only to accounts that have used it lately, at most once per step. */
class RetiringModels {
  /** For each model, the time of the last debit. */
  readonly #usedAtMs = new Map<unknown, number>()
  /** For each model and time of retirement, the days of the last notice. */
  readonly #notified = new Map<string, number>()

  take(event: AuditedEvent) {
    const { receipt } = event.data as { receipt?: { model: string } }
    if (event.type === 'CreditsDebited') this.#usedAtMs.set(receipt?.model, Date.parse(clockOf(event)))
  }

  takeNotice(notice: Readonly<Record<string, unknown>>, time: string, report: Report) {
    const { model, retiresAt, days } = notice as { model: string; retiresAt: string; days: number }
    const leftMs = Date.parse(retiresAt) - Date.parse(time)
    const usedMs = Date.parse(time) - (this.#usedAtMs.get(model) ?? Number.NEGATIVE_INFINITY)
    if (usedMs > USED_WITHIN_MS) report(`the account has not used ${model} lately`)
    if (leftMs <= 0 || leftMs > days * DAY_MS) report(`${model} retires at ${retiresAt}, not within ${days} days`)
    const name = `${model} ${retiresAt}`
    if (days >= (this.#notified.get(name) ?? Number.POSITIVE_INFINITY))
      report(`the owner was already notified of ${name}`)
    this.#notified.set(name, days)
  }
}

/** Usage is counted in whole days, so the last use may be almost 31 days ago. */
const USED_WITHIN_MS = 31 * DAY_MS

/** The operator is notified of each alert once, when it begins. Alerts count from 1. */
export class Alerts implements Rule {
  #number = 0
  /** The numbers of alerts that have not ended, by subject. */
  readonly #open = new Map<string, unknown>()
  readonly #attempts = new Attempts({
    ...{ noun: 'notice', delivered: 'OperatorNoticeDelivered' },
    ...{ failed: 'OperatorNoticeAttemptFailed', abandoned: 'OperatorNoticeAbandoned' },
  })

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    this.#attempts.take(event, String(data['number']), report)
    if (type === 'OperatorNoticeRaised') this.#raise(data, report)
    if (type === 'OperatorTroubleEnded') this.#end(data['number'], report)
  }

  end(report: ReportEnd) {
    this.#attempts.end(report)
  }

  #raise({ number, trouble: alert, mail }: AuditedEvent['data'], report: Report) {
    if (number !== this.#number + 1) report(`its number is ${number}, and ${this.#number} came before it`)
    this.#number = Number(number)
    const { kind, provider, account, sink } = alert as Record<string, unknown>
    const subject = JSON.stringify([kind, provider, account, sink])
    if (this.#open.has(subject)) report(`alert ${this.#open.get(subject)} has not ended`)
    this.#open.set(subject, number)
    if (mail) this.#attempts.begin(String(number))
  }

  #end(number: unknown, report: Report) {
    const ended = [...this.#open].find(([, each]) => each === number)
    if (ended) this.#open.delete(ended[0])
    else report(`alert ${number} is not open`)
  }
}
