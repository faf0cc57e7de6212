import type { IncomingMessage } from 'node:http'
import { MAX_LONG_BODY_BYTES } from '../../../schemas/primitives.ts'
import { LongDocument } from '../../json/long-document.ts'
import type { ArrivingFile } from '../../ports/provider.ts'
import type { Attachment } from '../../services/runs/attachments.ts'
import { Inspection } from '../../services/uploads/inspection.ts'
import { ApiError } from '../../transports/api-error.ts'

/** The members of requests that may be images, before the Base64 of a `data:` URL. */
const PLACE = /"(url|image_url)"\s*:\s*"data:[^,"]*;base64,$/i

/** The longest URL that may hold Base64 in another form, such as in lines. */
const MAX_UNUSUAL_BYTES = 1024 * 1024

/** A JSON body without its large files. */
export interface AttachedBody {
  document: Buffer
  attachments: Map<string, Attachment>
}

/** Reads a JSON body as it arrives, and decodes its large files: see `Attachments`. */
export const readAttached = async (req: IncomingMessage): Promise<AttachedBody> => {
  const attachments = new Map<string, Attachment>()
  const openFile = () => {
    const file = new ArrivingAttachment(attachments)
    return { file, name: () => file.digest }
  }
  const limits = { maxBytes: MAX_LONG_BODY_BYTES, maxTextBytes: MAX_UNUSUAL_BYTES, tooLong: undecodable }
  const body = new LongDocument({ ...limits, place: PLACE, openFile })
  // A refusal is still to be sent.
  for await (const bytes of req.iterator({ destroyOnReturn: false })) await body.write(bytes)
  return { document: await body.end(), attachments }
}

class ArrivingAttachment implements ArrivingFile {
  readonly #attachments: Map<string, Attachment>
  readonly #inspection = new Inspection()
  readonly #pieces: Buffer[] = []
  digest = ''

  constructor(attachments: Map<string, Attachment>) {
    this.#attachments = attachments
  }

  write(bytes: Buffer) {
    this.#inspection.update(bytes)
    this.#pieces.push(bytes)
    return undefined
  }

  async end() {
    const inspected = await this.#inspection.result()
    this.digest = inspected.sha256
    const { times = 0, pieces = this.#pieces } = this.#attachments.get(this.digest) ?? {}
    this.#attachments.set(this.digest, { inspected, pieces, times: times + 1 })
  }
}

const undecodable = () =>
  new ApiError('invalid_request', 'The body has a data: URL whose Base64 cannot be decoded.', {
    errors: [{ path: '', message: 'has a data: URL whose Base64 cannot be decoded' }],
  })
