import { refuse } from '../../domain/refusal.ts'
import type { Services } from '../../services/services.ts'
import { errorOf } from '../../transports/refusals.ts'
import { ownPath } from '../answers/own-path.ts'
import { redirect } from '../answers/page-answers.ts'
import type { Context } from '../context.ts'
import type { ForOwner } from './pages.ts'

/** The page that sends a code. Its query names the page to come back to. */
export const CONFIRM = '/console/confirm'

/** Handles the requests of owners who have entered a code in the last hour, and asks others for one. */
export const freshOwnerOnly =
  (forOwner: ForOwner, sessions: Pick<Services['sessions'], 'checkFresh'>): ForOwner =>
  handle =>
    forOwner(async (ctx, owner) => {
      const checked = await sessions.checkFresh(owner)
      if ('refuse' in checked) askForCode(ctx)
      else await handle(ctx, owner)
    })

/** Leads to the page that sends a code, and from there back to the page of the request or of its form. */
export const askForCode = (ctx: Context) => {
  if (ctx.accepts('html', 'json') === 'json') throw errorOf(refuse('fresh_code_required').refuse)
  const page = ctx.method === 'GET' ? ctx.url : pathIn(ctx.get('Referer'))
  redirect(ctx, `${CONFIRM}?${new URLSearchParams({ back: ownPath(page) ?? '/console/settings' })}`)
}

/** The path of the page that a form is on. The browser names it for pages of this service alone. */
const pathIn = (referer: string): string => {
  if (!URL.canParse(referer)) return ''
  const { pathname, search } = new URL(referer)
  return pathname + search
}
