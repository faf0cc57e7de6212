import { openCore } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import { boundTo } from './bound-to.ts'
import { createVendorProvider } from './vendor-provider.ts'

// The service as a separate process, with the vendor at VENDOR_URL as its provider.
const core = await openCore(readConfig(process.env))
const server = await startServer(core, {
  providers: { vendor: createVendorProvider(String(process.env['VENDOR_URL'])) },
  bindingsOf: boundTo('vendor'),
})
process.once('SIGTERM', async () => {
  await server.stop()
  await core.close()
})
core.logger.info({ url: server.url }, 'listening')
