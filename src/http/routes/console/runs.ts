import type Router from '@koa/router'
import type { Family } from '../../../../schemas/catalog.ts'
import type { KeyId, RunId } from '../../../../schemas/primitives.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { parseTime } from '../../../audit/as-of.ts'
import { priceSteps } from '../../../audit/explain/price-steps.ts'
import { LabelChoices } from '../../../console/runs/filters.tsx'
import type { RunFacts, ShownReceipt } from '../../../console/runs/run-facts.ts'
import { RunPage, RunView } from '../../../console/runs/run-page.tsx'
import { isRange, isStatus, type ShownFilter } from '../../../console/runs/runs-filter.ts'
import { type ListedRun, Rows, Tiles } from '../../../console/runs/runs-list.tsx'
import { RunsPage } from '../../../console/runs/runs-page.tsx'
import { drawSeed } from '../../../domain/catalog/inputs.ts'
import { DAY_MS, dayOf } from '../../../domain/days.ts'
import type { AccountCaller, SessionOwner } from '../../../services/caller.ts'
import { curlRun, firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import { parseRunId, timeOfRunId } from '../../../services/ids.ts'
import { type RunBar, sumOf } from '../../../services/runs/run-counts.ts'
import type { RunHistory } from '../../../services/runs/run-history.ts'
import type { RunWithInput } from '../../../services/runs/run-inputs.ts'
import { timelineOf } from '../../../services/runs/run-timeline.ts'
import type { Page, WaitingClient } from '../../../services/views/newest-first.ts'
import { deliveryItem } from '../../../services/webhooks/deliveries.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { isFragment, redirect, showPage, showRefusal } from '../../answers/page-answers.ts'
import { waitingClient } from '../../connections/disconnect.ts'
import type { Context, RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'
import { modelsThatRun } from './models-that-run.ts'

const RUNS = '/console/runs'
const RUN = '/console/runs/:id'

/** Six rows of four. */
const PAGE = 24

/**
 * How often the next runs are searched for a page that is not full: 3,000 runs in all, in about 30 ms. Then the page
 * says how far back it has searched.
 */
const MAX_READS = 6

/** The newest keys that a menu offers. */
const MAX_KEYS = 100

/** The labels that a menu offers. */
const MAX_LABELS = 50

/** A thumbnail never changes. Only the browser of its owner may keep it. */
const FOREVER = 'private, max-age=31536000, immutable'

/** Reads everything that the page of a run shows, for its owner or an operator. */
export const runFacts =
  ({ services: { runs, histories, catalog, keys, seals }, present, publicUrl }: PageDependencies) =>
  async (owner: AccountCaller, id: string): Promise<RunFacts> => {
    const history = unwrap(await histories.ofRun(owner, id))
    const row = history.run
    const [input, warnings, families, owned, newest] = await Promise.all([
      runs.readInput(owner, row).then(unwrap),
      runs.readWarnings(owner, row).then(unwrap),
      catalog.list(owner).then(unwrap),
      keys.list(owner, owner.accountId).then(unwrap),
      seals.find(owner),
    ])
    const run = present.run(row, { input, warnings })
    const family = families.find(({ family: { id } }) => id === row.model)?.family
    const keyId = keyOf(history)
    const key = owned.find(each => each.keyId === keyId)
    return {
      run,
      files: filesOf(row, run.output, publicUrl()),
      modelName: family?.name ?? row.model,
      runsAgain: family !== undefined,
      marks: marksOf(row, run.input ?? {}, family),
      steps: timelineOf(history),
      events: history.events,
      receipt: receiptOf(history, 'refuse' in newest ? undefined : newest.value.data),
      key: key && { name: key.name, lastFour: key.lastFour },
      webhook: history.webhook && deliveryItem(history.webhook),
    }
  }

/** Shows a page of runs as a list, for their owner or an operator. */
export const listedRuns =
  ({ services: { catalog, keys }, present, publicUrl }: PageDependencies) =>
  async (owner: AccountCaller, found: readonly RunWithInput[]): Promise<ListedRun[]> => {
    const [families, owned] = await Promise.all([
      catalog.list(owner).then(unwrap),
      keys.list(owner, owner.accountId).then(unwrap),
    ])
    return found.map(({ row, input }) => {
      const run = present.run(row, { input })
      return {
        run,
        file: filesOf(row, run.output, publicUrl())[0],
        modelName: families.find(({ family }) => family.id === row.model)?.family.name ?? row.model,
        keyName: owned.find(({ keyId }) => keyId === row.keyId)?.name,
      }
    })
  }

/** Sends the picture of a run in small, to its owner or an operator. */
export const sendThumbnail =
  ({ services: { runs, previews }, present, publicUrl }: PageDependencies) =>
  async (ctx: Context, owner: AccountCaller, id: string) => {
    const row = unwrap(await runs.findRun(owner, id))
    const thumbnail = unwrap(await previews.thumbnailOf(owner, row))
    if (!thumbnail) {
      // A picture that cannot be scaled shows as it is.
      const [file] = filesOf(row, present.run(row).output, publicUrl())
      if (!file) throw new ApiError('not_found', 'The run has no image.')
      return ctx.redirect(file.url)
    }
    ctx.set('Cache-Control', FOREVER)
    ctx.type = 'image/webp'
    ctx.body = Buffer.from(thumbnail)
  }

/** The runs of an account, for its owner. */
export const runPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, forOwner, publicUrl, clock } = dependencies
  const { runs, runCounts, catalog, keys, deliveries, usage } = services
  const factsOf = runFacts(dependencies)

  const listedOf = async (
    owner: SessionOwner,
    filter: ShownFilter,
    cursor: RunId | undefined,
    client: WaitingClient,
  ) => {
    const query = filterOf(filter, clock.nowMs())
    const found: RunWithInput[] = []
    let next: RunId | null | undefined = cursor
    for (let reads = 0; reads < MAX_READS && next !== null && found.length < PAGE; reads++) {
      const page: Page<RunWithInput, RunId> = unwrap(
        await runs.listRunsWithInputs(owner, { ...query, cursor: next, limit: PAGE - found.length }, client),
      )
      found.push(...page.found)
      next = page.next
    }
    const searchedToMs = found.length < PAGE && next ? timeOfRunId(next) : undefined
    return { found, next: next ?? null, searchedToMs }
  }

  const showRuns = async (ctx: Context, owner: SessionOwner) => {
    const filter = readFilter(ctx.query)
    const cursor = parseRunId(textOf(ctx.query, 'cursor') ?? '')
    const client = waitingClient(ctx)
    const [{ found, next, searchedToMs }, families, owned] = await Promise.all([
      listedOf(owner, filter, cursor, client),
      catalog.list(owner).then(unwrap),
      keys.list(owner, owner.accountId).then(unwrap),
    ])
    const shown = await listedRuns(dependencies)(owner, found)
    const part = { runs: shown, next, filter, searchedToMs }
    if (isFragment(ctx)) return showPage(ctx, filter.view === 'gallery' ? Tiles(part) : Rows(part))

    const range = rangeOf(filter, clock.nowMs())
    const { from, to } = filterOf(filter, clock.nowMs())
    const asked = { ...filterOf({ ...filter, from: undefined, to: undefined }, clock.nowMs()), ...range }
    const { bars, countedFromMs } = unwrap(await runCounts.histogram(owner, asked, client))
    const isShown = ({ fromMs, toMs }: RunBar) => fromMs >= Date.parse(from) && toMs <= Date.parse(to)
    const hasFilter = Object.keys(filter).length > 2 || filter.range !== '24h'
    const isNew = shown.length === 0 && next === null && !hasFilter && !(await hasRuns(owner))
    showPage(
      ctx,
      RunsPage({
        ...part,
        // The next runs that match are in this bar, as far as the sums tell.
        nextBar: bars.findLast(bar => bar.runs + bar.failures > 0 && isShown(bar) && bar.toMs <= (searchedToMs ?? 0)),
        histogram: {
          bars,
          isShown,
          sums: sumOf(bars.filter(isShown)),
          countedFrom: countedFromMs > Date.parse(range.from) ? new Date(countedFromMs).toISOString() : undefined,
        },
        choices: {
          models: families.map(({ family: { id, name } }) => ({ id, name })),
          keys: owned.slice(-MAX_KEYS).map(({ keyId: id, name, lastFour }) => ({ id, name, lastFour })),
        },
        firstRequest: isNew ? await firstRequestOf(owned) : undefined,
      }),
    )
  }

  const hasRuns = async (owner: SessionOwner) => unwrap(await runs.listRuns(owner, { limit: 1 })).found.length > 0

  const firstRequestOf = async (owned: readonly { lastFour: string; revokedAt?: string }[]) => {
    const key = owned.findLast(({ revokedAt }) => revokedAt === undefined)
    const shown = key ? `your key that ends in ${key.lastFour}` : 'your API key'
    return curlRun(`${publicUrl()}/v1/run`, `<${shown}>`, firstRun(firstModel(await modelsThatRun(dependencies))))
  }

  const idIn = (ctx: Context): string => ctx['params'].id

  router.get(RUNS, forOwner(showRuns))

  router.get(
    `${RUNS}/labels`,
    forOwner(async (ctx, owner) => {
      const filter = readFilter(ctx.query)
      showPage(ctx, LabelChoices({ filter, labels: await labelsOf(owner, filter, waitingClient(ctx)) }))
    }),
  )

  /** Labels are counted with the credits, which test runs do not use. */
  const labelsOf = async (owner: SessionOwner, filter: ShownFilter, client: WaitingClient): Promise<string[]> => {
    if (owner.livemode === false) return []
    const { from, to } = filterOf(filter, clock.nowMs())
    const days = { from: dayOf(Date.parse(from)), to: dayOf(Date.parse(to) + DAY_MS) }
    const spent = await usage.spending(owner, { ...days, by: 'label', limit: MAX_LABELS }, client)
    return 'refuse' in spent ? [] : spent.value.groups.flatMap(({ name }) => name ?? [])
  }

  router.get(
    RUN,
    forOwner(async (ctx, owner) => {
      const facts = await factsOf(owner, idIn(ctx))
      showPage(ctx, isFragment(ctx) ? RunView({ facts }) : RunPage({ facts }))
    }),
  )

  router.get(
    `${RUN}/thumbnail`,
    forOwner((ctx, owner) => sendThumbnail(dependencies)(ctx, owner, idIn(ctx))),
  )

  router.post(
    `${RUN}/cancel`,
    forOwner(async (ctx, owner) => {
      const cancelled = await runs.cancelRun(owner, idIn(ctx), {})
      if ('refuse' in cancelled && cancelled.refuse.code !== 'run_not_found') {
        const facts = await factsOf(owner, idIn(ctx))
        return showRefusal(ctx, cancelled.refuse, fault => RunPage({ facts, fault }))
      }
      redirect(ctx, `/console/runs/${unwrap(cancelled).runId}`)
    }),
  )

  router.post(
    `${RUN}/webhook`,
    forOwner(async (ctx, owner) => {
      const facts = await factsOf(owner, idIn(ctx))
      const sent = await deliveries.resend(owner, idIn(ctx))
      if ('refuse' in sent) return showRefusal(ctx, sent.refuse, fault => RunPage({ facts, fault }))
      redirect(ctx, `/console/runs/${facts.run.run_id}`)
    }),
  )
}

/** A filter from an address. What is wrong in it counts as absent, as if people had not asked for it. */
const readFilter = (query: Context['query']): ShownFilter => {
  const [range, status, view] = ['range', 'status', 'view'].map(name => textOf(query, name) ?? '')
  const [from, to] = ['from', 'to'].map(name => parseTime(textOf(query, name) ?? ''))
  const names = ['model', 'key', 'label'] as const
  const texts = names.map(name => [name, textOf(query, name)?.normalize('NFC')] as const)
  return {
    range: range && isRange(range) ? range : '24h',
    view: view === 'list' ? view : 'gallery',
    ...(from !== undefined && { from }),
    ...(to !== undefined && (from === undefined || from < to) && { to }),
    ...(status && isStatus(status) && { status }),
    ...Object.fromEntries(texts.filter(([, text]) => text)),
  }
}

/** No model, key or label is longer. Each of hundreds of links on the page repeats the filter. */
const MAX_TEXT = 200

const textOf = (query: Context['query'], name: string): string | undefined => {
  const value = query[name]
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT ? value : undefined
}

const HOUR_MS = 60 * 60 * 1000

/** The ends of a range. Long ranges are whole days in UTC, whose sums are known. */
const rangeOf = ({ range, from, to }: ShownFilter, nowMs: number): { from: string; to: string } => {
  const [lengthMs, stepMs] = LENGTHS[range]
  const endMs = (Math.floor(nowMs / stepMs) + 1) * stepMs
  const whole = { from: new Date(endMs - lengthMs).toISOString(), to: new Date(endMs).toISOString() }
  const isWithin = (from === undefined || from >= whole.from) && (to === undefined || to <= whole.to)
  if (isWithin) return whole
  // The asked period lies elsewhere, at most a year long.
  const until = to ?? whole.to
  const earliest = new Date(Date.parse(until) - LENGTHS['1y'][0]).toISOString()
  return { from: from !== undefined && from > earliest ? from : earliest, to: until }
}

const LENGTHS: Record<ShownFilter['range'], [lengthMs: number, stepMs: number]> = {
  '1h': [HOUR_MS, 60_000],
  '24h': [DAY_MS, HOUR_MS / 2],
  '7d': [7 * DAY_MS, DAY_MS],
  '30d': [30 * DAY_MS, DAY_MS],
  '90d': [90 * DAY_MS, DAY_MS],
  '1y': [365 * DAY_MS, DAY_MS],
}

/** The filter as the service knows it. */
const filterOf = (filter: ShownFilter, nowMs: number) => {
  const { status, model, key, label } = filter
  const range = rangeOf(filter, nowMs)
  return {
    ...{ status, model, label, keyId: key as KeyId | undefined },
    ...{ from: filter.from ?? range.from, to: filter.to ?? range.to },
  }
}

/** The key that caused the run; undefined if a key did not. */
const keyOf = ({ lines, events }: RunHistory): string | undefined =>
  lines[0]?.keyId ?? (events[0]?.metadata.actor as { keyId?: string } | undefined)?.keyId

/** The files with their addresses, which are paths if the service itself serves them. */
const filesOf = ({ output }: RunRow, shown: RunFacts['run']['output'], publicUrl: string): RunFacts['files'] => {
  const urls = shown?.urls ?? (shown?.url === undefined ? [] : [shown.url])
  return urls.flatMap((url, index) => {
    const artifact = output?.artifacts[index]
    if (!artifact) return []
    const { mimeType, sizeBytes } = artifact
    return [{ url: url.startsWith(`${publicUrl}/`) ? url.slice(publicUrl.length) : url, mimeType, sizeBytes }]
  })
}

/** The parameters with their default, and the seed if the run's ID gave it. */
const marksOf = ({ endpoint: id, runId }: RunRow, input: Record<string, unknown>, family: Family | undefined) => {
  const schema = family?.endpoints.find(endpoint => endpoint.id === id)?.parametersSchema
  if (!schema) return {}
  const marks: Record<string, string> = {}
  for (const [name, value] of Object.entries(input)) {
    const standard = schema.properties[name]?.['default']
    if (standard !== undefined && JSON.stringify(standard) === JSON.stringify(value)) marks[name] = 'default'
  }
  if (input['seed'] !== undefined && input['seed'] === drawSeed(schema, runId)) marks['seed'] = 'chosen for you'
  return marks
}

/** The receipt in the event of the debit or release; in that of the acceptance for a test run. */
const receiptOf = (
  { run, events }: RunHistory,
  seal: { number: number; position: number } | undefined,
): ShownReceipt | undefined => {
  const debit = events.find(event => event.type === 'CreditsDebited')
  const release = events.find(event => event.type === 'CreditsReleased')
  const accepted = events.find(event => event.type === 'RunQueued' || event.type === 'RunStarted')
  const tested = accepted && 'receipt' in accepted.data ? accepted.data.receipt : undefined
  const receipt = release?.data.receipt ?? debit?.data.receipt ?? tested
  if (!receipt) return undefined
  return {
    steps: priceSteps(receipt),
    totalMicros: receipt.totalMicros,
    chargedMicros: run.chargedMicros,
    releasedMicros: run.releasedMicros ?? 0,
    refundedMicros: run.refundedMicros ?? 0,
    catalogRevision: receipt.catalogRevision,
    ...(debit && { debitRevision: debit.revision }),
    ...(debit && seal && seal.position >= debit.position && { seal: seal.number }),
  }
}
