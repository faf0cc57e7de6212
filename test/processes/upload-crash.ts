import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PresignedUpload, UploadList } from '../../schemas/api/upload.ts'
import type { DueRow } from '../../schemas/views.ts'
import { startServer } from '../../src/boot/server.ts'
import { auditFolder } from '../support/ledger.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { filePart, formOf, formType, upload } from '../support/multipart.ts'
import { picture, pngWith } from '../support/sample-files.ts'
import { type Customer, openAccounts, openFolder } from '../support/service.ts'
import { ScriptProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'
import { fates, PNG_REQUEST } from '../support/uploads.ts'

// Kills a service at each step of uploads and their deletion, then checks the files. Run manually:
//   node --import=tsx test/processes/upload-crash.ts

/** Later than the end of a one-minute grant and of its settlement. */
const LATER_MS = 8 * 60_000

/** Arriving files this old belong to a dead process. */
const ABANDONED_MS = 2 * 60 * 60_000

/** An upload whose process dies at a step. `fate` is the expected outcome in its events; see `fates`. */
interface Victim {
  step: string
  /** The place where the process is held. */
  holdAt?: string
  /** Brings the process to the step, or sends the request that leads there. */
  ask(place: Place): unknown
  fate?: string[]
}

interface Place {
  customer: Customer
  folder: string
  file: Buffer
}

const send = ({ customer, file }: Place) => upload(customer, filePart(file))

const presign = async ({ customer }: Place) =>
  (await customer.post<PresignedUpload>('/v1/uploads/presigned', PNG_REQUEST)).body

const put = async (place: Place): Promise<PresignedUpload> => {
  const granted = await presign(place)
  const headers = { 'Content-Type': 'image/png' }
  await fetch(granted.presigned_url, { method: 'PUT', headers, body: Uint8Array.from(place.file) })
  return granted
}

const remove = ({ customer }: Place, id: string) => customer.send(`/v1/uploads/${id}`, { method: 'DELETE' })

const victims: Victim[] = [
  { step: 'while the file arrives', ask: place => sendHalf(place) },
  { step: 'before the grant', holdAt: 'before UploadGranted', ask: send },
  { step: 'after the grant', holdAt: 'after UploadGranted', ask: send, fate: ['never_sent'] },
  { step: 'before the file is in its place', holdAt: 'before rename', ask: send, fate: ['never_sent'] },
  { step: 'when the file is in its place', holdAt: 'after rename', ask: send, fate: ['sealed'] },
  { step: 'before it is stored', holdAt: 'before UploadStored', ask: send, fate: ['sealed'] },
  { step: 'before the answer', holdAt: 'after UploadStored', ask: send, fate: ['sealed'] },
  { step: 'before a PUT is in its place', holdAt: 'before rename', ask: put, fate: ['never_sent'] },
  { step: 'before a PUT is answered', holdAt: 'after rename', ask: put, fate: ['sealed'] },
  {
    step: 'when a file is first used',
    holdAt: 'after UploadStored',
    ask: async place => place.customer.send(`/v1/uploads/${(await put(place)).id}`),
    fate: ['stored', 'sealed'],
  },
  {
    step: 'after a deletion request',
    holdAt: 'after UploadDeletionRequested',
    ask: async place => remove(place, (await send(place)).body.id),
    fate: ['sealed', 'deleting', 'requested'],
  },
  {
    step: 'after a file is deleted',
    holdAt: 'after unlink',
    ask: async place => remove(place, (await send(place)).body.id),
    fate: ['sealed', 'deleting', 'requested'],
  },
  {
    step: 'after deleting a file that can be sent again',
    holdAt: 'after unlink',
    ask: async place => remove(place, (await put(place)).id),
    fate: ['deleting', 'requested'],
  },
  {
    step: 'before a deletion is recorded',
    holdAt: 'before UploadDeleted',
    ask: async place => remove(place, (await send(place)).body.id),
    fate: ['sealed', 'deleting', 'requested'],
  },
]

/** Kills a service once at each step. Without faults, each file is either stored or gone. */
export const uploadCrash = async (
  progress: (text: string) => void = () => undefined,
): Promise<{ victims: number; faults: string[] }> => {
  const faults: string[] = []
  for (const victim of victims) {
    faults.push(...(await sacrifice(victim)).map(fault => `${victim.step}: ${fault}`))
    progress(victim.step)
  }
  return { victims: victims.length, faults }
}

/** Each victim has its own folder, so no process resumes the work of another. */
const sacrifice = async (victim: Victim): Promise<string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-upload-crash-'))
  try {
    const [customer] = await openAccounts(folder, {})
    const place = { customer, folder, file: pngWith(await picture('png'), 'teSt', randomBytes(300_000)) }
    await kill(victim, place)
    await age(join(folder, 'objects', 'arriving'))
    const faults = await findFaults(victim, place)
    return [...faults, ...(await auditFolder(folder)).faults]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const kill = async ({ holdAt, ask }: Victim, place: Place) => {
  const env = { DATA_DIR: place.folder, PORT: '0', UPLOAD_GRANT_MINUTES: '1', HOLD_AT: holdAt ?? '' }
  const service = new ScriptProcess('test/support/holding-service-process.ts', [], env)
  try {
    const [, url = ''] = await service.until(/"url":"([^"]+)".*"msg":"listening"/)
    const customer = Object.assign(place.customer.at(url), place.customer, { url })
    const request = Promise.resolve(ask({ ...place, customer }))
    if (holdAt === undefined) await request
    // The request gets no answer.
    else await Promise.race([service.until(/^held/m), request.then(() => Promise.reject(new Error(`never ${holdAt}`)))])
    request.catch(() => undefined)
  } finally {
    await service.end('SIGKILL')
  }
}

/** Sends the first half of an upload and waits until a part of it has arrived. */
const sendHalf = async ({ customer, folder, file }: Place) => {
  const body = formOf(filePart(file))
  const { hostname, port, host } = new URL(customer.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = [
    'POST /v1/uploads HTTP/1.1',
    `Host: ${host}`,
    `Authorization: Bearer ${customer.apiKey}`,
    `Content-Type: ${formType}`,
    `Content-Length: ${body.length}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body.subarray(0, body.length / 2))
  const arriving = join(folder, 'objects', 'arriving')
  await until('a part of the file has arrived', async () => {
    const sizes = await Promise.all(
      (await readdir(arriving)).map(async name => (await stat(join(arriving, name))).size),
    )
    return sizes.some(size => size > 0)
  })
}

/** Ages the files in the folder for arriving files. */
const age = async (arriving: string) => {
  const then = new Date(Date.now() - ABANDONED_MS)
  for (const name of await readdir(arriving)) await utimes(join(arriving, name), then, then)
}

/** Starts the next service after the end of the grant and checks the file. */
const findFaults = async ({ fate }: Victim, { customer, folder, file }: Place): Promise<string[]> => {
  const clock = new ManualClock(Date.now() + LATER_MS)
  const core = await openFolder(folder, { clock })
  const server = await startServer(core, { clock })
  const faults: string[] = []
  try {
    await until('nothing is due', async () => {
      const due = await core.views.list<DueRow>('due', 'byQueue', { prefix: 'objects/', limit: 10 })
      return due.every(({ row }) => Date.parse(row.dueAt) > clock.nowMs())
    })
    const found = Object.values(await fates(core.log, customer))
    if (JSON.stringify(found) !== JSON.stringify(fate ? [fate] : []))
      faults.push(`the uploads were ${JSON.stringify(found)}`)
    const { body } = await customer.at(server.url).send<UploadList>('/v1/uploads')
    const isKept = fate?.at(-1) === 'sealed'
    if (body.data.length !== (isKept ? 1 : 0)) faults.push(`${body.data.length} uploads are listed`)
    for (const { url } of body.data) {
      const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
      if (!bytes.equals(file)) faults.push('the file differs from the one sent')
    }
    const leftFiles = await readdir(join(folder, 'objects', 'uploads')).catch(() => [])
    if (leftFiles.length !== body.data.length) faults.push(`${leftFiles.length} files are stored`)
    const left = await readdir(join(folder, 'objects', 'arriving'))
    if (left.length > 0) faults.push(`${left} were left while they came in`)
  } finally {
    await server.stop()
    await core.close()
  }
  return faults
}

const main = async () => {
  const { victims, faults } = await uploadCrash(console.log)
  console.log(`${victims} kills`)
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
