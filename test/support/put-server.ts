import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { type ObjectStore, PutRefused } from '../../src/ports/object-store.ts'

const STATUS = {
  put_address_invalid: 403,
  put_address_expired: 403,
  put_address_withdrawn: 403,
  account_suspended: 403,
  too_many_puts: 429,
  put_too_large: 413,
  put_type_mismatch: 415,
  put_interrupted: 400,
}

/** A server that accepts PUTs for a store that has none. The store is set once it is open. */
export const startPutServer = async (t: Test) => {
  const outcomes: string[] = []
  let objects: ObjectStore | undefined
  const server = createServer(async (request, response) => {
    if (request.method !== 'PUT' || !objects?.acceptPut) return response.writeHead(405).end()
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const { 'content-type': mimeType, 'content-length': length } = request.headers
    const sizeBytes = length === undefined ? undefined : Number(length)
    const put = { key: pathname.replace('/cdn/', ''), query: searchParams, mimeType, sizeBytes, body: request }
    try {
      await objects.acceptPut(put, async () => undefined)
      outcomes.push('stored')
      response.writeHead(200).end()
    } catch (error) {
      const code = error instanceof PutRefused ? error.refusal.code : undefined
      outcomes.push(code ?? String(error))
      response.writeHead(code ? STATUS[code] : 500, { connection: 'close' }).end(code)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/cdn`,
    /** The results of all PUTs, in order. */
    outcomes,
    serve: (store: ObjectStore) => {
      objects = store
    },
  }
}
