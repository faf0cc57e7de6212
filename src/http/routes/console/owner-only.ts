import type { SessionOwner } from '../../../services/caller.ts'
import { redirect } from '../../answers/page-answers.ts'
import type { Context } from '../../context.ts'
import type { BrowserSessions } from '../../sessions/browser-sessions.ts'

/** Handles the requests of people who have signed in, and redirects others to the sign-in page. */
export const ownerOnly =
  (sessions: BrowserSessions) =>
  (handle: (ctx: Context, owner: SessionOwner) => Promise<void> | void) =>
  async (ctx: Context) => {
    sessions.refuseOtherSites(ctx)
    const owner = await sessions.ownerOf(ctx)
    if (owner) await handle(ctx, owner)
    else redirect(ctx, '/console/sign-in')
  }
