import type { AccountRow } from '../../schemas/views.ts'
import type { Core } from '../boot/core.ts'
import { OperatorError } from '../services/operator-error.ts'

/** The account that a person named, by its id. Throws OperatorError when there is none. */
export const findAccount = async ({ reads }: Core, name: string): Promise<AccountRow> => {
  const row = await reads.get('accounts', name)
  if (!row) throw OperatorError.of({ code: 'account_not_found' })
  return row
}
