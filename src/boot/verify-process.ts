import { setPriority } from 'node:os'
import type { AccountId } from '../../schemas/primitives.ts'
import { shown } from '../audit/verify/shown.ts'
import { verifyLog } from '../audit/verify/verify.ts'
import type { VerifierOrder, VerifierReport } from '../ports/log-verifier.ts'
import type { Config } from './config.ts'
import { ensureParent } from './parent-process.ts'
import { openLogReadOnly } from './stores.ts'

// The program of the child process that verifies the log for `GET /v1/audit/verify`. It ends when its parent hangs up.

/** The least urgent but one of the priorities that any process may take. */
const NICENESS = 18

const verify = async ({ eventStore, account }: VerifierOrder): Promise<VerifierReport> => {
  const { log, isDense } = await openLogReadOnly({ eventStore } as Config)
  try {
    const found = await verifyLog(log, { account, isDense, onProgress: ensureParent })
    return found
      ? { verification: shown(found, account as AccountId | undefined) }
      : { failure: 'the log has no such account' }
  } catch (error) {
    return { failure: (error as Error).message }
  } finally {
    await log.close()
  }
}

process.once('message', async (order: VerifierOrder) => {
  setPriority(NICENESS)
  const report = await verify(order).catch((error: Error): VerifierReport => ({ failure: error.message }))
  if (process.connected) process.send?.(report, () => process.disconnect())
})
