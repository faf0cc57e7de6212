import { openCore } from '../src/boot/core.ts'
import { readConfig } from '../src/boot/read-config.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { fillLog } from './support/fill.ts'
import { withFolder } from './support/folder.ts'
import { SECONDS } from './support/load.ts'
import { startProcess } from './support/processes.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'

/** Each round starts a new process, so that the first deliveries warm it up. */
const SIZE = { count: 2_500 * SECONDS, warmUp: 500 * SECONDS }

/** A service that starts with many deliveries due. */
const deliver = async (receiver: Receiver): Promise<Measurement> => {
  const { folder, discard } = await withFolder()
  const core = await openCore(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }))
  await fillLog(core.log, { runs: SIZE.count, accounts: 100, webhookUrl: receiver.url })
  await core.progress.passed(await core.log.head(), 60_000)
  await core.close()
  const start = () =>
    startProcess('tollgate-server.js', {
      env: { DATA_DIR: folder, PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true' },
      ...(process.env['BENCH_PROFILE'] && { profile: 'webhooks' }),
    })
  const measurement = await receiver.measure(async () => (await start()).child, SIZE)
  await discard()
  return measurement
}

const post = (receiver: Receiver): Promise<Measurement> => {
  const start = () => startProcess('bare-poster.js', { args: [receiver.url, String(SIZE.count)] })
  return receiver.measure(async () => (await start()).child, SIZE)
}

export const webhooks: Benchmark = {
  name: 'webhooks',
  question: 'webhook deliveries to one local receiver, signed and recorded',
  baseline: 'bare undici posting bodies of the same size with the same concurrency',
  unit: 'deliveries/s',
  goal: { atLeast: 0.3 },
  prepare: async () => {
    const receiver = await startReceiver()
    return { baseline: () => post(receiver), measured: () => deliver(receiver), close: () => receiver.stop() }
  },
}
