import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { temporaryFolder } from './temporary-folder.ts'

/** A proxy that tunnels every CONNECT to a port of this machine, whatever it names. */
export interface ConnectProxy {
  url: string
  /** What each CONNECT named, and its credentials. */
  seen: { authority: string | undefined; authorization: string | undefined }[]
  /** The status of its answers. */
  status: number
}

export const startConnectProxy = async (t: Test, targetPort: number): Promise<ConnectProxy> => {
  const proxy: ConnectProxy = { url: '', seen: [], status: 200 }
  const sockets = new Set<Socket>()
  const server = createHttpServer((_, response) => response.writeHead(400).end())
  server.on('connect', ({ url, headers }, client: Socket) => {
    proxy.seen.push({ authority: url, authorization: headers['proxy-authorization'] })
    if (proxy.status !== 200) return client.end(`HTTP/1.1 ${proxy.status} No\r\nContent-Length: 0\r\n\r\n`)
    const target = connect(targetPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(client).pipe(target)
    })
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => target.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close().closeAllConnections()
  })
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

/** A server with TLS under names that nobody resolves. */
export interface TlsServer {
  port: number
  /** The file to trust. */
  certificate: string
  /** The names of each request. */
  seen: { sni: string | false | null; host: string | undefined }[]
}

/** Answers with `{}`. Its certificate holds these names, such as `DNS:vendor.example` and `IP:198.51.100.7`. */
export const startTlsServer = async (
  t: Test,
  names: string[],
  answer: RequestListener = (_, response) => response.setHeader('Content-Type', 'application/json').end('{}'),
): Promise<TlsServer> => {
  const folder = await temporaryFolder(t)
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names.join(',')}`]
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  const seen: TlsServer['seen'] = []
  const server = createHttpsServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (request, response) => {
      seen.push({
        sni: (request.socket as TLSSocket & { servername: string | false }).servername,
        host: request.headers.host,
      })
      request.resume().once('end', () => answer(request, response))
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return { port: (server.address() as AddressInfo).port, certificate, seen }
}
