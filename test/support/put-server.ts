import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { type ObjectStore, PutRefused } from '../../src/ports/object-store.ts'

const STATUS = { forbidden: 403, expired: 403, too_large: 413, other_type: 415, broken_off: 400 }

/** A server for a store that is none itself: takes what is sent to its addresses. It is told of the store once that is open. */
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
      await objects.acceptPut(put)
      outcomes.push('stored')
      response.writeHead(200).end()
    } catch (error) {
      const reason = error instanceof PutRefused ? error.reason : undefined
      outcomes.push(reason ?? String(error))
      response.writeHead(reason ? STATUS[reason] : 500, { connection: 'close' }).end(reason)
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/cdn`,
    /** What became of each PUT, in their order. */
    outcomes,
    serve: (store: ObjectStore) => {
      objects = store
    },
  }
}
