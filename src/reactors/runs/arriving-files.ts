import type { IncomingObject, ObjectStore } from '../../ports/object-store.ts'
import type { ArrivingFile, OpenFile } from '../../ports/provider.ts'
import { MAX_OUTPUT_FILES } from '../../services/files/output-keys.ts'
import { ResultFile, UnfitResult } from './result-file.ts'

/** The large files of a run's outcomes. The object store takes their bytes as they arrive, and names them later. */
export class ArrivingFiles {
  readonly #objects: Pick<ObjectStore, 'receive'>
  readonly #files: StagedFile[] = []
  #isDiscarded = false

  constructor(objects: Pick<ObjectStore, 'receive'>) {
    this.#objects = objects
  }

  /** Each open file takes a place among the open files of the process, so a vendor must not open any number. */
  readonly open: OpenFile = () => {
    const file = new StagedFile(this.#objects)
    if (this.#isDiscarded) file.fail(discarded)
    else if (this.#files.length >= MAX_OUTPUT_FILES) file.fail(tooMany)
    else this.#files.push(file)
    return file
  }

  /** Discards what is not stored, also of a late answer. Never rejects. */
  async discard(): Promise<void> {
    this.#isDiscarded = true
    await Promise.all(this.#files.map(file => file.discard()))
  }
}

const tooMany = new UnfitResult(`The provider returned more than ${MAX_OUTPUT_FILES} files.`)
const discarded = new Error('the file was discarded')

/** A write of so many bytes costs little more than one of a few. */
const BATCH_BYTES = 512 * 1024

export class StagedFile implements ArrivingFile {
  readonly #objects: Pick<ObjectStore, 'receive'>
  readonly #measured = new ResultFile()
  #incoming: Promise<IncomingObject> | undefined
  readonly #batch: Uint8Array[] = []
  #batchBytes = 0
  #writing: Promise<void> | undefined
  /** Why the file takes no more bytes. */
  #fault: unknown
  #sizeBytes = 0

  constructor(objects: Pick<ObjectStore, 'receive'>) {
    this.#objects = objects
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  write(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#fault) return undefined
    this.#measured.update(bytes)
    this.#sizeBytes += bytes.byteLength
    this.#batch.push(bytes)
    this.#batchBytes += bytes.byteLength
    return this.#batchBytes < BATCH_BYTES ? undefined : this.#flush()
  }

  async end(): Promise<void> {
    await this.#flush()
    await this.#writing
  }

  /** Takes no more bytes. */
  fail(fault: unknown) {
    this.#fault ??= fault
  }

  /** The file and its facts after its end. Rejects if the store did not take all of it. */
  async received(): Promise<{ incoming: IncomingObject; measured: ResultFile }> {
    if (this.#fault) throw this.#fault
    this.#incoming ??= this.#receive()
    const incoming = await this.#incoming
    incoming.body.end()
    return { incoming, measured: this.#measured }
  }

  async discard(): Promise<void> {
    this.fail(discarded)
    await this.#incoming?.then(
      incoming => incoming.discard(),
      () => undefined,
    )
  }

  /** Writes one batch while the next one arrives. */
  async #flush() {
    const batch = Buffer.concat(this.#batch.splice(0))
    this.#batchBytes = 0
    await this.#writing
    this.#writing = this.#write(batch)
  }

  async #write(batch: Buffer) {
    if (this.#fault) return
    try {
      this.#incoming ??= this.#receive()
      const { body } = await this.#incoming
      await new Promise<void>((resolve, reject) => body.write(batch, error => (error ? reject(error) : resolve())))
    } catch (error) {
      this.fail(error)
    }
  }

  async #receive(): Promise<IncomingObject> {
    const incoming = await this.#objects.receive()
    // The callbacks of writes report it.
    incoming.body.on('error', () => undefined)
    return incoming
  }
}
