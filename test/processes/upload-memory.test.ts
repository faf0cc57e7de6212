import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t, { type Test } from 'tap'
import type { UploadList } from '../../schemas/api/upload.ts'
import { filePart, formOf, formType } from '../support/multipart.ts'
import { needsS3, startRadosgw } from '../support/radosgw.ts'
import { picture, pngWith } from '../support/sample-files.ts'
import { type Customer, openAccounts } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

t.setTimeout(240_000)

const UPLOADS = 40
const FILE_BYTES = 20_000_000
const WARM_UPS = 5

/** Much less than the files together: only data in transit may be in memory. */
const MAX_GROWTH_BYTES = 150_000_000

const png = await picture('png')
const chunkOverhead = 12
const form = formOf(filePart(pngWith(png, 'teSt', randomBytes(FILE_BYTES - png.length - chunkOverhead))))

/** Sends the form slowly, so that all uploads are in progress at once. */
const send = async (url: string, customer: Customer): Promise<number> => {
  const sent = request(`${url}/v1/uploads`, {
    method: 'POST',
    agent: false,
    headers: {
      Authorization: `Bearer ${customer.apiKey}`,
      'Content-Type': formType,
      'Content-Length': form.length,
    },
  })
  const answered = new Promise<number>((resolve, reject) => {
    sent.once('error', reject).once('response', answer => resolve(answer.resume().statusCode ?? 0))
  })
  await pipeline(Readable.from(pieces()), sent)
  return answered
}

function* pieces() {
  for (let at = 0; at < form.length; at += 65_536) yield form.subarray(at, at + 65_536)
}

const residentBytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  // Memory-mapped files, such as the log, do not count.
  return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
}

const measure = async (t: Test, environment: Record<string, string>) => {
  const folder = await temporaryFolder(t)
  // More of one account could not arrive at a time.
  const customers = await openAccounts({ folder, environment }, ...Array.from({ length: UPLOADS / 10 }, () => ({})))
  const customer = customers[0] as Customer
  const service = await startServiceProcess(t, folder, environment)
  const url = service.url.replace('localhost', '127.0.0.1')
  // The warm-up keeps compiled code and caches out of the measurement.
  await Promise.all(Array.from({ length: WARM_UPS }, () => send(url, customer)))
  const beforeBytes = await residentBytes(service.pid)
  let mostBytes = 0
  const watch = setInterval(async () => {
    mostBytes = Math.max(mostBytes, await residentBytes(service.pid))
  }, 50)
  const answers = await Promise.all(
    Array.from({ length: UPLOADS }, (_, index) => send(url, customers[index % customers.length] as Customer)),
  )
  clearInterval(watch)
  t.same(
    answers.filter(status => status !== 200),
    [],
    'each upload is accepted',
  )
  const grownBytes = mostBytes - beforeBytes
  t.comment(`${Math.round(grownBytes / 1e6)} MB more than the ${Math.round(beforeBytes / 1e6)} MB before`)
  t.ok(mostBytes > 0 && grownBytes < MAX_GROWTH_BYTES, `${grownBytes} bytes more`)
  const lists = await Promise.all(customers.map(each => each.at(url).send<UploadList>('/v1/uploads?limit=100')))
  const listed = lists.flatMap(({ body }) => body.data)
  t.equal(listed.length, UPLOADS + WARM_UPS)
  t.ok(listed.every(({ size_bytes }) => size_bytes === FILE_BYTES))
}

t.test(`${UPLOADS} concurrent uploads to disk use little memory`, t => measure(t, {}))

t.test(`${UPLOADS} concurrent uploads to S3 use little memory`, needsS3(), async t => {
  const server = await startRadosgw()
  t.teardown(() => server.stop())
  await measure(t, { OBJECT_STORE_URL: server.url(await server.createBucket()) })
})
