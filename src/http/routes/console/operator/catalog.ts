import type Router from '@koa/router'
import { Families, type Family } from '../../../../../schemas/catalog.ts'
import { CATALOG, CatalogPage } from '../../../../console/operator/catalog-page.tsx'
import { FamilyPage, FamilyReviewPage, type ShownRevision } from '../../../../console/operator/family-page.tsx'
import { type Change, changesOf } from '../../../../console/operator/family-words.ts'
import type { FamilyRevision } from '../../../../services/catalog/catalog.ts'
import { familyDiff } from '../../../../services/catalog/family-diff.ts'
import type { Operator } from '../../../../services/operator/operators.ts'
import type { EndpointPrice } from '../../../../services/operator/prices.ts'
import { compileCheck } from '../../../../services/schema-check.ts'
import { ApiError } from '../../../../transports/api-error.ts'
import { errorOf, unwrap } from '../../../../transports/refusals.ts'
import { redirect, showError, showPage } from '../../../answers/page-answers.ts'
import type { Context, RequestState } from '../../../context.ts'
import { formField } from '../../../middleware/pages.ts'
import type { PageDependencies } from '../dependencies.ts'

const FAMILY = `${CATALOG}/:id`

const checkFamilies = compileCheck(Families)

/** The catalog, and how operators change it. */
export const operatorCatalogPages = (
  router: Router<RequestState>,
  { services: { catalog, prices }, operators, present, forOperator, forFreshOperator }: PageDependencies,
) => {
  const pricesOf = async (operator: Operator, family: Family | undefined) =>
    family ? unwrap(await prices.ofFamily(operator, family)) : []

  /** The revisions, each with its prices and with what it changed of the one before. */
  const shownOf = async (operator: Operator, history: readonly FamilyRevision[]): Promise<ShownRevision[]> => {
    const all = await Promise.all(
      history.map(async revision => ({ ...revision, prices: await pricesOf(operator, revision.family) })),
    )
    return all.map((revision, index) => {
      const before = all.slice(index + 1).find(({ family }) => family)
      return { ...revision, changes: revision.family && before?.family ? changesFrom(before, revision) : [] }
    })
  }

  const familyIn = async (ctx: Context, operator: Operator) => {
    const familyId: string = ctx['params'].id
    const history = await shownOf(operator, unwrap(await catalog.history(operator, familyId)))
    return { familyId, history, family: history[0]?.family }
  }

  router.get(
    CATALOG,
    forOperator(async (ctx, operator) => {
      const [offers, { state }] = await Promise.all([
        catalog.list(operator).then(unwrap),
        catalog.compare(operator).then(unwrap),
      ])
      const families = await Promise.all(
        offers.map(async ({ family, status }) => ({
          family: present.family(family, status),
          prices: await pricesOf(operator, family),
          isByHand: state.byHand.has(family.id),
        })),
      )
      showPage(ctx, CatalogPage({ families }))
    }),
  )

  router.get(
    FAMILY,
    forOperator(async (ctx, operator) => {
      const shown = await familyIn(ctx, operator)
      const { done } = ctx.query
      const [newest] = shown.history
      const isNewest = newest !== undefined && done === String(newest.revision)
      const text = isNewest ? `${DONE[newest.type]} · revision ${newest.revision} of the catalog` : undefined
      showPage(ctx, FamilyPage({ ...shown, done: done === AGAIN ? 'This was published before.' : text }))
    }),
  )

  /** Shows what a revision changes, and publishes it once the operator has seen that. */
  router.post(
    FAMILY,
    forFreshOperator(async (ctx, operator) => {
      const shown = await familyIn(ctx, operator)
      const { familyId, history } = shown
      const json = formField(ctx, 'json')
      const seen = formField(ctx, 'seen')
      const form = (fault?: string) => FamilyPage({ ...shown, json, fault })
      const step = formField(ctx, 'step')
      if (step === 'change') return showPage(ctx, form())
      const read = readFamily(json, familyId)
      if ('fault' in read) return showError(ctx, new ApiError('invalid_request', read.fault), form)
      const { commands } = unwrap(await catalog.compare(operator, [read.family]))
      const differences = familyDiff(shown.family, read.family)
      if (step === 'do' && shown.family && differences.length === 0)
        return redirect(ctx, `${CATALOG}/${familyId}?done=${AGAIN}`)
      if (commands.length === 0 || (shown.family && differences.length === 0))
        return showError(ctx, new ApiError('invalid_request', 'The family is published in this form.'), form)
      if (seen !== String(history[0]?.revision)) return showError(ctx, errorOf({ code: 'family_changed' }), form)
      if (step !== 'do') {
        const before = { family: shown.family, prices: await pricesOf(operator, shown.family) }
        const priced = await prices.ofFamily(operator, read.family)
        if ('refuse' in priced) return showError(ctx, errorOf(priced.refuse), form)
        const after = { family: read.family, prices: priced.value }
        const asked = { familyId, name: read.family.name, isNew: !shown.family, json, seen }
        return showPage(
          ctx,
          FamilyReviewPage({ ...asked, places: differences.length, changes: changesFrom(before, after) }),
        )
      }
      const published = await catalog.publish(operator, [read.family], Number(seen))
      if ('refuse' in published) return showError(ctx, errorOf(published.refuse), form)
      const { state } = unwrap(await catalog.compare(operator))
      operators.tellOthers(operator, { path: `${CATALOG}/${familyId}`, lines: [`Publish ${familyId}`] })
      redirect(ctx, `${CATALOG}/${familyId}?done=${state.revisions.get(familyId) ?? AGAIN}`)
    }),
  )
}

const AGAIN = 'before'

const DONE: Record<FamilyRevision['type'], string> = {
  FamilyPublished: 'Family published',
  FamilyRevised: 'Family revised',
  FamilyWithdrawn: 'Family withdrawn',
}

const readFamily = (json: string, familyId: string): { family: Family } | { fault: string } => {
  let family: Family
  try {
    family = JSON.parse(json)
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}.` }
  }
  const [fault] = checkFamilies([family])
  if (fault) return { fault: `This is not a family: ${fault.path.slice('/0'.length) || '/'} ${fault.message}.` }
  return family.id === familyId ? { family } : { fault: `The ID must stay ${familyId}.` }
}

interface Priced {
  family: Family | undefined
  prices: readonly EndpointPrice[]
}

const changesFrom = (before: Priced, { family, prices }: Priced): Change[] =>
  family ? changesOf(family, familyDiff(before.family, family), before.prices, prices) : []
