import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { from, lastValueFrom, mergeMap } from 'rxjs'
import type { Artifact, RunOutput } from '../../../schemas/account-events.ts'
import type { OutputType } from '../../../schemas/catalog.ts'
import type { ToolCall } from '../../../schemas/conversation.ts'
import { MAX_TEXT_BYTES, type RunId } from '../../../schemas/primitives.ts'
import type { WatchTask } from '../../../schemas/views.ts'
import { type FileType, outputTypeOf } from '../../domain/catalog/family.ts'
import { sha256 } from '../../domain/digest.ts'
import { Semaphore } from '../../flow/semaphore.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { Done, Media } from '../../ports/provider.ts'
import { MAX_OUTPUT_FILES, type OutputKeys } from '../../services/files/output-keys.ts'
import type { InputPart } from '../../services/runs/long-parameters.ts'
import { callWithin, delay } from '../../time/timers.ts'
import { ArrivingFiles, type StagedFile } from './arriving-files.ts'
import { C2paMark, ResultFile, UnfitResult } from './result-file.ts'

/** The longest text in a file. No model writes a tenth of it. */
const MAX_TEXT_FILE_BYTES = 16 * 1024 * 1024

const TEXT_TYPE = 'text/plain'

/** Files that one process copies at a time. Each takes a few hundred kilobytes of memory, and a place on the disk. */
const MAX_COPIES = 32

/** Parts of an input that are stored at a time. Each takes a place on the disk. */
const PARTS_AT_A_TIME = 8

/** How long the copy of one file may take: 256 MB at 20 Mbit/s. */
const COPY_TIMEOUT_MS = 120_000

interface ArtifactsDependencies {
  objects: ObjectStore
  outbound: Outbound
  keys: OutputKeys
  clock: Clock
  /** How long results are kept. */
  retentionMs: number
  /** The origin of a provider that the operator has configured, whose files may be at a private address. */
  originOf(provider: string | undefined): string | undefined
}

/** The run of a result. `provider` has done it. */
export interface RunWithResult extends Pick<WatchTask, 'accountId' | 'runId' | 'startedAt' | 'timeoutMs'> {
  provider: string | undefined
  /** Whether parts of its input are files. */
  hasInputFiles?: boolean
  /** Set if nothing of the run is kept. */
  store?: false | undefined
}

interface Place extends RunWithResult {
  index: number
}

interface FilePlace extends Place {
  type: FileType
}

type Facts = Omit<Artifact, 'objectKey'>

/** Stores the results of providers. */
export class Artifacts {
  readonly #dependencies: ArtifactsDependencies
  readonly #copies = new Semaphore({ each: MAX_COPIES })

  constructor(dependencies: ArtifactsDependencies) {
    this.#dependencies = dependencies
  }

  /** For the outcomes of a run. The caller discards them after it has stored the outcome. */
  arrivingFiles(): ArrivingFiles {
    return new ArrivingFiles(this.#dependencies.objects)
  }

  /**
   * Resolves when the whole promised result is durable. Rejects if any part is missing, is something else or cannot be
   * stored, or when the signal aborts; some files may be stored then. Rejects with UnfitResult or OutboundError if the
   * result is to blame.
   */
  async store(run: RunWithResult, result: Done, promised: PromisedResult, signal: AbortSignal): Promise<RunOutput> {
    const { media, text, toolCalls } = promisedPart(result, promised)
    const words = text?.toWellFormed()
    const longText = words !== undefined && isLong(words) && run.store !== false ? words : undefined
    const count = media.length + (longText === undefined ? 0 : 1)
    if (count > MAX_OUTPUT_FILES) throw new UnfitResult(`The provider returned more than ${MAX_OUTPUT_FILES} files.`)
    const storeAll = (signal: AbortSignal) => {
      const stored = media.map((one, index) =>
        this.#storeOne({ ...run, index, type: promised.type as FileType }, one, signal),
      )
      if (longText !== undefined) stored.push(this.#storeText({ ...run, index: media.length }, longText))
      return Promise.all(stored)
    }
    // Most results have no file, and the time limit alone would take longer than everything else here.
    const { clock } = this.#dependencies
    const artifacts = count === 0 ? [] : await callWithin(clock, STORING_MS, storeAll, tooLate, signal)
    return {
      artifacts,
      ...(words !== undefined && longText === undefined && { text: words }),
      ...(toolCalls && { toolCalls }),
      ...((artifacts.length > 0 || run.hasInputFiles) && { willDeleteAt: this.keptUntil(run.store) }),
    }
  }

  /** When files that are stored now are deleted. */
  keptUntil(store?: false): string {
    const { clock, retentionMs } = this.#dependencies
    return new Date(clock.nowMs() + (store === false ? FETCH_MS : retentionMs)).toISOString()
  }

  /** Stores the long parts of an input. Rejects with Unavailable. */
  async storeInput(parts: readonly InputPart[]): Promise<void> {
    const storeAll = mergeMap((part: InputPart) => this.#storePart(part), PARTS_AT_A_TIME)
    await lastValueFrom(from(parts).pipe(storeAll), { defaultValue: undefined })
  }

  async #storePart({ artifact: { objectKey, mimeType }, pieces }: InputPart): Promise<void> {
    const { objects } = this.#dependencies
    const [first, ...others] = pieces
    if (first && others.length === 0) {
      await objects.put(objectKey, first, mimeType)
      return
    }
    const incoming = await objects.receive()
    try {
      await pipeline(pieces, incoming.body)
      await incoming.store(objectKey, mimeType)
    } catch (error) {
      await incoming.discard()
      throw error
    }
  }

  /** Deletes the output files of an ended run, except `kept`. */
  async discard(runId: RunId, kept: RunOutput | undefined): Promise<void> {
    const { objects, keys } = this.#dependencies
    const named = new Set(kept?.artifacts.map(({ objectKey }) => objectKey))
    for (const key of keys.inputsOf(runId)) named.add(key)
    await objects.deleteAll(keys.allOf(runId).filter(key => !named.has(key)))
  }

  async #storeText(place: Place, text: string): Promise<Artifact> {
    const bytes = Buffer.from(text)
    if (bytes.byteLength > MAX_TEXT_FILE_BYTES) throw new UnfitResult('The provider returned a text that is too long.')
    const facts = { mimeType: TEXT_TYPE, sizeBytes: bytes.byteLength, sha256: sha256(bytes), c2pa: 'absent' } as const
    return this.#put(place, bytes, facts)
  }

  async #storeOne(place: FilePlace, media: Media, signal: AbortSignal): Promise<Artifact> {
    if ('url' in media) return this.#copy(place, media, signal)
    if ('file' in media) return this.#keepArrived(place, media.file as StagedFile, media.mimeType)
    const { mimeType, bytes } = media
    expectSize(bytes.byteLength, place.type)
    return this.#put(place, bytes, await this.#factsOf(bytes, mimeType, place.type))
  }

  /** The file was opened by `arrivingFiles`. */
  async #keepArrived(place: FilePlace, file: StagedFile, mimeType: string): Promise<Artifact> {
    expectSize(file.sizeBytes, place.type)
    const { incoming, measured } = await file.received()
    const facts = await measured.facts(mimeType, place.type)
    return this.#keep(place, facts, (key, type) => incoming.store(key, type, { ifAbsent: true }))
  }

  /** Reads a file in slices, with other work in between. */
  async #factsOf(bytes: Uint8Array, mimeType: string, type: FileType): Promise<Facts> {
    const file = new ResultFile()
    for (let at = 0; at < bytes.byteLength; at += MEGABYTE) {
      if (at > 0) await delay(this.#dependencies.clock, 0)
      file.update(bytes.subarray(at, at + MEGABYTE))
    }
    return file.facts(mimeType, type)
  }

  async #put(place: Place, bytes: Uint8Array, facts: Facts): Promise<Artifact> {
    return this.#keep(place, facts, (key, type) => this.#dependencies.objects.put(key, bytes, type, { ifAbsent: true }))
  }

  async #copy(place: FilePlace, { url, mimeType }: { url: string; mimeType: string }, signal: AbortSignal) {
    const { objects, outbound, originOf } = this.#dependencies
    const copy = async () => {
      const file = new ResultFile()
      const incoming = await objects.receive()
      try {
        await outbound.copy(url, incoming.body, {
          maxBytes: maxBytesOf(place.type),
          timeoutMs: COPY_TIMEOUT_MS,
          signal,
          onBytes: chunk => file.update(chunk),
          trustedOrigin: originOf(place.provider),
        })
        const facts = await file.facts(mimeType, place.type)
        return await this.#keep(place, facts, (key, type) => incoming.store(key, type, { ifAbsent: true }))
      } finally {
        await incoming.discard()
      }
    }
    return this.#copies.run('', place.accountId, copy, signal)
  }

  /**
   * Stores a file under its key. If one is there, an earlier attempt at this run stored it, or another process did just
   * now, and may have recorded it. So that file is the result, whether its bytes are the same or not.
   */
  async #keep(
    { runId, index, ...run }: Place,
    facts: Facts,
    store: (key: string, mimeType: string) => Promise<boolean>,
  ): Promise<Artifact> {
    const { keys, clock } = this.#dependencies
    const objectKey = keys.keyOf(runId, index, facts.mimeType)
    if (clock.nowMs() >= storedUntilMs(run)) tooLate()
    const isNew = await store(objectKey, facts.mimeType === TEXT_TYPE ? `${TEXT_TYPE}; charset=utf-8` : facts.mimeType)
    return { objectKey, ...facts, ...(!isNew && (await this.#measure(objectKey))) }
  }

  async #measure(key: string): Promise<Pick<Artifact, 'sizeBytes' | 'sha256' | 'c2pa'>> {
    const found = await this.#dependencies.objects.get(key)
    if (!found) throw new Error(`${key} was deleted just now`)
    const hash = createHash('sha256')
    const c2pa = new C2paMark()
    for await (const chunk of found.body) {
      hash.update(chunk)
      c2pa.update(chunk)
    }
    return { sizeBytes: found.sizeBytes, sha256: hash.digest('hex'), c2pa: c2pa.presence }
  }
}

/** How long the files of a run that is not kept can be fetched: a film over a slow connection takes minutes. */
export const FETCH_MS = 10 * 60_000

const isLong = (value: string | ToolCall[]): boolean => Buffer.byteLength(JSON.stringify(value)) > MAX_TEXT_BYTES

/** Its files may be deleted already, since the run has failed. */
const tooLate = (): never => {
  throw new UnfitResult('The result took too long to store.')
}

/** The result that an endpoint promises for an input: a number of files, or a text. */
export interface PromisedResult {
  type: OutputType
  files: number
}

/** Only images can be more than one. The price counts them. */
export const promisedResult = async (
  endpoint: string,
  readInput: () => Promise<Record<string, unknown>>,
): Promise<PromisedResult> => {
  const type = outputTypeOf(endpoint)
  if (type !== 'image') return { type, files: type === 'text' ? 0 : 1 }
  const { num_images: files = 1 } = await readInput()
  return { type, files: Number(files) }
}

/**
 * The part of a result that was promised. The whole is charged, so less is no success. Throws UnfitResult if a file is
 * missing or there is neither text nor a tool call. A text beside files is optional.
 */
const promisedPart = ({ media, text, toolCalls }: Done, { type, files }: PromisedResult) => {
  if (media.length < files) throw new UnfitResult(`The provider returned ${media.length} of ${files} files.`)
  if (type === 'text' && !text?.trim() && !toolCalls) throw new UnfitResult('The provider returned no text.')
  // An event holds them beside the text.
  if (toolCalls && isLong(toolCalls)) throw new UnfitResult('The provider returned tool calls that are too long.')
  return { media: media.slice(0, files), text, ...(toolCalls && { toolCalls: wellFormed(toolCalls) }) }
}

const wellFormed = (toolCalls: ToolCall[]): ToolCall[] =>
  toolCalls.map(({ id, type, function: { name, arguments: given } }) => ({
    id: id.toWellFormed(),
    type,
    function: { name: name.toWellFormed(), arguments: given.toWellFormed() },
  }))

const MEGABYTE = 1024 * 1024

/** The largest file of a result: an image of 100 megapixels, an hour of sound, two minutes of film in 4K. */
const MAX_MEGABYTES: Readonly<Record<FileType, number>> = { image: 64, audio: 128, video: 256 }

const maxBytesOf = (type: FileType): number => MAX_MEGABYTES[type] * MEGABYTE

const expectSize = (sizeBytes: number, type: FileType) => {
  if (sizeBytes > maxBytesOf(type)) throw new UnfitResult(`The provider returned more than ${MAX_MEGABYTES[type]} MB.`)
}

/** How long a result may take to be stored, with the wait for other copies. Providers offer files for an hour. */
export const STORING_MS = 5 * 60_000

/** A file gets its key this long after the deadline of its run at the latest: a result may come at the last moment. */
const STORED_WITHIN_MS = 2 * STORING_MS

/** Clocks differ, and the object store may be slow to store a file that was sent in time. */
const MARGIN_MS = 2 * STORING_MS

type Limits = Pick<WatchTask, 'startedAt' | 'timeoutMs'>

/** When no process may store a file of a run any more. */
export const storedUntilMs = ({ startedAt, timeoutMs }: Limits): number =>
  Date.parse(startedAt) + timeoutMs + STORED_WITHIN_MS

/** When no file of a run can appear any more. */
export const settledAtMs = (run: Limits): number => storedUntilMs(run) + MARGIN_MS
