import { verifyPart } from '../../audit/verify/part.ts'
import { ensureParent } from '../../boot/process.ts'
import type { WorkerOrder, WorkerReport } from './verify-workers.ts'
import { withLog } from './with-log.ts'

// The program of a worker of `tollgate audit verify`. It ends with its parent.
process.once('disconnect', () => undefined)

const verify = async ({ file, ...order }: WorkerOrder): Promise<WorkerReport> => {
  const findings = await withLog({ ...(file !== undefined && { file }) }, ({ log }) =>
    verifyPart(log, { ...order, onProgress: ensureParent }),
  )
  return { findings }
}

process.once('message', async (order: WorkerOrder) => {
  const report = await verify(order).catch(({ message }: Error): WorkerReport => ({ failure: message }))
  if (process.connected) process.send?.(report)
})
