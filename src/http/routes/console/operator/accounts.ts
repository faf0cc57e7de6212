import { randomUUID } from 'node:crypto'
import type Router from '@koa/router'
import { AccountPage } from '../../../../console/operator/account-page.tsx'
import { ACCOUNTS, ACTIONS, accountPath, nameOf } from '../../../../console/operator/account-words.ts'
import { AccountRows, AccountsPage } from '../../../../console/operator/accounts-page.tsx'
import {
  ActionPage,
  type FormFault,
  type SecondLook,
  SecondLookPage,
} from '../../../../console/operator/action-page.tsx'
import { OperatorRunPage, OperatorRunView } from '../../../../console/operator/operator-run-page.tsx'
import type { AccountSummary } from '../../../../services/accounts/accounts.ts'
import { keyItem } from '../../../../services/accounts/key-item.ts'
import type { OperatorInAccount } from '../../../../services/caller.ts'
import type { Operator } from '../../../../services/operator/operators.ts'
import { deliveryItem } from '../../../../services/webhooks/deliveries.ts'
import { ApiError } from '../../../../transports/api-error.ts'
import { errorOf, unwrap } from '../../../../transports/refusals.ts'
import { spoken } from '../../../../transports/statement/lines.ts'
import { isFragment, redirect, showError, showPage } from '../../../answers/page-answers.ts'
import { waitingClient } from '../../../connections/disconnect.ts'
import type { Context, RequestState } from '../../../context.ts'
import { formField } from '../../../middleware/pages.ts'
import type { PageDependencies } from '../dependencies.ts'
import { listedRuns, runFacts, sendThumbnail } from '../runs.ts'
import { enteredIn, FORM_REFERENCE, planOf } from './account-actions.ts'

const ACCOUNT = `${ACCOUNTS}/:id`
const RUN = `${ACCOUNT}/runs/:run`
const ACTION = `${ACCOUNT}/:action`

/** Accounts on a page of the list. Each balance comes from its account's own state. */
const PAGE = 50

/** Runs, lines and deliveries on the page of an account. */
const NEWEST = 12

/** All accounts, and what operators do to them. */
export const operatorAccountPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, operators, forOperator, forFreshOperator } = dependencies
  const { accounts, keys, runs, ledger, histories, deliveries, sessions, catalog } = services
  const factsOf = runFacts(dependencies)

  const summaryIn = async (ctx: Context, operator: Operator) => unwrap(await accounts.find(operator, ctx['params'].id))

  router.get(
    ACCOUNTS,
    forOperator(async (ctx, operator) => {
      const { cursor } = ctx.query
      const page = unwrap(
        await accounts.page(operator, { limit: PAGE, cursor: typeof cursor === 'string' ? cursor : undefined }),
      )
      const part = { accounts: page.found, next: page.next }
      showPage(ctx, isFragment(ctx) ? AccountRows(part) : AccountsPage(part))
    }),
  )

  router.get(
    ACCOUNT,
    forOperator(async (ctx, operator) => {
      const summary = await summaryIn(ctx, operator)
      const reader = readerOf(operator, summary)
      const client = waitingClient(ctx)
      const [listed, newest, lines, sent, open, families] = await Promise.all([
        keys.list(operator, reader.accountId).then(unwrap),
        runs.listRunsWithInputs(reader, { limit: NEWEST }, client).then(unwrap),
        ledger.lines(reader, { limit: NEWEST }, client).then(unwrap),
        deliveries.list(reader, { limit: NEWEST }, client).then(unwrap),
        sessions.ofAccount(reader).then(unwrap),
        catalog.list(reader).then(unwrap),
      ])
      const names = {
        models: new Map(families.map(({ family }) => [family.id, family.name])),
        keys: new Map(listed.map(({ keyId, name }) => [keyId, name])),
      }
      const [until, from] = [lines.found[0], lines.found.at(-1)].map(entry => entry?.line.at ?? '')
      const revision = Number(ctx.query[DONE])
      const isNamed = Number.isSafeInteger(revision) && revision >= 0 && ctx.query[DONE] !== AGAIN
      const done = isNamed ? unwrap(await accounts.event(operator, reader.accountId, revision)) : undefined
      showPage(
        ctx,
        AccountPage({
          summary,
          runs: await listedRuns(dependencies)(reader, newest.found),
          statement: {
            lines: lines.found.map(entry => spoken(entry, names)),
            period: { from: from ?? '', to: until ?? '' },
          },
          deliveries: sent.found.map(deliveryItem),
          keys: listed
            .filter(({ revokedAt }) => revokedAt === undefined)
            .toReversed()
            .map(keyItem),
          sessions: open,
          // Only what this operator did is news.
          done: done && isBy(operator, done.metadata.actor) ? done : undefined,
          isRepeat: ctx.query[DONE] === AGAIN,
        }),
      )
    }),
  )

  router.get(
    RUN,
    forOperator(async (ctx, operator) => {
      const summary = await summaryIn(ctx, operator)
      const reader = readerOf(operator, summary)
      const facts = await factsOf(reader, ctx['params'].run)
      if (isFragment(ctx)) return showPage(ctx, OperatorRunView({ accountId: reader.accountId, facts }))
      const history = unwrap(await histories.ofRun(reader, ctx['params'].run))
      showPage(ctx, OperatorRunPage({ owner: nameOf(summary.account), facts, history }))
    }),
  )

  router.get(
    `${RUN}/thumbnail`,
    forOperator(async (ctx, operator) => {
      const summary = await summaryIn(ctx, operator)
      await sendThumbnail(dependencies)(ctx, readerOf(operator, summary), ctx['params'].run)
    }),
  )

  router.get(
    ACTION,
    forFreshOperator(async (ctx, operator) => {
      const action = actionIn(ctx)
      const summary = await summaryIn(ctx, operator)
      showPage(ctx, ActionPage({ action, summary, formReference: `console-${randomUUID()}`, entered: {} }))
    }),
  )

  /** Shows what the action will do, and does it once the operator has seen that. */
  router.post(
    ACTION,
    forFreshOperator(async (ctx, operator, owner) => {
      const action = actionIn(ctx)
      const summary = await summaryIn(ctx, operator)
      const entered = enteredIn(ctx, action)
      const formReference = formField(ctx, FORM_REFERENCE)
      const form = (fault?: FormFault) => ActionPage({ action, summary, formReference, entered, fault })
      if (formField(ctx, 'step') === 'change') return showPage(ctx, form())
      const plan = planOf(action, { summary, entered, formReference, ownAccountId: owner.accountId })
      if ('fault' in plan) return showError(ctx, new ApiError('invalid_request', plan.fault), () => form(plan))
      if (formField(ctx, 'step') !== 'do')
        return showPage(ctx, SecondLookPage({ action, summary, formReference, entered, look: plan.look }))
      const done = await plan.perform(accounts, operator)
      if ('refuse' in done) return showError(ctx, errorOf(done.refuse), fault => form({ fault }))
      const path = accountPath(summary.account.accountId)
      if (done.value.revision !== undefined)
        operators.tellOthers(operator, { path, lines: linesOf(plan.look, summary) })
      redirect(ctx, `${path}?${DONE}=${done.value.revision ?? AGAIN}`)
    }),
  )
}

const linesOf = ({ button, facts }: SecondLook, { account }: AccountSummary): string[] => [
  `${button}: ${nameOf(account)}`,
  ...facts.map(({ name, text }) => `${name}: ${text}`),
]

/** The query parameter with the revision of the event that an action has appended. */
const DONE = 'done'
const AGAIN = 'before'

const readerOf = ({ name, requestId }: Operator, { account: { accountId } }: AccountSummary): OperatorInAccount => ({
  ...{ kind: 'operator', name, accountId },
  requestId,
})

const isBy = ({ name }: Operator, actor: object | undefined) => (actor as { name?: string } | undefined)?.name === name

const actionIn = (ctx: Context) => {
  const action = ACTIONS.find(each => each === ctx['params'].action)
  if (!action) throw new ApiError('not_found', 'There is no such page.')
  return action
}
