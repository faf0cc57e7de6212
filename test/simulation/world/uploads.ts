import { uploadKey } from '../../../projections/uploads.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import type { AccountCaller } from '../../../src/services/caller.ts'
import type { Chance } from './chance.ts'
import { digestOf, type SentFiles } from './file-truth.ts'
import { NOTHING, outcomeOf } from './outcome.ts'
import type { Running, SimulatedProcess } from './process.ts'
import { Wire } from './wire.ts'
import type { World } from './world.ts'

const PNG = 'image/png'

/** More than the client sends before it lists them. */
const PAGE = 100

interface Upload extends SentFiles {
  /** The address to send its file to, if it is presigned. */
  url?: string
  objectKey: string
  /** Whether a process has acknowledged its deletion. */
  isDeleted: boolean
}

export type UploadCommand = 'upload' | 'presign' | 'putAgain' | 'findUpload' | 'listUploads' | 'deleteUpload'

/** The uploads of one client, which sends files, uses and deletes them, and remembers what it was told. */
export class ClientUploads {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #wire: Wire
  readonly #uploads = new Map<string, Upload>()
  /** The acceptable files that the client sent directly, also those whose upload it was not told. */
  readonly #sent = new Set<string>()

  constructor(world: World, accountId: AccountId) {
    this.#world = world
    this.#accountId = accountId
    this.#wire = new Wire(world, `${accountId}-objects`, () => true)
  }

  /** Sends a file through a process. The connection may break off, or stall until the process gives up. */
  async upload({ services }: Running, process: SimulatedProcess, caller: AccountCaller): Promise<string> {
    const { chance, timeline } = this.#world
    const { bytes, isGood } = fileOf(chance)
    if (isGood) this.#sent.add(digestOf(bytes))
    const told = await services.uploads.receive(caller, PNG)
    if ('refuse' in told) return told.refuse.code
    const { body, finish, discard } = told.value
    const pieces = chance.below(4)
    for (let piece = 0; piece < pieces; piece++) {
      body.write(bytes.subarray((bytes.length * piece) / 4, (bytes.length * (piece + 1)) / 4))
      await timeline.pass(chance.between(0, 20))
    }
    if (chance.happens(0.15)) {
      if (chance.happens(0.3)) await timeline.pass(30_000)
      await discard()
      return 'broken off'
    }
    body.end(bytes.subarray((bytes.length * pieces) / 4))
    const finished = await finish({ filename: 'lake.png' })
    if ('value' in finished) {
      if (!isGood) this.#world.violation(`${finished.value.uploadId} was stored with an unacceptable file`)
      this.#learn(finished.value, process)
    }
    return outcomeOf(finished)
  }

  /** Asks for an address to send a file to, and often uses it. */
  async presign({ services }: Running, _process: SimulatedProcess, caller: AccountCaller): Promise<string> {
    const told = await services.uploads.presign(caller, { filename: 'lake.png', mime_type: PNG })
    if ('refuse' in told) return told.refuse.code
    const { upload, presignedUrl } = told.value
    const { uploadId, objectKey } = upload
    const known = {
      uploadId,
      objectKey,
      url: presignedUrl,
      digests: new Set<string>(),
      hasBad: false,
      isDeleted: false,
    }
    this.#uploads.set(uploadId, known)
    return this.#world.chance.happens(0.8) ? this.#put(known) : 'ok'
  }

  /** Sends a file to an address that was granted before, as long as the address allows. */
  async putAgain(): Promise<string> {
    const presigned = [...this.#uploads.values()].filter(({ url }) => url)
    const upload = this.#world.chance.pick(presigned)
    return upload ? this.#put(upload) : NOTHING
  }

  async findUpload({ services }: Running, process: SimulatedProcess, caller: AccountCaller): Promise<string> {
    const upload = this.#any()
    if (!upload) return NOTHING
    const since = this.#world.files.shownUpTo(this.#accountId, process)
    const found = await services.uploads.find(caller, upload.uploadId)
    if ('value' in found) this.#learn(found.value, process)
    else this.#expectNotStored(upload.uploadId, since)
    return outcomeOf(found)
  }

  async listUploads({ services }: Running, process: SimulatedProcess, caller: AccountCaller): Promise<string> {
    const { files } = this.#world
    const known = files.storedUpTo(this.#accountId, files.shownUpTo(this.#accountId, process))
    const listed = await services.uploads.list(caller, { limit: PAGE })
    if ('refuse' in listed) return listed.refuse.code
    const { found } = listed.value
    for (const row of found) this.#learn(row, process)
    const since = files.shownUpTo(this.#accountId, process)
    const missing = known.filter(id => !found.some(({ uploadId }) => uploadId === id))
    for (const id of missing) this.#expectNotStored(id, since)
    return `${found.length}`
  }

  async deleteUpload({ services }: Running, _process: SimulatedProcess, caller: AccountCaller): Promise<string> {
    const upload = this.#any()
    if (!upload) return NOTHING
    this.#world.files.noteDeletion(upload.uploadId)
    const told = await services.uploads.delete(caller, upload.uploadId)
    if ('value' in told) {
      this.#world.files.expectDeleted(upload.uploadId)
      upload.isDeleted = true
    }
    return outcomeOf(told)
  }

  /** An upload to use in a run, also one that is deleted or was never sent. */
  choose(): { uploadId: string; wasDeleted: boolean; address: string } | undefined {
    const upload = this.#any()
    if (!upload) return undefined
    const { uploadId, isDeleted, objectKey } = upload
    return { uploadId, wasDeleted: isDeleted, address: this.#world.addressOf(objectKey) }
  }

  async #put(upload: Upload): Promise<string> {
    const { chance, bucket } = this.#world
    const { bytes, isGood } = fileOf(chance)
    if (isGood) upload.digests.add(digestOf(bytes))
    else upload.hasBad = true
    const contentType = chance.pick([PNG, undefined])
    const send = () => bucket.request(upload.url as string, { method: 'PUT', body: bytes, contentType })
    return `${await this.#wire.call('PUT', send)}`
  }

  /** Notes a stored upload that a process showed. */
  #learn(row: UploadRow, process: SimulatedProcess) {
    const { uploadId, objectKey } = row
    const known = this.#uploads.get(uploadId)
    const upload = known ?? { uploadId, objectKey, digests: this.#sent, hasBad: false, isDeleted: false }
    this.#uploads.set(uploadId, upload)
    this.#world.files.expectStored(upload, row, process)
  }

  #expectNotStored(uploadId: string, since: number) {
    if (!this.#world.isForged('uploads', uploadKey(this.#accountId, uploadId)))
      this.#world.files.expectNotStored(uploadId, since)
  }

  #any(): Upload | undefined {
    return this.#world.chance.pick([...this.#uploads.values()])
  }
}

/** A small file, which is mostly acceptable. */
const fileOf = (chance: Chance): { bytes: Buffer; isGood: boolean } => {
  const good = pngOf(chance.hex(20))
  if (chance.happens(0.85)) return { bytes: good, isGood: true }
  const bad = chance.pick([good.subarray(0, -12), Buffer.from('not an image'), Buffer.alloc(0)])
  return { bytes: bad, isGood: false }
}

/** A PNG whose chunks are what an inspection looks for, with a comment. Nothing checks the checksums. */
const pngOf = (comment: string): Buffer => {
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.from(`....${type}`)
    head.writeUInt32BE(data.length)
    return Buffer.concat([head, data, Buffer.alloc(4)])
  }
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const header = chunk('IHDR', Buffer.from('00000001000000010800000000', 'hex'))
  const parts = [chunk('tEXt', Buffer.from(comment)), chunk('IDAT', Buffer.alloc(1)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, header, ...parts])
}
