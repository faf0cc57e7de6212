import type { WatchTask } from '../../../schemas/views.ts'
import type { FileType } from '../../domain/catalog/family.ts'

export const MEGABYTE = 1024 * 1024

/** The largest file of a result: an image of 100 megapixels, an hour of sound, two minutes of film in 4K. */
const MAX_MEGABYTES: Readonly<Record<FileType, number>> = { image: 64, audio: 128, video: 256 }

export const maxBytesOf = (type: FileType): number => MAX_MEGABYTES[type] * MEGABYTE

/** How long a result may take to be stored, with the wait for other copies. Providers offer files for an hour. */
export const STORING_MS = 5 * 60_000

/** A file gets its key this long after the deadline of its run at the latest: a result may come at the last moment. */
const STORED_WITHIN_MS = 2 * STORING_MS

/** Clocks differ, and the object store may be slow to store what was sent in time. */
const MARGIN_MS = 2 * STORING_MS

type Limits = Pick<WatchTask, 'startedAt' | 'timeoutMs'>

/** When no process may store a file of a run any more. */
export const storedUntilMs = ({ startedAt, timeoutMs }: Limits): number =>
  Date.parse(startedAt) + timeoutMs + STORED_WITHIN_MS

/** When no file of a run can appear any more. */
export const settledAtMs = (run: Limits): number => storedUntilMs(run) + MARGIN_MS
