import type { Views } from '../../../schemas/views.ts'
import type { Reads as AnyReads } from '../../engine/views/reads.ts'

/** Reads the views of `schemas/views.ts`. */
export type Reads = AnyReads<Views>
