import type Router from '@koa/router'
import type { Family } from '../../../../schemas/catalog.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { priceSteps } from '../../../audit/explain/price-steps.ts'
import type { RunFacts, ShownReceipt } from '../../../console/runs/run-facts.ts'
import { RunPage, RunView } from '../../../console/runs/run-page.tsx'
import { drawSeed } from '../../../domain/catalog/inputs.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import type { RunHistory } from '../../../services/runs/run-history.ts'
import { timelineOf } from '../../../services/runs/run-timeline.ts'
import { deliveryItem } from '../../../services/webhooks/deliveries.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { isFragment, redirect, showPage, showRefusal } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import type { PageDependencies } from './console.ts'

const RUN = '/console/runs/:id'

/** The runs of an account, for its owner. */
export const runPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, present, forOwner, publicUrl } = dependencies
  const { runs, histories, catalog, keys, seals, deliveries } = services

  const factsOf = async (owner: SessionOwner, id: string): Promise<RunFacts> => {
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

  const idIn = (ctx: Context): string => ctx['params'].id

  router.get(
    RUN,
    forOwner(async (ctx, owner) => {
      const facts = await factsOf(owner, idIn(ctx))
      showPage(ctx, isFragment(ctx) ? RunView({ facts }) : RunPage({ facts }))
    }),
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
