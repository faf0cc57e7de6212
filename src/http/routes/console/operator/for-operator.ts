import type { SessionOwner } from '../../../../services/caller.ts'
import type { Operator, Operators } from '../../../../services/operator/operators.ts'
import type { Services } from '../../../../services/services.ts'
import { ApiError } from '../../../../transports/api-error.ts'
import { unwrap } from '../../../../transports/refusals.ts'
import type { Context } from '../../../context.ts'
import type { ForOwner } from '../../../middleware/pages.ts'

export type ForOperator = (
  handle: (ctx: Context, operator: Operator, owner: SessionOwner) => Promise<void> | void,
) => (ctx: Context) => Promise<void>

interface Dependencies {
  forOwner: ForOwner
  operators: Operators
  services: Pick<Services, 'identities'>
}

/** Handles the requests of operators. For others who have signed in, there are no such pages. */
export const operatorOnly =
  ({ forOwner, operators, services }: Dependencies): ForOperator =>
  handle =>
    forOwner(async (ctx, owner) => {
      const operator = operators.callerOf(owner, unwrap(await services.identities.list(owner)))
      if (!operator) throw new ApiError('not_found', 'There is no such page.')
      await handle(ctx, operator, owner)
    })
