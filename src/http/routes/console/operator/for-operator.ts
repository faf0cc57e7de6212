import type { SessionOwner } from '../../../../services/caller.ts'
import type { Operator, Operators } from '../../../../services/operator/operators.ts'
import type { Services } from '../../../../services/services.ts'
import { ApiError } from '../../../../transports/api-error.ts'
import { unwrap } from '../../../../transports/refusals.ts'
import type { Context } from '../../../context.ts'
import { askForCode } from '../../../middleware/fresh-codes.ts'
import type { ForOwner } from '../../../middleware/pages.ts'

export type ForOperator = (
  handle: (ctx: Context, operator: Operator, owner: SessionOwner) => Promise<void> | void,
) => (ctx: Context) => Promise<void>

interface Dependencies {
  forOwner: ForOwner
  operators: Operators
  services: Pick<Services, 'identities'>
}

/** The same for changes of money, access or prices, which need a code of the last hour. */
export const freshOperatorOnly =
  (forOperator: ForOperator, sessions: Pick<Services['sessions'], 'checkFresh'>): ForOperator =>
  handle =>
    forOperator(async (ctx, operator, owner) => {
      const checked = await sessions.checkFresh(owner)
      if ('refuse' in checked) askForCode(ctx)
      else await handle(ctx, operator, owner)
    })

/** Handles the requests of operators. For others who have signed in, there are no such pages. */
export const operatorOnly =
  ({ forOwner, operators, services }: Dependencies): ForOperator =>
  handle =>
    forOwner(async (ctx, owner) => {
      const operator = operators.callerOf(owner, unwrap(await services.identities.list(owner)))
      if (!operator) throw new ApiError('not_found', 'There is no such page.')
      await handle(ctx, operator, owner)
    })
