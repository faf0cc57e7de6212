import { randomUUID } from 'node:crypto'
import type Router from '@koa/router'
import type { RunRow } from '../../../../schemas/views.ts'
import { ComposerAndRequests, PriceUpdate } from '../../../console/playground/composer.tsx'
import { FamilyCards, ModelsPage } from '../../../console/playground/models-page.tsx'
import { PlaygroundPage, StageUpdate } from '../../../console/playground/playground-page.tsx'
import { kindNamed } from '../../../console/playground/words.ts'
import { outputTypeOf } from '../../../domain/catalog/family.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { Answer } from '../../../services/answer.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { isFragment, redirect, showError, showPage } from '../../answers/page-answers.ts'
import { Streams } from '../../answers/streams.ts'
import { answerText, frame, type TextFrames } from '../../answers/text-stream.ts'
import { disconnectSignal } from '../../connections/disconnect.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { type Entry, faultsOf, PLAYGROUND, PlaygroundState, parameterFor, takes } from './playground-state.ts'

/** How long a browser without scripts waits for a result before it shows a run in progress. */
const WAIT_MS = 20_000

/** How far back a run of the console is looked for. */
const LAST_RUNS = 20

/** The playground: a form of each model, what its runs make, and the price in the button. */
export const playgroundPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, forOwner, clock, requestLimits } = dependencies
  const { runs } = services
  const state = new PlaygroundState(dependencies)
  const streams = new Streams()

  const runNamed = async (owner: SessionOwner, id: string | undefined): Promise<RunRow | undefined> =>
    id === undefined ? undefined : unwrap(await runs.findRun(owner, id))

  /** The last run of somebody at the console, or else of a program, if there are so many others after it. */
  const lastRun = async (owner: SessionOwner, model?: string): Promise<RunRow | undefined> => {
    const { found } = unwrap(await runs.listRuns(owner, { limit: LAST_RUNS, ...(model !== undefined && { model }) }))
    return found.find(({ keyId }) => keyId === undefined) ?? found[0]
  }

  /** What the page shows first: what the query names, or else the last run, or else an example. */
  const opened = async (ctx: Context, owner: SessionOwner) => {
    const { model, run, from, input: used, example } = queryOf(ctx)
    const families = await state.families(owner)
    const named = model === undefined ? undefined : state.familyNamed(families, model)
    const source = await runNamed(owner, from)
    const asked = await runNamed(owner, run)
    // What fills the form has not run again yet.
    const row = asked ?? (source ? undefined : await lastRun(owner, named?.id))
    const shown = source ?? row
    const known = families.some(({ id }) => id === shown?.model) ? shown?.model : undefined
    const family = named ?? state.familyNamed(families, known)
    const examples = family.endpoints[0]?.parameters_schema.examples ?? []
    const at = Number(example ?? (shown === undefined ? 0 : Number.NaN))
    const filled = shown?.model === family.id ? shown : undefined
    const copied = filled && (await state.inputOf(owner, filled)).input
    // With the same seed, another run would make the same again.
    if (copied && filled !== source) delete copied['seed']
    const given = examples[at] ?? copied ?? {}
    const result = await runNamed(owner, used)
    const entry = state.entryOf(family, { ...given, ...(result && resultAsInput(result)) })
    const stage = await state.stage(owner, row, families, asked !== undefined)
    const exampleHref =
      examples.length > 0 ? `${PLAYGROUND}?model=${family.id}&example=${(at + 1 || 0) % examples.length}` : undefined
    const composer = await state.composer(owner, entry, { exampleHref, isReady: source !== undefined })
    return { composer, stage: { ...stage, filledFrom: source?.runId } }
  }

  /** A result as the parameter that takes it. */
  const resultAsInput = (row: RunRow): Record<string, unknown> => {
    const parameter = parameterFor(outputTypeOf(row.endpoint))
    const { url, urls = [] } = dependencies.present.run(row).output ?? {}
    const file = urls[0] ?? url
    return parameter && file !== undefined ? { [parameter]: file } : {}
  }

  router.get(
    PLAYGROUND,
    forOwner(async (ctx, owner) => showPage(ctx, PlaygroundPage(await opened(ctx, owner)))),
  )

  router.get(
    `${PLAYGROUND}/models`,
    forOwner(async (ctx, owner) => {
      const { q = '', model, input, kind: chosen } = queryOf(ctx)
      const named = kindNamed(q)
      const query = named === undefined ? q : ''
      const kind = named ?? kindNamed(chosen ?? '')
      const used = await runNamed(owner, input)
      const parameter = used && parameterFor(outputTypeOf(used.endpoint))
      const found = await state.families(owner, query)
      const families = parameter === undefined ? found : found.filter(family => takes(family, parameter))
      const shown = { families, query, kind, model, input }
      showPage(ctx, isFragment(ctx) ? FamilyCards(shown) : ModelsPage(shown))
    }),
  )

  const entered = async (ctx: Context, owner: SessionOwner): Promise<Entry> =>
    state.read(await state.families(owner), ctx.state.form ?? new URLSearchParams())

  /** Shows the same choices in a view, and for the endpoint that they choose now. */
  router.post(
    `${PLAYGROUND}/form`,
    forOwner(async (ctx, owner) => {
      const entry = await entered(ctx, owner)
      const hasText = entry.json === undefined
      const view = formField(ctx, 'view') === 'json' || !hasText ? 'json' : 'form'
      const shown = view === 'form' && entry.view === 'json' ? state.entryOf(entry.family, entry.input) : entry
      const composer = await state.composer(owner, { ...shown, view })
      if (isFragment(ctx)) return showPage(ctx, ComposerAndRequests(composer))
      const stage = await state.stage(owner, await lastRun(owner), await state.families(owner))
      showPage(ctx, PlaygroundPage({ composer, stage }))
    }),
  )

  router.post(
    `${PLAYGROUND}/price`,
    forOwner(async (ctx, owner) => showPage(ctx, PriceUpdate(await state.composer(owner, await entered(ctx, owner))))),
  )

  /** Shows the stage with a run, or leads to it. */
  const showRun = async (ctx: Context, owner: SessionOwner, row: RunRow, attempt?: string) => {
    const path = `${PLAYGROUND}?model=${row.model}&run=${row.runId}`
    if (!isFragment(ctx)) return redirect(ctx, path)
    const stage = await state.stage(owner, row, await state.families(owner), true)
    const { account } = ctx.state.page
    // The page was prepared before the run was charged.
    if (account) Object.assign(account, unwrap(await services.accounts.balance(owner)))
    if (ctx.method === 'POST') ctx.set('HX-Push-Url', path)
    showPage(ctx, StageUpdate({ stage, attempt }))
  }

  /** Runs an entry if it costs no more than the person saw. */
  const run = async (ctx: Context, owner: SessionOwner, { family, input, faults }: Entry): Promise<Answer<RunRow>> => {
    if (Object.keys(faults).length > 0) throw new ApiError('invalid_input', 'Part of the form cannot be read.')
    const { refusal } = await requestLimits.count(owner)
    if (refusal) return refusal
    const request = { model: family.id, input }
    const seen = formField(ctx, 'price')
    // The price of tokens follows each keystroke, so the button may be behind it.
    if (seen !== '' && family.output_type !== 'text') {
      const quoted = await runs.quoteRun(owner, request)
      if ('refuse' in quoted) return quoted
      const { credits } = dependencies.present.quote(quoted.value)
      if (credits * 1_000_000 > Number(seen))
        throw new ApiError(
          'invalid_request',
          `This costs ${credits} credits, more than the button said. Run it again to accept.`,
        )
    }
    const isText = family.output_type === 'text'
    const once = { spender: 'playground', idempotencyKey: attemptIn(ctx) } as const
    if (isFragment(ctx) && isText) {
      const streamed = await runs.streamRun(owner, request, once)
      return 'refuse' in streamed ? streamed : { value: streamed.value.row }
    }
    const waitMs = isFragment(ctx) ? 0 : WAIT_MS
    const created = await runs.createRun(owner, request, { ...once, waitMs, disconnected: () => disconnectSignal(ctx) })
    return 'refuse' in created ? created : { value: created.value.row }
  }

  const runEntry = async (ctx: Context, owner: SessionOwner, entry: Entry) => {
    try {
      return await showRun(ctx, owner, unwrap(await run(ctx, owner, entry)), randomUUID())
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const found = { ...entry.faults, ...faultsOf(error) }
      const isTold = Object.keys(found).length > 0 && Object.keys(found).every(name => isShown(entry, name))
      const fault = isTold ? undefined : error.code === 'idempotency_mismatch' ? CHANGED : error.message
      const composer = await state.composer(owner, { ...entry, faults: found }, { fault })
      const stage = isFragment(ctx)
        ? undefined
        : await state.stage(owner, await lastRun(owner), await state.families(owner))
      if (!stage) ctx.set({ 'HX-Retarget': '#composer', 'HX-Reswap': 'outerHTML' })
      showError(ctx, error, () => (stage ? PlaygroundPage({ composer, stage }) : ComposerAndRequests(composer)))
    }
  }

  router.post(
    PLAYGROUND,
    forOwner(async (ctx, owner) => runEntry(ctx, owner, await entered(ctx, owner))),
  )

  /** Runs the input of a run once more, as it is or with another seed. */
  router.post(
    `${PLAYGROUND}/again`,
    forOwner(async (ctx, owner) => {
      const row = unwrap(await runs.findRun(owner, formField(ctx, 'run')))
      const { input, isWhole } = await state.inputOf(owner, row)
      if (!isWhole) unwrap(refuse('run_not_found'))
      if (formField(ctx, 'vary') !== '') delete input['seed']
      const family = state.familyNamed(await state.families(owner), row.model)
      await runEntry(ctx, owner, state.entryOf(family, input))
    }),
  )

  router.post(
    `${PLAYGROUND}/cancel`,
    forOwner(async (ctx, owner) => {
      const id = formField(ctx, 'run')
      const cancelled = await runs.cancelRun(owner, id, {})
      // A run that has just ended is shown as it ended.
      await showRun(ctx, owner, 'refuse' in cancelled ? unwrap(await runs.findRun(owner, id)) : cancelled.value)
    }),
  )

  router.get(
    `${PLAYGROUND}/runs/:id/stage`,
    forOwner(async (ctx, owner) => showRun(ctx, owner, unwrap(await runs.findRun(owner, ctx['params'].id)))),
  )

  /** The text of a run as it arrives, as server-sent events. */
  router.get(
    `${PLAYGROUND}/runs/:id/text`,
    forOwner(async (ctx, owner) => {
      ctx.state.caller = owner
      const { row, changes, pieces } = unwrap(await runs.followRun(owner, ctx['params'].id))
      streams.open(ctx)
      const ended = async (signal: AbortSignal) => {
        let last = row
        await changes(signal).forEach(now => {
          last = now
        })
        return last
      }
      const frames: TextFrames = {
        piece: text => frame({ text }, { event: 'delta' }),
        end: ({ status }) => frame({ status }, { event: 'run' }),
      }
      const failed = await answerText(ctx, clock, { texts: pieces, ended }, frames, disconnectSignal(ctx))
      if (!failed) return
      ctx.type = 'text/event-stream'
      ctx.body = frames.end(failed)
    }),
  )
}

/** A form that is sent twice, as by a double click, runs once: it repeats a request with the same idempotency key. */
const attemptIn = (ctx: Context): string | undefined => {
  const attempt = formField(ctx, 'attempt')
  return ATTEMPT.test(attempt) ? `playground-${attempt}` : undefined
}

const ATTEMPT = /^[0-9a-f-]{36}$/

const CHANGED = 'The form has changed since it ran. Run it again to make this one too.'

/** Whether a fault of this parameter has a place in the form. */
const isShown = ({ family, endpoint, view }: Entry, name: string) =>
  view === 'json' ||
  [endpoint, ...family.endpoints].some(({ parameters_schema: { properties } }) => Object.hasOwn(properties, name))

/** The query of a page. A parameter that is there twice does not count. */
const queryOf = ({ query }: Context): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' && value ? [[name, value]] : [])),
  )
