import type Router from '@koa/router'
import { OPERATOR } from '../../../../console/operator/account-words.ts'
import { OverviewPage } from '../../../../console/operator/overview-page.tsx'
import { unwrap } from '../../../../transports/refusals.ts'
import { redirect, showPage } from '../../../answers/page-answers.ts'
import type { RequestState } from '../../../context.ts'
import { formField } from '../../../middleware/pages.ts'
import type { PageDependencies } from '../dependencies.ts'

/** The first page of operators. */
export const operatorOverviewPages = (
  router: Router<RequestState>,
  { services, forOperator, forFreshOperator }: PageDependencies,
) => {
  const { overview, routing } = services

  router.get(
    OPERATOR,
    forOperator(async (ctx, operator) =>
      showPage(
        ctx,
        OverviewPage({ overview: unwrap(await overview.read(operator)), done: DONE.get(String(ctx.query['retry'])) }),
      ),
    ),
  )

  /** Ends the wait of an account or model at a provider, in every process. */
  router.post(
    `${OPERATOR}/retry`,
    forFreshOperator(async (ctx, operator) => {
      const [provider, account, model] = ['provider', 'account', 'model'].map(name => formField(ctx, name))
      const wait = { provider: provider ?? '', ...(account && { account }), ...(model && { model }) }
      const { isChange } = unwrap(await routing.endWait(operator, wait))
      redirect(ctx, `${OPERATOR}?retry=${isChange ? 'done' : 'none'}`)
    }),
  )
}

const DONE = new Map([
  ['done', 'Done: the next run tries it again.'],
  ['none', 'It waits no more. The next run tries it.'],
])
