import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type Router from '@koa/router'
import type { BalanceCardProps } from '../../../console/credits/balance-card.tsx'
import { CreditsPage } from '../../../console/credits/credits-page.tsx'
import { CHAIN, PROOF } from '../../../console/credits/ledger-check.tsx'
import { type CreditsView, RANGES, SPENDING_BY } from '../../../console/credits/range.ts'
import type { SpendingCardProps } from '../../../console/credits/spending-card.tsx'
import { credits } from '../../../console/parts/text.ts'
import { refundReasonOf } from '../../../console/runs/run-words.ts'
import type { Brand } from '../../../domain/brand.ts'
import { DAY_MS, dayOf } from '../../../domain/days.ts'
import { identityName } from '../../../domain/login/identity.ts'
import { OpenCounts } from '../../../flow/open-counts.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import type { LedgerEntry } from '../../../services/ledger/ledger.ts'
import { CREDITS_PATH } from '../../../services/purchases/pages.ts'
import type { Spending } from '../../../services/usage/spending.ts'
import type { WaitingClient } from '../../../services/views/newest-first.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { periodOf } from '../../../transports/moment.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { csvHead, csvLine } from '../../../transports/statement/csv.ts'
import { Journal } from '../../../transports/statement/journal.ts'
import { type Names, type SpokenLine, spoken } from '../../../transports/statement/lines.ts'
import { statementPdf } from '../../../transports/statement/pdf-thread.ts'
import { showError, showPage } from '../../answers/page-answers.ts'
import { waitingClient } from '../../connections/disconnect.ts'
import type { Context, RequestState } from '../../context.ts'
import type { ForOwner } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { publicFamilies } from './models-that-run.ts'
import { purchasePages, type RefusedPurchase, salePartsOf } from './purchases.ts'

/** Lines on a page of the statement. */
const PAGE_LINES = 50

/** Models, keys or labels with a name in the spending. */
const NAMED_GROUPS = 8

/** The newest grants that the chart may name. A search among many other lines may end before it finds them all. */
const MAX_MARKS = 25

/** The time between two points of the balance is the shortest with at most so many points. Days end at a point. */
const MAX_POINTS = 120
const STEPS_MS = [DAY_MS / 288, DAY_MS / 96, DAY_MS / 24, DAY_MS / 12, DAY_MS / 4]

/** Laying out a page of a PDF takes a few milliseconds, and all pages are in memory. */
const MAX_PDF_LINES = 2000

/** The credits of an account, for its owner: the page, files with its statement, and the proof of its events. */
export const creditPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, clock, brand, sealMinutes } = dependencies
  const { accounts, ledger, usage, keys, identities, proofs, runs } = services
  /** A file or a proof reads all lines or events, so an account may have one open at a time. */
  const open = new OpenCounts<string>(1)

  /** Credits are those of live runs, in test mode too, because test runs cost nothing. */
  const forOwner: ForOwner = handle => dependencies.forOwner((ctx, { livemode: _, ...owner }) => handle(ctx, owner))

  const namesFor = async (owner: SessionOwner): Promise<Names> => ({
    models: new Map((await publicFamilies(dependencies)).map(({ id, name }) => [id, name])),
    keys: new Map(unwrap(await keys.list(owner, owner.accountId)).map(({ keyId, name }) => [keyId, name])),
  })

  const hasDebits = async (owner: SessionOwner) => {
    const { found, next } = unwrap(await ledger.lines(owner, { kind: 'debit', limit: 1 }))
    return found.length > 0 || next !== null
  }

  /** A line that gives credits back also names the key of its run, and an unused part what the run cost. */
  const spokenWithRun = async (owner: SessionOwner, entry: LedgerEntry, names: Names): Promise<SpokenLine> => {
    const { kind, runId } = entry.line
    if (runId === undefined || (kind !== 'release' && kind !== 'refund')) return spoken(entry, names)
    const found = await runs.findRun(owner, runId)
    if ('refuse' in found) return spoken(entry, names)
    const { keyId, chargedMicros, releasedMicros = 0 } = found.value
    const line = spoken({ ...entry, line: { ...entry.line, ...(keyId && { keyId }) } }, names)
    const cost = `the run cost ${credits(chargedMicros - releasedMicros)} of ${credits(chargedMicros)} held`
    return kind === 'release' ? { ...line, detail: cost } : line
  }

  /** With a purchase that was refused, if any. */
  const showCredits = async (ctx: Context, owner: SessionOwner, refused?: RefusedPurchase) => {
    const view = viewIn(ctx)
    const client = waitingClient(ctx)
    const nowMs = clock.nowMs()
    const { days } = RANGES[view.range]
    const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS - (days - 1) * DAY_MS
    const period = { from: timeAt(fromMs), to: timeAt(nowMs + 1) }
    const times = timesBetween(fromMs, nowMs)
    const range = { from: dayOf(fromMs), to: dayOf(nowMs + DAY_MS) }
    const spendingBy = (by: CreditsView['by']) => usage.spending(owner, { ...range, by, limit: NAMED_GROUPS }, client)
    const [figures, sale, balances, spent, page, grants, names] = await Promise.all([
      accounts.balance(owner).then(unwrap),
      salePartsOf(services, ctx, owner, refused),
      ledger.balances(owner, times).then(unwrap),
      spendingBy(view.by),
      ledger.lines(owner, { ...period, limit: PAGE_LINES, cursor: view.cursor }, client).then(unwrap),
      ledger.lines(owner, { ...period, kind: 'grant', limit: MAX_MARKS }, client).then(unwrap),
      namesFor(owner),
    ])
    const spending = 'refuse' in spent ? undefined : spent.value
    // Labels may be too many to add up, and models are not.
    const byDay = spending ?? unwrap(await spendingBy('model'))
    const startMs = startOf(times, balances, byDay)
    const later = timesBetween(startMs, nowMs)
    const shown = startMs === fromMs ? balances : unwrap(await ledger.balances(owner, later))
    const { cursor } = view
    const newer = cursor === undefined ? undefined : unwrap(await ledger.newer(owner, cursor, PAGE_LINES))
    const hasRuns = byDay.total.runs > 0 || (await hasDebits(owner))
    const shownPage = CreditsPage({
      figures,
      ...sale,
      hasRuns,
      sealMinutes,
      balance: {
        view,
        grants: grants.found.map(entry => spoken(entry, names)),
        ...balanceOver(later, shown, byDay),
      },
      spending: { view, ...rowsOf(view, spending, names), total: byDay.total },
      statement: {
        ...{ view, period, lines: await Promise.all(page.found.map(entry => spokenWithRun(owner, entry, names))) },
        ...(page.next !== null && { older: { ...view, cursor: page.next } }),
        ...(newer !== undefined && { newer: { ...view, cursor: newer ?? undefined } }),
      },
    })
    if (refused) showError(ctx, refused.error, () => shownPage)
    else showPage(ctx, shownPage)
  }

  router.get(
    CREDITS_PATH,
    forOwner((ctx, owner) => showCredits(ctx, owner)),
  )

  purchasePages(router, dependencies, (ctx, { livemode: _, ...owner }, refused) => showCredits(ctx, owner, refused))

  /** The lines of a period, oldest first. */
  async function* linesOf(owner: SessionOwner, period: Period, client: WaitingClient): AsyncGenerator<SpokenLine[]> {
    const names = await namesFor(owner)
    for await (const entries of unwrap(await ledger.export(owner, period, client)))
      yield entries.map(entry => spoken(entry, names))
  }

  async function* pdfOf(owner: SessionOwner, period: Period, client: WaitingClient): AsyncGenerator<Uint8Array> {
    const lines: SpokenLine[] = []
    for await (const some of linesOf(owner, period, client)) {
      lines.push(...some.map(line => ({ ...line, detail: refundReasonOf(line.detail) })))
      if (lines.length > MAX_PDF_LINES) throw tooManyLines()
    }
    const [first] = unwrap(await identities.list(owner))
    const account = owner.accountId
    const order = { lines, account, owner: first ? identityName(first) : account, ...period, brand }
    yield await statementPdf(order, client.signal).catch(error => {
      throw client.signal.aborted ? gone() : error
    })
  }

  const formats: Record<string, Format> = {
    csv: { type: 'text/csv', make: (...asked) => csvOf(linesOf(...asked)) },
    hledger: { type: 'text/plain', make: (...asked) => journalOf(linesOf(...asked), brand) },
    pdf: { type: 'application/pdf', make: pdfOf },
  }

  router.get(
    `${CREDITS_PATH}/statement.:format`,
    forOwner(async (ctx, owner) => {
      const name: string = ctx['params'].format
      const format = Object.hasOwn(formats, name) ? formats[name] : undefined
      if (!format) throw new ApiError('not_found', 'There is no such file.')
      const { from, to } = ctx.query
      if (typeof from !== 'string' || typeof to !== 'string')
        throw new ApiError('invalid_request', 'A statement needs the times from and to.')
      const period = periodOf({ from, to }) as Period
      openFor(ctx, owner)
      await answerWith(ctx, format.type, `statement.${name}`, format.make(owner, period, waitingClient(ctx)))
    }),
  )

  const eventFiles = [
    { path: PROOF, read: 'account' },
    { path: CHAIN, read: 'chain' },
  ] as const
  for (const { path, read } of eventFiles)
    router.get(
      path,
      forOwner(async (ctx, owner) => {
        openFor(ctx, owner)
        const file = unwrap(await proofs[read](owner, waitingClient(ctx)))
        await answerWith(ctx, 'application/json', basename(path), file)
      }),
    )

  const openFor = (ctx: Context, owner: SessionOwner) => {
    if (!open.add(owner.accountId, ctx.res)) throw alreadyOpen()
  }
}

interface Period {
  from: string
  to: string
}

interface Format {
  type: string
  make(owner: SessionOwner, period: Period, client: WaitingClient): AsyncGenerator<string | Uint8Array>
}

/** Waits for the first piece, while a failure can still be an error, and then sends the pieces as the client reads. */
const answerWith = async (ctx: Context, type: string, name: string, pieces: AsyncGenerator<string | Uint8Array>) => {
  const first = await pieces.next()
  ctx.type = type
  ctx.set('Content-Disposition', `attachment; filename="${name}"`)
  ctx.body = Readable.from(allOf(first, pieces), { objectMode: false })
}

async function* allOf<Piece>(first: IteratorResult<Piece, unknown>, rest: AsyncGenerator<Piece>) {
  if (!first.done) yield first.value
  yield* rest
}

async function* csvOf(lines: AsyncGenerator<SpokenLine[]>) {
  yield csvHead()
  for await (const some of lines) yield some.map(csvLine).join('')
}

async function* journalOf(lines: AsyncGenerator<SpokenLine[]>, brand: Brand) {
  const journal = new Journal(brand)
  for await (const some of lines) yield some.map(line => journal.take(line)).join('')
  yield journal.end()
}

/** What the address asks for. Unknown words count as missing, because people edit addresses. */
const viewIn = ({ query }: Context): CreditsView => {
  const { range, by, cursor } = query
  return {
    range: isIn(RANGES, range) ? range : '30d',
    by: isIn(SPENDING_BY, by) ? by : 'model',
    ...(typeof cursor === 'string' && /^\d{1,9}$/.test(cursor) && { cursor }),
  }
}

const isIn = <Names extends object>(names: Names, value: unknown): value is keyof Names & string =>
  typeof value === 'string' && Object.hasOwn(names, value)

const timeAt = (ms: number): string => new Date(ms).toISOString()

/**
 * When an account of the range got its first credits: just before the first point with a balance, or on the first day
 * with spending, whose credits may have come and gone between two points.
 */
const startOf = (times: readonly string[], balances: readonly number[], { days: [spent] }: Spending): number => {
  const before = times[Math.max(0, balances.findIndex(balance => balance !== 0) - 1)] ?? ''
  return Date.parse(spent && spent.day < dayOf(Date.parse(before)) ? spent.day : before)
}

/** Up to the present. */
const timesBetween = (fromMs: number, nowMs: number): string[] => {
  const times: string[] = []
  const stepMs = STEPS_MS.find(ms => (nowMs - fromMs) / ms <= MAX_POINTS) ?? DAY_MS
  for (let ms = fromMs; ms <= nowMs; ms += stepMs) times.push(timeAt(ms))
  return [...times, timeAt(nowMs + 1)]
}

/**
 * The balance at each time, and by day. What was added on a day is how much more the balance grew than was spent, so
 * that grants need not be searched among the lines of the day.
 */
export const balanceOver = (
  times: readonly string[],
  balances: readonly number[],
  { days: spentDays }: Spending,
): Omit<BalanceCardProps, 'view' | 'grants'> => {
  const [startMs, endMs] = [times[0], times.at(-1)].map(time => Date.parse(time ?? '')) as [number, number]
  const points = times.map((time, index) => {
    const ms = Date.parse(time)
    const at = (ms - startMs) / (endMs - startMs)
    return { day: dayOf(Math.max(startMs, ms - 1)), time, at, balanceMicros: balances[index] ?? 0 }
  })
  const spent = new Map(spentDays.map(({ day, spentMicros }) => [day, spentMicros]))
  const ends = new Map(points.slice(1).map(({ day, balanceMicros }) => [day, balanceMicros]))
  let before = balances[0] ?? 0
  const days = [...ends].map(([day, balanceMicros]) => {
    const spentMicros = spent.get(day) ?? 0
    const addedMicros = balanceMicros - before + spentMicros
    before = balanceMicros
    return { day, addedMicros, spentMicros, balanceMicros }
  })
  return { points, days }
}

const rowsOf = (
  { by }: CreditsView,
  spending: Spending | undefined,
  names: Names,
): Omit<SpendingCardProps, 'view' | 'total'> => {
  if (!spending) return { others: { count: 0, runs: 0, spentMicros: 0 } }
  const known = { model: names.models, key: names.keys, label: new Map<string, string>() }[by]
  const rows = spending.groups.map(({ name, runs, spentMicros }) => ({
    ...{ name: name === undefined ? WITHOUT[by] : (known.get(name) ?? name), isNone: name === undefined },
    ...{ runs, spentMicros },
  }))
  return { rows, others: spending.others }
}

const WITHOUT = { model: 'Old refunds', key: 'Without a key', label: 'No label' } as const

const alreadyOpen = () =>
  new ApiError(
    'rate_limited',
    'Another file or check of this account is still open. Wait for its end, and try again.',
    {},
    { retryAfterSeconds: 5 },
  )

const gone = () => new ApiError('invalid_request', 'The client did not wait for the file.')

const tooManyLines = () =>
  new ApiError(
    'invalid_request',
    `A PDF may have at most ${MAX_PDF_LINES} lines. Choose a shorter range, or download the CSV.`,
  )
