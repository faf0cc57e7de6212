import { nanoBanana2 } from './nano-banana-2.ts'
import { sandbox } from './sandbox.ts'

/** The families that ship, in the order in which the catalog lists them. */
export const shipped = [nanoBanana2, sandbox]
