import { proxyFetch } from '../../src/adapters/outbound/proxy.ts'
import { createOutbound } from '../../src/adapters/outbound/undici.ts'
import { openVendorRequests } from '../../src/adapters/outbound/vendor-requests.ts'

// A separate process, because Node.js reads trusted certificates only at start.
const [url = '', noProxy = '', ...targets] = process.argv.slice(2)
const proxy = { url, noProxy }

const addresses: Record<string, string[]> = {
  'receiver.example': ['10.0.0.1', '93.184.216.34'],
  'private.example': ['10.0.0.1'],
  'exempt.example': ['93.184.216.34'],
}
const lookup = async (host: string) => (addresses[host] ?? []).map(address => ({ address, family: 4 }))
const outbound = createOutbound({ allowPrivate: false, lookup, proxy })
const vendor = openVendorRequests({ memoryBytes: 1e8, proxy })
const noLongBody = () => {
  throw new Error('there is no long body')
}
const identityFetch = proxyFetch(proxy)
const forms: Record<string, (target: string) => Promise<unknown>> = {
  vendor: async target =>
    (await vendor.request(target, { method: 'POST', headers: {}, body: '{}' }, noLongBody)).status,
  identity: async target => (await identityFetch(target)).status,
  webhook: async target => (await outbound.post(target, { headers: {}, body: '{}', timeoutMs: 20_000 })).status,
  file: async target => (await outbound.get(target, { maxBytes: 1000, timeoutMs: 20_000 })).mimeType,
}

for (const target of targets) {
  const [kind = '', address = ''] = target.split('=')
  const result = await forms[kind]?.(address).catch((error: Error) => error.message)
  console.log(JSON.stringify(result))
}
await Promise.all([vendor.close(), outbound.close()])
process.exit(0)
