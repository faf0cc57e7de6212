import { openCore } from '../src/boot/core.ts'
import { readConfig } from '../src/boot/read-config.ts'
import type { Benchmark } from './support/compare.ts'
import { fillLog } from './support/fill.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'

const DELIVERIES = 10_000

/** Deliveries per second, from first to last, of a service that starts with many due. */
const deliver = async (receiver: Receiver): Promise<number> => {
  const { folder, discard } = await withFolder()
  const core = await openCore(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }))
  await fillLog(core.log, { runs: DELIVERIES, accounts: 100, webhookUrl: receiver.url })
  await core.progress.passed(await core.log.head(), 60_000)
  await core.close()
  const rate = receiver.rateOf(DELIVERIES)
  const { child } = await startProcess('tollgate-server.js', {
    env: { DATA_DIR: folder, PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    ...(process.env['BENCH_PROFILE'] && { profile: 'webhooks' }),
  })
  const measured = await rate
  await stopProcess(child)
  await discard()
  return measured
}

const post = async (receiver: Receiver): Promise<number> => {
  const rate = receiver.rateOf(DELIVERIES)
  const { child } = await startProcess('bare-poster.js', { args: [receiver.url, String(DELIVERIES)] })
  const measured = await rate
  await stopProcess(child)
  return measured
}

export const webhooks: Benchmark = {
  name: 'webhooks',
  question: 'webhook deliveries to one local receiver, signed and recorded',
  baseline: 'bare undici posting bodies of the same size with the same concurrency',
  unit: 'deliveries/s',
  goal: { atLeast: 0.4 },
  prepare: async () => {
    const receiver = await startReceiver()
    return { baseline: () => post(receiver), measured: () => deliver(receiver), close: () => receiver.stop() }
  },
}
