import type Router from '@koa/router'
import { ownPath } from '../../answers/own-path.ts'
import { redirect } from '../../answers/page-answers.ts'
import type { RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'

/** The switch between live and test mode on every page. */
export const modePages = (router: Router<RequestState>, { sessions, forOwner }: PageDependencies) => {
  router.post(
    '/console/mode',
    forOwner(ctx => {
      sessions.setMode(ctx, formField(ctx, 'mode') === 'test')
      redirect(ctx, ownPath(formField(ctx, 'back')) ?? '/console')
    }),
  )
}
