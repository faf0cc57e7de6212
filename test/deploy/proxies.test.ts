import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { PresignedUpload } from '../../schemas/api/upload.ts'
import { MAX_INLINE_BYTES, MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { Client } from '../support/client.ts'
import { filePart, upload } from '../support/multipart.ts'
import { needsPrograms } from '../support/needs.ts'
import { picture, pngWith } from '../support/sample-files.ts'
import { freePorts, killProgram, launchProgram, untilAnswers } from '../support/server-program.ts'
import { openAccount, openKey, startService } from '../support/service.ts'
import { said, speakingProvider } from '../support/speaking-provider.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'

// The proxies of deploy/ in front of a service, with other ports and without TLS.

interface Proxy {
  /** The arguments of env that run it with the configuration of deploy/ and all its files in a folder. */
  configure(folder: string, listens: string, serves: string): Promise<string[]>
}

const HOST = '127.0.0.1'

/** nginx runs the configuration inside "http", and keeps files in folders that only root may write. */
const nginx: Proxy = {
  configure: async (folder, listens, serves) => {
    const site = (await readFile('deploy/nginx.conf', 'utf8'))
      .replace('server 127.0.0.1:8080', `server ${serves}`)
      .replace('listen 443 ssl http2', `listen ${listens}`)
      .replaceAll(/^ *(listen \[::\]|ssl_).*\n/gm, '')
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map(kind => `${kind}_temp_path ${join(folder, kind)};`)
      .join('\n')
    const file = join(folder, 'nginx.conf')
    // A process that is killed leaves the workers that it has started behind.
    const main = `user root; daemon off; master_process off; pid ${join(folder, 'pid')};`
    const whole = `${main} events {} http { access_log off; ${folders} ${site} }`
    await writeFile(file, whole)
    return ['nginx', '-p', folder, '-e', 'stderr', '-c', file]
  },
}

const caddy: Proxy = {
  configure: async (folder, listens, serves) => {
    const site = (await readFile('deploy/Caddyfile', 'utf8'))
      .replace('127.0.0.1:8080', serves)
      .replace('api.example.com {', `http://${listens} {`)
    const file = join(folder, 'Caddyfile')
    await writeFile(file, `{\n\tadmin off\n\tstorage file_system ${folder}\n}\n${site}`)
    return [`XDG_CONFIG_HOME=${folder}`, 'caddy', 'run', '--adapter', 'caddyfile', '--config', file]
  },
}

/** A service behind a proxy, whose text models say what the test says. */
const startBehind = async (t: Test, { configure }: Proxy) => {
  const [port] = (await freePorts(HOST, 1)) as [number]
  const url = `http://${HOST}:${port}`
  const { provider, nextCall } = speakingProvider()
  const environment = { TRUSTED_PROXIES: HOST, PUBLIC_URL: url }
  const service = await startService(t, { providers: { sandbox: provider }, environment })
  const folder = await temporaryFolder(t)
  const log = join(folder, 'log')
  const args = await configure(folder, `${HOST}:${port}`, `${HOST}:${service.port}`)
  const child = await launchProgram('env', args, log)
  t.teardown(() => killProgram(child))
  await untilAnswers(child, log, () =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return { service, url, nextCall, customer: await openAccount({ core: service.core, url }) }
}

/** The status of a request from an address of this machine. */
const statusFrom = async (localAddress: string, url: string, headers: Record<string, string>): Promise<number> => {
  const [answer] = (await once(request(url, { localAddress, headers }).end(), 'response')) as [IncomingMessage]
  answer.resume()
  return answer.statusCode as number
}

for (const [name, proxy] of Object.entries({ nginx, caddy })) {
  t.test(`${name} passes on streams, large files and the client's address`, needsPrograms(name, 'setpriv'), async t => {
    const { service, url, nextCall, customer } = await startBehind(t, proxy)

    t.test('the words of a run arrive while the run goes on', async t => {
      const asked = fetch(`${url}/v1/run`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${customer.apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-6-1-terra', input: { prompt: 'Why?' }, stream: true }),
      })
      const call = await nextCall()
      call.say('A ledger ')
      let received = ''
      const read = (async () => {
        for await (const piece of (await asked).body?.pipeThrough(new TextDecoderStream()) ?? []) received += piece
      })()
      await until('the first words arrive', () => received.includes('A ledger '))
      t.notMatch(received, 'event: run')
      call.end(said('A ledger remembers.'))
      await read
      t.match(received, 'event: run')
    })

    t.test('the largest files arrive, and larger ones are refused', async t => {
      const png = await picture('png')
      const padded = (sizeBytes: number) => pngWith(png, 'teXt', Buffer.alloc(sizeBytes - png.length - 12))
      t.equal((await upload(customer, filePart(padded(MAX_INLINE_BYTES)))).status, 200)
      const { body } = await customer.post<PresignedUpload>('/v1/uploads/presigned', {
        ...{ filename: 'a.png', mime_type: 'image/png' },
      })
      const put = (bytes: Buffer) =>
        fetch(body.presigned_url, { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: bytes })
      t.equal(new URL(body.presigned_url).origin, url)
      const refused = await put(Buffer.alloc(53 * 1024 * 1024)).catch(() => undefined)
      // The proxy may close the connection while the client still sends.
      t.ok(refused === undefined || refused.status === 413)
      t.equal((await put(padded(MAX_PRESIGNED_BYTES))).status, 200)
    })

    t.test('a key is held to the address of the client, whatever the client claims', async t => {
      const held = await openKey({ core: service.core, url }, customer, { addresses: ['127.0.0.2'] })
      const headers = { Authorization: `Bearer ${held.apiKey}` }
      t.equal(await statusFrom('127.0.0.2', `${url}/v1/balance`, headers), 200)
      t.equal(await statusFrom('127.0.0.3', `${url}/v1/balance`, headers), 403)
      const lying = { ...headers, 'X-Forwarded-For': '127.0.0.2' }
      t.equal(await statusFrom('127.0.0.3', `${url}/v1/balance`, lying), 403)
      t.equal((await new Client(url).send('/v1/balance')).status, 401)
    })
  })
}
